"""Rival procedures, on the same runs and the same accounting as our own."""
