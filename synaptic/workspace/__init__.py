"""Opens the journal, the index and the model together, and keeps the index in step with the
files.

`workspace.py` is where to begin: every verb takes a `Workspace`. `sync.py` compares and
re-reads files, `file_rows.py` says what the index keeps of one, `embed.py` makes vectors,
`readback.py` reads the journal for answers. `checkout` reads the git repository; `changes`
compares its files with the fingerprints that a save took.
"""
