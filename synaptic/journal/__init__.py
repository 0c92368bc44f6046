"""The only code that writes the journal's `.md` files. An entry that it acknowledged is never
lost.

`journal.py` is where to begin: it appends, edits, deletes and restores entries under one lock.
`delivery` and `spool` make a save durable, `recovery` completes a torn one, `disk` writes
bytes.
"""
