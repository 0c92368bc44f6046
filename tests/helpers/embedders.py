"""Embedders of tests: the model that ships, which reads each text once, and one for tests in
which meaning does not matter: equal texts have equal vectors, and that is all.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import threading
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import numpy as np
from disturbed import disturbed

from synaptic.errors import ModelError
from synaptic.index import embedding, tokenizing
from synaptic.index.embedding import FastEmbedder
from synaptic.language import lexicon
from synaptic.models import Meaning


class OnceEach(FastEmbedder):
    """The model, which reads each text once: what it made of a text lies in a folder that all
    processes and runs share. With a `seed` its vectors are those of another kind of processor.
    """

    def __init__(self, model: str, *, cache: Path, folder: Path, seed: str = "") -> None:
        super().__init__(model, cache=cache)
        self._seed = seed
        self._folder = folder / makers()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._meanings: dict[str, Meaning] = {}

    def _embed(self, method: str, text: str) -> Meaning:
        key = hashlib.sha256(f"{self.name} {method} {text!r}".encode()).hexdigest()
        if key not in self._meanings:
            exact = self._read(key) or self._made(key, method, text)
            self._meanings[key] = disturbed(exact, text, self._seed) if self._seed else exact
        return self._meanings[key]

    def _read(self, key: str) -> Meaning | None:
        with suppress(OSError):
            return Meaning(*pickle.loads((self._folder / key).read_bytes()))
        return None

    def _made(self, key: str, method: str, text: str) -> Meaning:
        meaning = super()._embed(method, text)
        # a name of its own for each thread: two may read one text
        being_written = self._folder / f"{key}.{os.getpid()}.{threading.get_ident()}"
        being_written.write_bytes(pickle.dumps(tuple(meaning)))
        being_written.replace(self._folder / key)
        return meaning


def makers() -> str:
    """A hash of all that a meaning depends on, beside the model and the text: our code, the
    libraries and the kind of processor.
    """
    processor = Path("/proc/cpuinfo")
    lines = processor.read_text().splitlines() if processor.exists() else []
    parts = [
        *map(inspect.getsource, (embedding, lexicon, tokenizing)),
        *map(version, ("numpy", "onnxruntime", "sentencepiece", "tokenizers")),
        *sorted({line for line in lines if line.startswith(("flags", "Features"))}),
        *Meaning._fields,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


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
