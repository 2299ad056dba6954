"""Recorded runtimes: one matrix type, its readers and writers, synthetic data, and known archives."""

from __future__ import annotations

from utilitune.data.matrix import RuntimeMatrix

__all__ = ["RuntimeMatrix"]
