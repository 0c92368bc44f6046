"""Reads Markdown into values and writes values as Markdown. Nothing here opens a file, asks a clock or keeps state.

`markdown.py` is where to begin: it reads a file into entries and renders an entry as its block.
Below it are `reading`, `header` and `blocks`; `merge`, `privacy` and `redaction` stand beside it.
"""
