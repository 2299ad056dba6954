"""Utilitune: the best parameter settings for any program, with a proof."""
