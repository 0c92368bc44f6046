"""Turns the trained weights into the model that ships: an int8 ONNX file.

    python scripts/encoder/export.py --weights FOLDER --out model.onnx
    python scripts/encoder/export.py --weights FOLDER --out model.onnx --references

`--weights` holds what train.py or pieces.py wrote. Texts begin with the words that
data/models.toml names for the model's questions. `--references` also writes what fp32 makes of the tests'
texts, tests/data/reference_vectors.npy. Steps: write the encoder as an ONNX graph in fp32; run
that on texts of tests/data/panel to learn the range of each matrix's input; write the graph in
int8.

The integer products are exact on every processor: with AVX2 alone, onnxruntime adds two
products of an 8-bit activation (0 to 255) and an 8-bit weight in 16 bits, which overflow where
the two weights are large. So two neighbours in a column of weights never exceed `PAIR_LIMIT`
together (255 * 128 < 2**15).

Sources: SmoothQuant (Xiao et al. 2022) for the scales that activations and weights share;
per-token scales as in ZeroQuant (Yao et al. 2022); the rounding of weights by GPTQ (Frantar et
al. 2022).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import folder_names, model_family
from synaptic.index.tokenizing import load_tokenizer

WINDOW_TOKENS = 256
HEADS = 12
EPSILON = 1e-12
"""As in the model's config.json."""
BLOCK = 32
"""Words in 4 bits have a scale for each block of so many dimensions."""

PAIR_LIMIT = 128
"""The most that two neighbouring weights of a column may be together, in steps of int8."""
SMOOTHING = 0.6
"""The share of an input channel's range that goes into the weights; .4 to .7 were tried
(data/README.md).
"""
DAMPING = 0.01
"""Added to the diagonal of the inputs' second moments, as a share of its mean; GPTQ's default.
"""
SCALES_TRIED = 11
"""Scales tried for each column, from half of the largest to all of it."""
LEAST_COSINE = 0.995

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ROOT / "tests" / "data" / "reference_texts.json"
VECTORS = ROOT / "tests" / "data" / "reference_vectors.npy"
PANEL = ROOT / "tests" / "data" / "panel"
CALIBRATION = (("project", 6), ("german", 5), ("chinese", 5), ("japanese", 5))
"""Files of the panel, and of how many entries and questions one is taken."""

CONTRIB = "com.microsoft"

Array = Any


def main() -> int:
    """0 if each of the tests' texts is near enough to what fp32 makes of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--references", action="store_true", help="write the tests' vectors")
    options = parser.parse_args()
    weights = read_weights(options.weights)
    texts = tokenize(options.weights, json.loads(TEXTS.read_text(encoding="utf-8")))
    wanted = embed(session(Graph(weights).build()), texts)
    if options.references:
        np.save(VECTORS, wanted.astype(np.float16))
    inputs = observe_inputs(weights, tokenize(options.weights, calibration_texts()))
    content = Graph(weights, inputs).build().SerializeToString()
    options.out.write_bytes(content)
    cosines = (embed(session(content), texts) * wanted).sum(axis=1)
    print(f"{len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    print(f"cosine to fp32: mean {cosines.mean():.4f}, least {cosines.min():.4f}")
    return 0 if cosines.min() >= LEAST_COSINE else 1


def read_weights(folder: Path) -> dict[str, Array]:
    """The tensors of the encoder by name, fp32; matrices of linear layers are (inputs,
    outputs).
    """

    weights = {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        turned = tensor.T if "encoder" in name and tensor.ndim == 2 else tensor
        weights[name.removeprefix("bert.")] = np.ascontiguousarray(turned.astype(np.float32))
    return weights


def calibration_texts() -> list[str]:
    """Entries and questions of the panel, in four languages."""
    texts = []
    for name, step in CALIBRATION:
        panel = json.loads((PANEL / f"{name}.json").read_text(encoding="utf-8"))
        texts += [f"{entry['title']}\n{entry['text']}" for entry in panel["entries"][::step]]
        texts += [question["question"] for question in panel["questions"][::6]]
    return texts


def tokenize(folder: Path, texts: list[str]) -> list[list[int]]:
    """Token ids of each text after the prefix of the model's questions, cut to the window."""
    prefix = model_family(folder_names(folder)).get("query_embed", "")
    tokenizer = load_tokenizer(folder, WINDOW_TOKENS)
    return [[token.id for token in tokenizer.tokenize(prefix + text)] for text in texts]


