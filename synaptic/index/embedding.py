"""Text in, unit vectors out, by the model that ships or by any other that fastembed lists.

Importing this module costs nothing: onnxruntime, fastembed and numpy come in with `load()`, so that commands
which need no model never pay for them. onnxruntime keeps its defaults, which data/README.md compares.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..config import DEFAULT_MODEL
from ..errors import ModelError
from ..models import Vector

if TYPE_CHECKING:
    import numpy.typing as npt
    from fastembed import TextEmbedding

MODEL_DIR = Path(__file__).parents[1] / "data" / DEFAULT_MODEL
"""Where the shipped model lies."""

MODEL_SHA256 = {
    "model.onnx": "21e50c82e4e71da04ec3a25865b779f70c652b8b05574f8ad46f737c27457253",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "1d232460a8aa598b77b03e901dde1cb4310c2435036a281eed8a1d96d2f1db44",
}
"""What the shipped files must hash to; checked at every load, which takes 20 ms."""

_SHIPPED_DIMENSIONS = 384
_MAX_TOKENS = 256  # as in tokenizer_config.json; what stands behind them changes nothing
_MAX_CHARS = 40_000  # more than any model's window holds; a pasted log must not be tokenized whole
_RETRY_AFTER_S = 60.0
_HUB_TIMEOUT_S = 5.0

_REINSTALL = (
    "Search goes on by words. Reinstall Synaptic (for example `pipx reinstall synaptic-journal`, "
    "or `git checkout -- synaptic/data` in a clone)."
)
_BACK = f'or set `model = "{DEFAULT_MODEL}"` in config.toml: it ships with Synaptic and needs no network.'


class Embedder(Protocol):
    """What turns text into vectors. Every method may be called from any thread."""

    @property
    def name(self) -> str:
        """Identity to store beside vectors; another name means vectors that must not be compared."""

    @property
    def ready(self) -> bool:
        """True once `load()` has succeeded: the next text costs milliseconds."""

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 while it is not known, before `load()`."""

    def load(self) -> None:
        """Make ready. Idempotent; a second caller waits for the first. Raises ModelError."""

    def embed_query(self, text: str) -> Vector:
        """The vector of a question. Loads first where needed; raises ModelError."""

    def embed_passage(self, text: str) -> Vector:
        """The vector of a piece of a note. Loads first where needed; raises ModelError."""


