"""Reads what other programs have written: agents' sessions and memories, diaries, exports.

`record.py` is where to begin: what every reader yields, and the table of readers. Each other
module reads the files of one program, whose layout stands in its docstring, and changes nothing
of them.
"""
