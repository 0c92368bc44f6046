"""The model that ships, run by onnxruntime itself: importing fastembed would cost a one-shot search 0.5 s of CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_TOKENS = 256
"""As in tokenizer_config.json; what stands behind them changes nothing."""


class ShippedModel:
    """Text in, vectors out: the mean over the tokens of the last layer. Has the methods of fastembed's models."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def query_embed(self, text: str) -> Iterator[npt.NDArray[Any]]:
        return self.passage_embed([text])

    def passage_embed(self, texts: Sequence[str]) -> Iterator[npt.NDArray[Any]]:
        """A vector of shape (384,) for each text, not yet of length 1."""
        import numpy as np

        for text in texts:
            ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
            fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            [tokens] = self._session.run(["last_hidden_state"], fed)
            yield tokens[0].mean(axis=0)