class ShippedModel:
    """Text in, vectors out: the mean over the tokens of the last layer. Has the methods of fastembed's models.

    onnxruntime runs it, for importing fastembed would cost a one-shot search 0.5 s of CPU.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def passage_embed(self, texts: Sequence[str]) -> Iterator[npt.NDArray[Any]]:
        """A vector of shape (384,) for each text, not yet of length 1."""
        import numpy as np

        for text in texts:
            ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
            fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            [tokens] = self._session.run(["last_hidden_state"], fed)
            yield tokens[0].mean(axis=0)

    query_embed = passage_embed


class FastEmbedder:
    """The shipped model, or any other that fastembed lists, on `threads` threads.

    Only a model that is neither shipped nor in `cache` needs the network, once. One text per call:
    quantisation scales are taken over the whole batch, so a text's vector would depend on its neighbours.
    """

    def __init__(self, model: str, *, cache: Path, threads: int = 1) -> None:
        self.model = model
        self.dimensions = 0
        self.name = model.casefold()
        self.shipped = self.name == DEFAULT_MODEL.casefold()
        if self.shipped:  # another hash over its files means other vectors
            files = "".join(f"{file} {sha256}\n" for file, sha256 in sorted(MODEL_SHA256.items()))
            self.name = f"{DEFAULT_MODEL}@{hashlib.sha256(files.encode()).hexdigest()[:12]}"
            self.dimensions = _SHIPPED_DIMENSIONS
        self._cache = cache
        self._threads = threads
        self._loading = threading.Lock()
        self._loaded: TextEmbedding | ShippedModel | None = None
        self._failure: tuple[float, ModelError] | None = None

    @property
    def ready(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        """Make ready: 0.2 s for the shipped model; another is downloaded into `cache` at its first load.

        A failure is remembered for a minute, so that an offline machine is not slow at every search.
        """
        if self._loaded is not None:
            return
        with self._loading:
            if self._loaded is None:
                if self._failure and time.monotonic() - self._failure[0] < _RETRY_AFTER_S:
                    error = self._failure[1]
                    raise ModelError(error.message, valid=error.valid, hint=error.hint)
                try:
                    self._loaded = self._load()
                except ModelError as error:
                    self._failure = (time.monotonic(), error)
                    raise

    def embed_query(self, text: str) -> Vector:
        return self._vector("query_embed", text)

    def embed_passage(self, text: str) -> Vector:
        return self._vector("passage_embed", text)

    def _vector(self, method: str, text: str) -> Vector:
        """What this method of the model makes of a text, at length 1: some of fastembed's models do not normalise."""
        import numpy as np

        self.load()
        # as a tokenizer can take it: no NUL, no lone surrogates, no more than a window can hold
        clean = text[:_MAX_CHARS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
        try:
            made = next(iter(getattr(self._loaded, method)([clean])))
        except Exception as error:  # onnxruntime's own kinds, MemoryError
            raise ModelError(f"The model failed on a text: {_first_line(error)}.") from error
        vector = np.nan_to_num(np.asarray(made, dtype=np.float32), posinf=0.0, neginf=0.0)
        length = np.linalg.norm(vector)
        return vector / length if length > 0 else vector

    def _load(self) -> TextEmbedding | ShippedModel:
        # onnxruntime 1.31 notes every process in ~/.cache/Microsoft and sends that to its makers. Not from here.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
        # One text per call leaves the tokenizer nothing to share among threads of its own.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            return self._load_shipped() if self.shipped else self._load_listed()
        except ImportError as error:
            raise ModelError(f"The embedding library cannot be imported: {error}.", hint=_REINSTALL) from error

    def _load_shipped(self) -> ShippedModel:
        _check_shipped_files()
        try:
            return ShippedModel(MODEL_DIR, threads=self._threads)
        except ImportError:
            raise
        except Exception as error:  # onnxruntime and tokenizers raise many kinds
            raise ModelError(
                f"The shipped model {DEFAULT_MODEL} cannot be started: {_first_line(error)}.",
                hint="Search goes on by words. `synaptic doctor` looks closer.",
            ) from error

    def _load_listed(self) -> TextEmbedding:
        _import_quietly()
        from fastembed import TextEmbedding

        listed = {str(known["model"]).casefold(): known for known in TextEmbedding.list_supported_models()}
        known = listed.get(self.model.casefold())
        if known is None:
            raise _unknown_model(self.model, [str(entry["model"]) for entry in listed.values()])
        files = [str(known["model_file"]), *known["additional_files"]]
        _fetch(self.model, known["sources"]["hf"], files, known["size_in_GB"], self._cache)
        try:
            loaded = TextEmbedding(
                self.model,
                cache_dir=str(self._cache),
                threads=self._threads,
                cuda=False,
                local_files_only=True,
            )
        except Exception as error:  # onnxruntime, tokenizers and fastembed raise many kinds
            raise ModelError(
                f"The model {self.model} cannot be started from {self._cache}: {_first_line(error)}.",
                hint=f"Search goes on by words. Delete {self._cache} so that it is downloaded again, {_BACK}",
            ) from error
        self.dimensions = int(known["dim"])
        return loaded


def _check_shipped_files() -> None:
    for file, expected in MODEL_SHA256.items():
        path = MODEL_DIR / file
        try:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise ModelError(
                f"The shipped model's file {path} cannot be read: {error.strerror}.", hint=_REINSTALL
            ) from error
        if found != expected:
            raise ModelError(
                f"The shipped model's file {path} is damaged: its sha256 starts with {found[:12]}, "
                f"not with {expected[:12]}.",
                hint=_REINSTALL,
            )


def _import_quietly() -> None:
    """Import fastembed and keep its and the hub's remarks off stderr; what matters becomes a ModelError."""
    import fastembed  # noqa: F401
    from loguru import logger

    logger.disable("fastembed")
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    # fastembed remarks on changes between its versions, in its own name or (stacklevel) in ours.
    for module in (r"fastembed\.", r"huggingface_hub\.", r"synaptic\.embedding$"):
        warnings.filterwarnings("ignore", category=UserWarning, module=module)


def _unknown_model(model: str, names: list[str]) -> ModelError:
    by_key = {key: name for name in names for key in (name.casefold(), name.casefold().partition("/")[2])}
    near = get_close_matches(model.casefold(), by_key, n=6, cutoff=0.4)
    valid = dict.fromkeys([DEFAULT_MODEL, *(by_key[key] for key in near)])
    return ModelError(
        f"No embedding model is called {model!r}.",
        valid=tuple(valid)[:5],
        hint=f"Search goes on by words. These are the nearest of the {len(names) + 1} models that can be "
        "used; set one as `model` in config.toml.",
    )


def _fetch(model: str, repository: str, files: list[str], size_gb: float, cache: Path) -> None:
    """Have a listed model's files in `cache`. Raises ModelError, within seconds when offline.

    fastembed's own download retries for 39 s and draws progress bars; it finds what this one fetched.
    """
    from huggingface_hub import model_info, snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    patterns = [*files, "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]

    def snapshot(local_files_only: bool) -> Path:
        path = snapshot_download(
            repository,
            allow_patterns=patterns,
            cache_dir=cache,
            local_files_only=local_files_only,
            etag_timeout=_HUB_TIMEOUT_S,
        )
        return Path(path)

    try:
        if all((snapshot(local_files_only=True) / file).exists() for file in files):
            return
    except Exception:  # whatever is wrong with the cache, a download mends it or says why not
        logging.getLogger(__name__).debug("%s is not in %s", model, cache, exc_info=True)
    disable_progress_bars()
    try:
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        model_info(repository, timeout=_HUB_TIMEOUT_S)  # without it a silent server holds the next call for good
        snapshot(local_files_only=False)
    except Exception as error:  # httpx, OSError, ValueError and the hub's own kinds
        raise ModelError(
            f"The model {model} is not on this machine and could not be downloaded: {_first_line(error)}.",
            hint="Search goes on by words and nothing is lost. Connect to the internet and run "
            f"`synaptic rebuild-index` ({size_gb:.2g} GB, once), {_BACK}",
        ) from error


def _first_line(error: BaseException) -> str:
    """The error's kind and the first line of its text, without a full stop."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200].rstrip('. ')}" if lines else type(error).__name__
