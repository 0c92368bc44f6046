"""Reads what other programs have written: agents' sessions and memories, diaries, exports.

`record.py` is where to begin: what every reader yields, and the table of readers. A module
named after a program reads its files, whose layout stands in its docstring, and changes none of
them; `agents` reads those of six agents. `source`, `archive`, `shared`, `session` and `digest`
hold what several readers need.
"""
