"""The shipped model with vectors as another kind of processor makes them: for tests that depend
on vectors.

`pytest --disturb SEED` gives each text's vector its own seeded noise, so that cosines are off
by RMS, in this process and in those that `forks` makes. Nothing but the tests reads the
variable.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np

from synaptic.index.embedding import FastEmbedder
from synaptic.models import Meaning, Vector

RMS = 0.004
"""The root mean square of the error of a cosine: four times that between processors with and
without VNNI (.0010).
"""

VARIABLE = "SYNAPTIC_TEST_DISTURB"


def disturbed(vector: Vector, text: str, seed: str) -> Vector:
    """A unit vector near this one; the same for the same text and seed.

    Each of two vectors adds noise of length e, which gives their cosine an error of e * sqrt(2
    / dimensions).
    """
    source = np.random.default_rng(
        np.frombuffer(hashlib.sha256(f"{seed}\0{text}".encode()).digest(), dtype=np.uint32)
    )
    noise = source.standard_normal(len(vector)).astype(np.float32)
    length = RMS * np.sqrt(len(vector) / 2)
    moved = vector + noise * (length / np.linalg.norm(noise))
    return moved / np.linalg.norm(moved)


def disturb() -> None:
    """Disturbs the vectors of the shipped model in this process and in its forks, if a seed is
    set.
    """
    seed = os.environ.get(VARIABLE)
    for name in ("embed_query", "embed_passage") if seed else ():
        _wrap(name, seed or "")


def _wrap(name: str, seed: str) -> None:
    exact = getattr(FastEmbedder, name)

    def moved(self: FastEmbedder, text: str) -> Meaning:
        exactly: Meaning = exact(self, text)
        if not self.shipped:
            return exactly
        return exactly._replace(vector=disturbed(exactly.vector, text, seed))

    setattr(FastEmbedder, name, moved)
