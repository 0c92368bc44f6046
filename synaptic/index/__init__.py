"""The only SQL, and the vectors. The index can be deleted at any time: `sync` fills it again.

Begin in `index.py`: `Index` runs the queries; its `file` (`database.py`) opens and repairs the
index file, `writing` gives an `index_writer.IndexWriter`. `chunking` cuts an entry into
passages, `embedding` loads the model and turns passages into vectors.
"""
