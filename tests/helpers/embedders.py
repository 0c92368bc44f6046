"""An embedder for tests in which meaning does not matter: equal texts have equal vectors, and
that is all.
"""

from __future__ import annotations

import hashlib

import numpy as np

from synaptic.errors import ModelError
from synaptic.models import Meaning


class HashingEmbedder:
    """Unit vectors made of a text's hash. `broken` makes `load` fail, like a model that is not
    there.
    """

    def __init__(self, name: str = "hashing", *, broken: bool = False) -> None:
        self.name = name
        self.dimensions = 32
        self.ready = not broken

    def load(self) -> None:
        if not self.ready:
            raise ModelError(
                f"The model {self.name} cannot be loaded.", hint="Run `synaptic doctor`."
            )

    def embed_query(self, text: str) -> Meaning:
        return self.embed_passage(text)

    def embed_passage(self, text: str) -> Meaning:
        self.load()
        digest = hashlib.blake2b(
            text.encode("utf-8", "replace"), digest_size=self.dimensions
        ).digest()
        vector = np.frombuffer(digest, dtype=np.int8).astype(np.float32) + 0.5
        return Meaning(vector / np.linalg.norm(vector))
