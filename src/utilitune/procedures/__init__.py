"""Procedures: pure engines that decide which runs to make and what they prove.

A procedure is a composition of a bound, a captime rule, a selection and a growth rule; see `engine`
for how one is driven, `evidence` for what it reads, `paper` for UP, OUP and COUP.
"""
