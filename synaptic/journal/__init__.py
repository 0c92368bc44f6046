"""The only code that writes the journal's `.md` files. An entry that it acknowledged is never
lost.

`journal.py` is where to begin: it saves, edits, deletes and restores entries under one lock.
`writer` changes a file, `saved` keeps the latest texts for a week, `losses` finds which of them
an editor overwrote, `imports` puts many entries in, `folder` finds and opens files, `disk`
writes bytes. `settings` writes config.toml.
"""
