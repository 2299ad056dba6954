"""Promises that anyone can check.

`issuing` writes down everything a promise rests on, `checking` recomputes it. The checker imports no
procedure, no bound and no live run. It has the formulas of docs/theory.md once more, in plain NumPy: a
mistake in one place does not hide in the other. docs/certificate.md describes the format for those who want
to write a checker of their own.
"""

from utilitune.certificate.checking import CheckResult, verify
from utilitune.certificate.content import read_certificate, write_certificate

__all__ = ["CheckResult", "read_certificate", "verify", "write_certificate"]
