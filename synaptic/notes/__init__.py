"""Reads Markdown into values and writes values as Markdown, without access to the journal or
the clock.

`markdown.py` is where to begin: it reads a file into entries and renders an entry as its block.
Below it are `reading`, `header`, `frontmatter` and `blocks`; beside it `privacy`,
`screening`, `redaction`.
"""
