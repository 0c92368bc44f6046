"""An embedder for tests in which meaning does not matter: equal texts have equal vectors, and
that is all.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from synaptic.errors import ModelError
from synaptic.index.embedding import FastEmbedder
from synaptic.models import Meaning


class OnceEach(FastEmbedder):
    """The model, which reads each text once."""

    def __init__(self, model: str, *, cache: Path) -> None:
        super().__init__(model, cache=cache)
        self._meanings: dict[tuple[str, str], Meaning] = {}

    def _embed(self, method: str, text: str) -> Meaning:
        if (method, text) not in self._meanings:
            self._meanings[method, text] = super()._embed(method, text)
        return self._meanings[method, text]


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
