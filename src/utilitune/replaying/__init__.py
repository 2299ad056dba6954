"""Recorded runs played again: what a procedure or a rival would have found and paid.

- `recording`: recorded runs laid out once, for many replays;
- `judging`: recorded solutions, and what they are worth;
- `replay`: a procedure or a rival on them, from start to end;
- `row_supply`: rows of the data as configurations, with a model's proposals by turns.
"""
