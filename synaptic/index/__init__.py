"""The only SQL, and the vectors. The index can be deleted at any time: `sync` fills it again.

Begin in `index.py`: `Index` answers; its `file` (`database.py`) opens and heals, `writing`
gives `index_writer.Writer`. `chunking` cuts an entry into passages, `embedding` loads the model
and turns passages into vectors.
"""
