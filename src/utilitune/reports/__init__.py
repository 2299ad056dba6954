"""Figures, tables and pages as pure functions of what was recorded.

`dashboard` is the live page, `reproduction` makes the figures of the paper.
"""
