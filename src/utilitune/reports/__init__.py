"""Figures and tables as pure functions of what a procedure recorded."""
