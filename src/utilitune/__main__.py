"""``python -m utilitune`` is ``utilitune``."""

from utilitune.cli import main

if __name__ == "__main__":
    main()
