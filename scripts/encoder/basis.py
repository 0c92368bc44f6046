"""Makes the basis on which the vectors of tokens become 64 signs.

    python scripts/encoder/basis.py --pairs pairs.jsonl --model FOLDER

Writes tokens.npy into the model's folder: the usual token's vector and 64 rows of the basis, float16 of
shape (65, dimensions). The basis are the principal components of tokens of the training pairs,
turned so that signs lose least (ITQ, Gong and Lazebnik 2011). Questions and passages begin with the
words that the model's family reads before them, whose tokens do not count.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from synaptic.index.embedding import (
    FolderModel,
    content_token_positions,
    folder_names,
    model_family,
)
from synaptic.models import TOKEN_BITS

TEXTS_OF_KIND = 300
TOKENS_OF_TEXT = 24
ROUNDS = 50

Array = npt.NDArray[np.float32]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    lines = options.pairs.read_text(encoding="utf-8").splitlines()
    tokens = token_vectors(options.model, texts_of(lines, choose), choose)
    mean = tokens.mean(axis=0)
    apart = tokens - mean
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    basis = turned(apart, np.random.default_rng(options.seed))
    np.save(options.model / "tokens.npy", np.vstack([mean, basis]).astype(np.float16))


def texts_of(lines: list[str], choose: random.Random) -> list[tuple[str, str]]:
    """Questions and passages of each kind of pair, each after the name of its prefix in
    data/models.toml.
    """
    rows = [json.loads(line) for line in lines]
    texts = []
    for kind in sorted({row["kind"] for row in rows}):
        same = [row for row in rows if row["kind"] == kind]
        for row in choose.sample(same, min(TEXTS_OF_KIND, len(same))):
            texts += [("query_embed", row["query"]), ("passage_embed", row["passage"])]
    return [(role, text.replace("{A}", "Anna").replace("{B}", "Ben")) for role, text in texts]


def token_vectors(folder: Path, texts: list[tuple[str, str]], choose: random.Random) -> Array:
    """The vectors of some content tokens of each text, in rows."""
    model, family = FolderModel(folder, threads=1), model_family(folder_names(folder))
    vectors = []
    for role, text in texts:
        prefix = family.get(role, "")
        tokens, hidden = model.read(prefix + text)
        places = content_token_positions(tokens, start=len(prefix))
        vectors.append(hidden[choose.sample(places, min(TOKENS_OF_TEXT, len(places)))])
    return np.concatenate(vectors)


def turned(apart: Array, source: np.random.Generator) -> Array:
    """The principal components of these unit vectors, turned towards the corners of a cube."""
    _, directions = np.linalg.eigh(apart.T @ apart)
    components = directions[:, -TOKEN_BITS:]
    placed = apart @ components
    turn: npt.NDArray[np.floating[Any]]
    turn, _ = np.linalg.qr(source.standard_normal((TOKEN_BITS, TOKEN_BITS)))
    for _ in range(ROUNDS):
        left, _, right = np.linalg.svd(np.sign(placed @ turn).T @ placed)
        turn = (left @ right).T
    return np.asarray((components @ turn).T, dtype=np.float32)


if __name__ == "__main__":
    main()