def pack_words(words: Array) -> tuple[Array, Array] | None:
    """Words (count, 384) that were unpacked from 4 bits, in 4 bits again: bytes (count, blocks,
    16) and scales (count, blocks), float16. None for other words, which 4 bits would change.

    A weight is `(code - 8) * scale`, and a block's largest has the code 0. The low halves of the
    bytes are the first 16 codes of a block, the high halves the others (Q4_0 of ggml).
    """
    blocks = words.reshape(len(words), -1, BLOCK)
    largest = np.abs(blocks).argmax(axis=2, keepdims=True)
    scales = (np.take_along_axis(blocks, largest, axis=2) / -8).astype(np.float16)
    steps = scales.astype(np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        codes = np.rint(blocks / steps)
    if not np.array_equal(codes * steps, blocks):
        return None
    low, high = np.split((codes + 8).astype(np.uint8), 2, axis=2)
    return low | high << 4, scales[..., 0]


@dataclass(frozen=True)
class Inputs:
    """The observed inputs of a matrix, by channel: `low`, `high`, `mean` (n,), and second
    `moments` (n, n).
    """

    low: Array
    high: Array
    mean: Array
    moments: Array


def observe_inputs(weights: dict[str, Array], texts: list[list[int]]) -> dict[str, Inputs]:
    """The inputs of each matrix over all tokens of `texts`, by the matrix's name."""

    graph = Graph(weights)
    model = graph.build(shown=graph.inputs)
    running = session(model)
    seen: dict[str, list[Array]] = {name: [] for name in graph.inputs}
    for ids in texts:
        values = running.run(
            list(graph.inputs.values()), {"input_ids": np.array([ids], dtype=np.int64)}
        )
        for name, value in zip(graph.inputs, values, strict=True):
            seen[name].append(value[0])
    observed = {}
    for name, parts in seen.items():
        rows = np.concatenate(parts).astype(np.float64)
        observed[name] = Inputs(
            rows.min(axis=0), rows.max(axis=0), rows.mean(axis=0), rows.T @ rows / len(rows)
        )
    return observed


def quantise_matrix(matrix: Array, moments: Array) -> tuple[Array, Array]:
    """int8 `codes` (inputs, outputs) and a scale for each column, so that `codes * scales` is
    near `matrix`.

    The scale is the one whose rounding changes the products with the observed inputs least.
    Then GPTQ rounds one row after another and lets the rows below make good for the error.
    """

    largest = np.abs(matrix).max(axis=0) / 127
    pairs = (np.abs(matrix[0::2]) + np.abs(matrix[1::2])).max(axis=0) / PAIR_LIMIT
    widest = np.maximum(largest, pairs)
    scales = widest
    least = np.full(matrix.shape[1], np.inf)
    for share in np.linspace(0.5, 1, SCALES_TRIED):
        tried = widest * share
        codes = np.rint(matrix / tried).clip(-127, 127)
        for row in range(1, len(codes), 2):
            codes[row] = fit_beside(codes[row], codes[row - 1])
        error = matrix - codes * tried
        cost = np.einsum("io,io->o", error, moments @ error)
        scales = np.where(cost < least, tried, scales)
        least = np.minimum(cost, least)
    size = len(matrix)
    damped = moments + np.eye(size) * np.diag(moments).mean() * DAMPING
    spread = np.linalg.cholesky(np.linalg.inv(damped)).T
    rest = matrix.astype(np.float64)
    codes = np.zeros_like(rest)
    for row in range(size):
        rounded = np.rint(rest[row] / scales).clip(-127, 127)
        codes[row] = fit_beside(rounded, codes[row - 1]) if row % 2 else rounded
        error = (rest[row] - codes[row] * scales) / spread[row, row]
        rest[row + 1 :] -= np.outer(spread[row, row + 1 :], error)
    return codes.astype(np.int8), scales.astype(np.float32)


def fit_beside(codes: Array, above: Array) -> Array:
    """`codes` of a row, each as near to zero as the code above it in its pair demands."""

    return np.sign(codes) * np.minimum(np.abs(codes), PAIR_LIMIT - np.abs(above))


class Graph:
    """The encoder as an ONNX graph: `input_ids` (batch, tokens) to `last_hidden_state` (batch,
    tokens, 384).

    fp32, or with `observed` inputs int8. Activations are quantised while it runs:

    | input of | scale | why |
    | --- | --- | --- |
    | query, key, value; attention's output | one a text | few outliers once the channels are scaled |
    | intermediate | one a token, around zero | tokens differ twelve-fold |
    | output | one a token, around its middle | GELU's values lie on one side of zero |
    """

    def __init__(
        self, weights: dict[str, Array], observed: dict[str, Inputs] | None = None
    ) -> None:

        self.weights = weights
        self.observed = observed
        self.layers = sum(name.endswith("intermediate.dense.weight") for name in weights)
        self.inputs: dict[str, str] = {}
        """By a matrix's name the name of its input in the fp32 graph."""
        self._nodes: list[Any] = []
        self._constants: dict[str, Array] = {}
        self._build()

    def build(self, *, shown: dict[str, str] | None = None) -> Any:
        """The model, with the values named in `shown` as further outputs."""

        fed = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])
        made = [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", 384]
            )
        ]
        further = (shown or {}).values()
        made += [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in further
        ]
        constants = [
            numpy_helper.from_array(array, name) for name, array in self._constants.items()
        ]
        graph = helper.make_graph(self._nodes, DEFAULT_MODEL, [fed], made, constants)
        versions = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=versions, producer_name="synaptic")
        model.ir_version = 9
        return model

    def _build(self) -> None:
        hidden = self._embed()
        for number in range(self.layers):
            layer = f"encoder.layer.{number}."
            hidden = self._attend(layer, hidden)
            hidden = self._feed_forward(layer, hidden)
        self._add("Identity", hidden, name="last_hidden_state")

    def _embed(self) -> str:
        """The sum of the vectors of a word and of its place."""
        vectors = self._embed_words()
        places = self.weights["embeddings.position_embeddings.weight"][:WINDOW_TOKENS]
        places = places + self.weights["embeddings.token_type_embeddings.weight"][0]
        shape = self._add("Shape", "input_ids")
        tokens = self._add("Slice", shape, self._integer(1), self._integer(2))
        all_places = self._constant("places", places[None])
        beginning = self._add("Slice", all_places, self._integer(0), tokens, self._integer(1))
        return self._normalise(self._add("Sum", vectors, beginning), "embeddings.LayerNorm")

    def _embed_words(self) -> str:
        """Vectors of words, stored in 4 bits where that changes nothing, else as int8 rows with
        a scale each.
        """
        words = self.weights["embeddings.word_embeddings.weight"]
        packed = pack_words(words)
        if packed:
            return self._unpack_words(*packed)
        scales = np.abs(words).max(axis=1, keepdims=True) / 127
        codes = np.rint(words / scales).astype(np.int8)
        rows = self._add("Gather", self._constant("words", codes), "input_ids")
        sizes = self._add(
            "Gather", self._constant("word_scales", scales.astype(np.float32)), "input_ids"
        )
        return self._add("Mul", self._add("Cast", rows, to=1), sizes)

    def _unpack_words(self, halves: Array, scales: Array) -> str:
        """The vectors of words in 4 bits, as pack_words gives them."""
        count, blocks, size = halves.shape
        rows = self._add(
            "Gather", self._constant("words", halves.reshape(count, -1)), "input_ids"
        )
        low = self._add("BitwiseAnd", rows, self._scalar(np.uint8(15)))
        high = self._add("BitShift", rows, self._scalar(np.uint8(4)), direction="RIGHT")
        in_blocks = self._shape(0, 0, blocks, size)
        halves_apart = [self._add("Reshape", half, in_blocks) for half in (low, high)]
        codes = self._add("Cast", self._add("Concat", *halves_apart, axis=3), to=1)
        moved = self._add("Sub", codes, self._scalar(np.float32(8)))
        steps = self._add("Gather", self._constant("word_scales", scales), "input_ids")
        steps = self._add(
            "Reshape", self._add("Cast", steps, to=1), self._shape(0, 0, blocks, 1)
        )
        return self._add(
            "Reshape", self._add("Mul", moved, steps), self._shape(0, 0, blocks * BLOCK)
        )

    def _attend(self, layer: str, hidden: str) -> str:
        names = [f"{layer}attention.self.{part}" for part in ("query", "key", "value")]
        joined = np.concatenate([self.weights[f"{name}.weight"] for name in names], axis=1)
        offsets = np.concatenate([self.weights[f"{name}.bias"] for name in names])
        products, offsets = self._multiply(
            f"{layer}qkv", hidden, joined, offsets, pieces=3, shift=True
        )
        bias = self._constant(f"{layer}qkv.bias", offsets)
        heads = self._add("MultiHeadAttention", *products, bias, contrib=True, num_heads=HEADS)
        name = f"{layer}attention.output.dense"
        return self._join(name, heads, hidden, f"{layer}attention.output.LayerNorm")

    def _feed_forward(self, layer: str, hidden: str) -> str:
        name = f"{layer}intermediate.dense"
        matrix, offsets = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        [product], offsets = self._multiply(name, hidden, matrix, offsets, scale="token")
        wide = self._add(
            "BiasGelu", product, self._constant(f"{name}.bias", offsets), contrib=True
        )
        return self._join(
            f"{layer}output.dense",
            wide,
            hidden,
            f"{layer}output.LayerNorm",
            scale="token middle",
        )

    def _join(
        self, name: str, value: str, hidden: str, norm: str, *, scale: str = "text"
    ) -> str:
        """`value` through the matrix, added to `hidden` and normalised."""
        matrix, offsets = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        [product], offsets = self._multiply(name, value, matrix, offsets, scale=scale)
        bias = self._constant(f"{name}.bias", offsets)
        # SkipLayerNormalization takes four times as long; onnxruntime makes it of an Add
        return self._normalise(self._add("Sum", product, hidden, bias), norm)

    def _multiply(
        self,
        name: str,
        value: str,
        matrix: Array,
        offsets: Array,
        *,
        scale: str = "text",
        pieces: int = 1,
        shift: bool = False,
    ) -> tuple[list[str], Array]:
        """`value` times `matrix`, cut into `pieces` of equal width, and the offsets still to be
        added.

        With `shift` each channel is first moved by the middle of its range; the offsets take
        that back.
        """
        self.inputs[name] = value
        if self.observed is None:
            parts = np.split(matrix, pieces, axis=1)
            constants = [
                self._constant(f"{name}.{n}", np.ascontiguousarray(part))
                for n, part in enumerate(parts)
            ]
            return [self._add("MatMul", value, constant) for constant in constants], offsets
        seen = self.observed[name]
        middle = (seen.low + seen.high) / 2 if shift else np.zeros_like(seen.low)
        sizes = np.maximum(np.maximum(seen.high - middle, middle - seen.low), 1e-3)
        smooth = sizes**SMOOTHING / np.abs(matrix).max(axis=1) ** (1 - SMOOTHING)
        smooth /= np.median(smooth)
        moved = (
            seen.moments
            - np.outer(seen.mean, middle)
            - np.outer(middle, seen.mean)
            + np.outer(middle, middle)
        )
        codes, scales = quantise_matrix(
            matrix * smooth[:, None], moved / np.outer(smooth, smooth)
        )
        stored = codes * scales / smooth[:, None]
        offsets = offsets + middle @ matrix + (seen.mean - middle) @ (matrix - stored)
        even = self._add(
            "Mul", value, self._constant(f"{name}.smooth", (1 / smooth).astype(np.float32))
        )
        if shift:
            even = self._add(
                "Add",
                even,
                self._constant(f"{name}.middle", (-middle / smooth).astype(np.float32)),
            )
        quantised = self._quantise(even, scale)
        products = []
        for number, columns in enumerate(np.split(np.arange(matrix.shape[1]), pieces)):
            stored_codes = self._constant(
                f"{name}.{number}", np.ascontiguousarray(codes[:, columns])
            )
            stored_scales = self._constant(f"{name}.{number}.scales", scales[columns])
            sums = (codes[:, columns] * scales[columns]).sum(axis=0).astype(np.float32)
            product = self._add(
                "MatMulIntegerToFloat",
                quantised.codes,
                stored_codes,
                quantised.scale,
                stored_scales,
                quantised.zero,
                self._scalar(np.int8(0)),
                contrib=True,
            )
            if quantised.size:
                product = self._add("Mul", product, quantised.size)
            if quantised.middle:
                lifted = self._add(
                    "Mul", quantised.middle, self._constant(f"{name}.{number}.sums", sums)
                )
                product = self._add("Add", product, lifted)
            products.append(product)
        return products, offsets.astype(np.float32)

    def _quantise(self, value: str, scale: str) -> Quantised:
        """`value` in 8 bits, with one scale for the `text`, for each `token`, or for each
        around the `token middle`.
        """
        if scale == "text":
            outputs = [f"{value}.{part}" for part in ("codes", "step", "zero")]
            self._add_node("DynamicQuantizeLinear", [value], outputs)
            return Quantised(*outputs)
        last = self._integer(-1)
        middle = ""
        if scale == "token middle":
            high = self._add("ReduceMax", value, last, keepdims=1)
            low = self._add("ReduceMin", value, last, keepdims=1)
            half = self._scalar(np.float32(0.5))
            middle = self._add("Mul", self._add("Add", high, low), half)
            size = self._add("Mul", self._add("Sub", high, low), half)
            value = self._add("Sub", value, middle)
        else:
            size = self._add("ReduceMax", self._add("Abs", value), last, keepdims=1)
        step, zero = self._scalar(np.float32(1 / 127)), self._scalar(np.uint8(128))
        codes = self._add("QuantizeLinear", self._add("Div", value, size), step, zero)
        return Quantised(codes, step, zero, size, middle)

    def _normalise(self, value: str, name: str) -> str:
        gain = self._constant(f"{name}.weight", self.weights[f"{name}.weight"])
        offset = self._constant(f"{name}.bias", self.weights[f"{name}.bias"])
        return self._add("LayerNormalization", value, gain, offset, axis=-1, epsilon=EPSILON)

    def _add(
        self, kind: str, *inputs: str, name: str = "", contrib: bool = False, **attributes: Any
    ) -> str:
        """The name of the new node's output."""
        output = name or f"{kind}{len(self._nodes)}"
        self._add_node(kind, inputs, [output], contrib=contrib, **attributes)
        return output

    def _add_node(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: list[str],
        *,
        contrib: bool = False,
        **attributes: Any,
    ) -> None:

        domain = CONTRIB if contrib else ""
        self._nodes.append(
            helper.make_node(kind, list(inputs), outputs, domain=domain, **attributes)
        )

    def _constant(self, name: str, array: Array) -> str:
        self._constants[name] = array
        return name

    def _scalar(self, value: Any) -> str:
        return self._constant(f"{value.dtype} {value}", np.asarray(value))

    def _shape(self, *sizes: int) -> str:
        """Sizes for Reshape; 0 keeps the size of the input."""
        return self._constant(f"shape {sizes}", np.array(sizes, dtype=np.int64))

    def _integer(self, value: int) -> str:
        return self._constant(f"axis {value}", np.array([value], dtype=np.int64))


@dataclass(frozen=True)
class Quantised:
    """Names of values in the graph: 8-bit `codes`, `(codes - zero) * scale * size + middle` is
    near the original.
    """

    codes: str
    scale: str
    zero: str
    size: str = ""
    middle: str = ""


def session(model: Any) -> Any:
    """onnxruntime with this model, or with the bytes of its file."""

    content = model if isinstance(model, bytes) else model.SerializeToString()
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def embed(running: Any, texts: list[list[int]]) -> Array:
    """A vector of length 1 for each text: the mean over its tokens. float32, (texts, 384)."""

    vectors = []
    for ids in texts:
        vector = running.run(
            ["last_hidden_state"], {"input_ids": np.array([ids], dtype=np.int64)}
        )[0][0].mean(axis=0)
        vectors.append(vector / np.linalg.norm(vector))
    return np.stack(vectors)


if __name__ == "__main__":
    sys.exit(main())
