"""The shipped model with vectors as another kind of processor makes them: for tests that
depend on vectors.

`pytest --disturb SEED` gives each text's vector and tokens their own seeded noise, in this
process and in those that `forks` makes. Nothing but the tests reads the variable.

| difference                                        | cosine: mean / least | signs of tokens |
|---------------------------------------------------|----------------------|-----------------|
| AVX2 alone against AVX-512 with VNNI, both int8   | .9999 / .9996        | .3 %            |
| AVX2 alone against the original in fp32           | .9991 / .9962        |                 |
| `disturbed`                                       | .9975 / .996         | 1 %             |

Another processor rounds the same text in the same way each time, and so does this.
"""

from __future__ import annotations

import hashlib
import os

import numpy as np

from synaptic.index.embedding import FastEmbedder
from synaptic.models import Matrix, Meaning

LEAST_COSINE, GREATEST_COSINE = 0.996, 0.999
"""A text's vector has a cosine between these, drawn for each text, with the exact one."""
TOKEN_COSINE = 0.9992
"""The cosine of a token's vector with the exact one. Between processors it is .9999."""
SEEDS = tuple(map(str, range(1, 21)))
"""The suite draws one of these; the soak takes each."""

VARIABLE = "SYNAPTIC_TEST_DISTURB"


def disturbed(meaning: Meaning, text: str, seed: str) -> Meaning:
    """The meaning with noise; the same for the same text and seed."""
    source = np.random.default_rng(
        np.frombuffer(hashlib.sha256(f"{seed}\0{text}".encode()).digest(), dtype=np.uint32)
    )
    cosine = source.uniform(LEAST_COSINE, GREATEST_COSINE)
    [vector] = _turn(meaning.vector[np.newaxis], cosine, source)
    vector /= np.linalg.norm(vector)
    tokens = meaning.tokens
    if tokens is not None:
        tokens = _turn(tokens, TOKEN_COSINE, source)
    return meaning._replace(vector=vector, tokens=tokens)


def _turn(rows: Matrix, cosine: float, source: np.random.Generator) -> Matrix:
    """Turns each row into a direction of its own, until it has this cosine with itself."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    noise = source.standard_normal(rows.shape).astype(np.float32)
    along = (noise * rows).sum(axis=1, keepdims=True) / np.maximum(lengths, 1e-9) ** 2
    noise -= along * rows
    noise *= lengths / np.maximum(np.linalg.norm(noise, axis=1, keepdims=True), 1e-9)
    turned = cosine * rows + (1 - cosine**2) ** 0.5 * noise
    return np.asarray(turned, dtype=np.float32)


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
        return disturbed(exactly, text, seed) if self.shipped else exactly

    setattr(FastEmbedder, name, moved)
