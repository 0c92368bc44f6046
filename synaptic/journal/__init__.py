"""The only code that writes `.md` files. An entry that was acknowledged here is never lost.

`journal.py` is where to begin: it appends, edits, deletes and restores entries under one lock.
`delivery` and `spool` make a save durable, `recovery` completes a torn one, `disk` writes bytes.
"""
