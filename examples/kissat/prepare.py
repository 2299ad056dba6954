"""Write the kissat task (instances and scenario) into the folder `work` beside this file."""

from __future__ import annotations

from pathlib import Path

from utilitune.scenario.demo import prepare

if __name__ == "__main__":
    print(prepare(Path(__file__).parent / "work"))
