"""Text in, unit vectors out, by the model that ships, one of a folder, or any that fastembed
lists.

Importing this module costs nothing: onnxruntime, fastembed and numpy come in with `load()`, so
that commands which need no model never pay for them. onnxruntime keeps its defaults, which
data/README.md compares.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
import time
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..config import DEFAULT_MODEL
from ..errors import ModelError
from ..files import DATA
from ..language.lexicon import STOP_WORDS
from ..models import Matrix, Meaning, Vector
from .tokenizing import (
    SENTENCE_PIECES,
    TOKENIZER_JSON,
    WORD_START,
    Token,
    load_tokenizer,
    tokenizer_file,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from fastembed import TextEmbedding

MODEL_DIR = DATA / DEFAULT_MODEL
"""Where the shipped model lies."""

MODEL_SHA256: Mapping[str, str] = {
    "config.json": "7ff6d4775b4b82ac626c2ce3aada4b0b7a26a63a27c501e37fe15bef77e4ed2a",
    "tokens.npy": "8bcd7bc9391c88d72699697f27a408000b8b461bbd382d42d3c82ae1dc188315",
    "model.onnx": "a20da6cc6ef35498ee539aa308e6bfee6e0b8b4ce1e1169cd6b7e82c8c025247",
    "sentencepiece.model": "3a2fd2dc57704d93b20811d0f55c4e343c33a137ffcd98ecb5e0de2692bb5fd5",
    "tokenizer_config.json": "551a5d1ddf495b4d9c5202b07957b28275fe6f58b915e53961bf3c4370415f00",
}
"""The hashes of the files of the shipped model; a test compares them."""

USUAL_COSINE = 0.1
"""The usual cosine to which the cosines of each model are scaled."""
USUAL_OF_SHIPPED = 0.567
"""What `measure_usual_cosine` gives for the shipped model; a test compares it."""

_SHIPPED_DIMENSIONS = 384
_MAX_TOKENS = 512  # of a model of a folder that names no window, or a longer one
_MAX_CHARS = (
    40_000  # more than any model's window holds; a pasted log must not be tokenized whole
)
_RETRY_AFTER_S = 60.0
_HUB_TIMEOUT_S = 5.0

_WORDS = "Search goes on by words. "
_REINSTALL = (
    "Reinstall Synaptic (for example `pipx reinstall synaptic-journal`, "
    "or `git checkout -- synaptic/data` in a clone)."
)
_BACK = (
    f'or set `model = "{DEFAULT_MODEL}"` in config.toml: it ships with Synaptic and needs '
    "no network."
)
_TOKENIZER = f"{TOKENIZER_JSON} (or {SENTENCE_PIECES})"
_PUT = f"Put model.onnx and {_TOKENIZER} there, {_BACK}"
_ABOUT = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
}


class Embedder(Protocol):
    """Turns text into vectors. Every method may be called from any thread."""

    @property
    def name(self) -> str:
        """Identity to store beside vectors; another name means vectors that must not be
        compared.
        """

    @property
    def ready(self) -> bool:
        """True once `load()` has succeeded: the next text costs milliseconds."""

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 while it is not known, before `load()`."""

    def load(self) -> None:
        """Make ready. Idempotent; a second caller waits for the first. Raises ModelError."""

    def embed_query(self, text: str) -> Meaning:
        """The meaning of a question. Loads first where needed; raises ModelError."""

    def embed_passage(self, text: str) -> Meaning:
        """The meaning of a piece of a note. Loads first where needed; raises ModelError."""


class FolderModel:
    """Text in, vectors out, by `model.onnx` and the tokenizer of a folder. Has the methods of
    fastembed's models.

    The vector of a text is the mean over its tokens, the first (`cls`) or the last, as
    `1_Pooling/config.json` says, else `pooling`. The window is that of `tokenizer_config.json`
    or `config.json`, at most 512 tokens. onnxruntime runs it, for importing fastembed would
    cost a one-shot search 0.5 s of CPU.
    """

    def __init__(self, folder: Path, *, threads: int, pooling: str = "mean") -> None:
        _switch_telemetry_off()
        import numpy as np
        import onnxruntime

        modes = _read_json_file(folder / "1_Pooling" / "config.json")
        self._pooling = next((how for key, how in _POOLING.items() if modes.get(key)), pooling)
        limits = _read_json_file(folder / "tokenizer_config.json")
        of_model = _read_json_file(folder / "config.json").get("max_position_embeddings")
        window = (
            limits.get("max_length")
            or limits.get("model_max_length")
            or of_model
            or _MAX_TOKENS
        )
        self._tokenizer = load_tokenizer(folder, int(min(window, _MAX_TOKENS)))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._fed = {fed.name for fed in self._session.get_inputs()}
        made = [output.name for output in self._session.get_outputs()]
        self._made = "last_hidden_state" if "last_hidden_state" in made else made[0]
        basis = folder / "tokens.npy"
        self._basis = np.load(basis).astype(np.float32) if basis.exists() else None

    def embed(self, text: str, prefix: str = "") -> Meaning:
        """The meaning of a text, before which the model reads `prefix`; its vector is not yet
        of length 1.
        """
        text = prefix + text
        tokens, hidden = self.read(text)
        if hidden.ndim == 1:  # the model pools by itself
            return Meaning(hidden)
        vector = hidden[0 if self._pooling == "cls" else -1]
        if self._pooling == "mean":
            vector = hidden.mean(axis=0)
        if self._basis is None:
            return Meaning(vector)
        indices = content_token_positions(tokens, start=len(prefix))
        words = []
        for index in indices:
            begin, end = tokens[index].word
            words.append(text[begin:end])
        return Meaning(vector, project_onto_basis(hidden[indices], self._basis), words)

    def read(self, text: str) -> tuple[list[Token], npt.NDArray[Any]]:
        """The tokens of a text, and a vector for each in a row, or one vector for all."""
        import numpy as np

        tokens = self._tokenizer.tokenize(text)
        ids = np.array([[token.id for token in tokens]], dtype=np.int64)
        could = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        fed = {name: array for name, array in could.items() if name in self._fed}
        [[hidden]] = self._session.run([self._made], fed)
        return tokens, hidden


def content_token_positions(tokens: Sequence[Token], *, start: int = 0) -> list[int]:
    """The first index of each token, from the text's character `start` on, that is a word or a
    part of one, but no stop word.
    """
    first: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.is_special or token.span[1] <= start:
            continue
        piece = token.piece.replace(WORD_START, "").casefold()
        if any(map(str.isalnum, piece)) and piece not in STOP_WORDS:
            first.setdefault(token.piece, index)
    return list(first.values())


def project_onto_basis(hidden: Matrix, basis: Matrix) -> Matrix:
    """Token vectors of shape (tokens, dimensions) on a basis, whose first row is the usual
    token; shape (tokens, TOKEN_BITS).
    """
    import numpy as np

    apart = hidden - basis[0]
    apart /= np.linalg.norm(apart, axis=1, keepdims=True) + 1e-9
    return np.asarray(apart @ basis[1:].T, dtype=np.float32)


class FastEmbedder:
    """The shipped model, that of a folder (an absolute path), or any other that fastembed
    lists, on `threads` threads.

    Only a model that is neither shipped, nor a folder, nor in `cache` needs the network, once.
    One text per call: quantisation scales are taken over the whole batch, so a text's vector
    would depend on its neighbours. Where the family of the model wants words before a question
    or a passage, they are put there; fastembed puts none. With `shows` a download shows its
    progress on standard error.
    """

    def __init__(
        self, model: str, *, cache: Path, threads: int = 1, shows: bool = False
    ) -> None:
        self.model = model
        self.dimensions = 0
        self.name = model.casefold()
        self.shipped = self.name == DEFAULT_MODEL
        path = MODEL_DIR if self.shipped else Path(model)
        if model.startswith("~"):
            path = path.expanduser()
        self.folder = path if path.is_absolute() else None
        if self.shipped:  # another hash over its files means other vectors
            hashes = sorted(MODEL_SHA256.items())
            files = "".join(f"{file} {hash}\n" for file, hash in hashes)
            self.name = f"{self.name}@{_short_digest(files)}"
            self.dimensions = _SHIPPED_DIMENSIONS
        elif self.folder:  # another size or time of change, too: gigabytes take long to hash
            model_files = [
                *path.glob("*.onnx*"),
                *path.glob("*.json"),
                *path.glob(SENTENCE_PIECES),
                *path.glob("*/config.json"),
            ]
            stamps = []
            for file in sorted(model_files):
                status = file.stat()
                stamps.append((file.name, status.st_size, status.st_mtime_ns))
            self.name = f"{path}@{_short_digest(repr(stamps))}"
        self._cache = cache
        self._threads = threads
        self._shows = shows
        self._family: Mapping[str, str] = {}
        self._loading = threading.Lock()
        self._loaded: TextEmbedding | FolderModel | None = None
        self._failed_at = 0.0
        self._failure: ModelError | None = None

    @property
    def ready(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        """Make ready: 0.2 s for the shipped model; another is downloaded into `cache` at its
        first load.

        A failure is remembered for a minute, so that an offline machine is not slow at every
        search.
        """
        with self._loading:
            if self._loaded is not None:
                return
            if self._failure and time.monotonic() - self._failed_at < _RETRY_AFTER_S:
                raise self._failure.with_traceback(None)
            try:
                self._loaded = self._load()
            except ModelError as error:
                self._failed_at, self._failure = time.monotonic(), error
                raise

    def embed_query(self, text: str) -> Meaning:
        return self._embed("query_embed", text)

    def embed_passage(self, text: str) -> Meaning:
        return self._embed("passage_embed", text)

    def _embed(self, method: str, text: str) -> Meaning:
        """The meaning of a text by this method of the model, its vector at length 1: some of
        fastembed's models do not normalise.
        """
        import numpy as np

        self.load()
        # as a tokenizer can take it: no NUL, no lone surrogates, no more than a window can hold
        clean = text[:_MAX_CHARS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
        prefix = self._family.get(method, "")
        loaded: Any = self._loaded
        made: Meaning
        try:
            if self.folder:
                made = loaded.embed(clean, prefix)
            else:
                made = Meaning(next(iter(getattr(loaded, method)([prefix + clean]))))
        except Exception as error:  # onnxruntime's own kinds, MemoryError
            raise ModelError(
                f"The model failed on a text: {_summarize_error(error)}."
            ) from error
        vector = np.nan_to_num(
            np.asarray(made.vector, dtype=np.float32), posinf=0.0, neginf=0.0
        )
        length = np.linalg.norm(vector)
        return made._replace(vector=vector / length if length > 0 else vector)

    def _load(self) -> TextEmbedding | FolderModel:
        # One text per call leaves the tokenizer nothing to share among threads of its own.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        again = f"Delete {self._cache} so that it is downloaded again, {_BACK}"
        if self.shipped:
            again = _REINSTALL
        elif self.folder:
            again = f"Copy its files again, {_BACK}"
        try:
            return self._load_folder(self.folder) if self.folder else self._load_listed()
        except ModelError:
            raise
        except Exception as error:  # onnxruntime, the tokenizers and json raise many kinds
            raise ModelError(
                f"The model {self.folder or self.model} cannot be started: "
                f"{_summarize_error(error)}.",
                hint=_WORDS + again,
            ) from error

    def _load_folder(self, folder: Path) -> FolderModel:
        needed = {"model.onnx": folder / "model.onnx", _TOKENIZER: tokenizer_file(folder)}
        missing = [name for name, file in needed.items() if not file.is_file()]
        if missing:
            raise ModelError(
                f"{folder} holds no model: {' and '.join(missing)} cannot be found.",
                hint=f"{_WORDS}{_REINSTALL if self.shipped else _PUT}",
            )
        names = folder_names(folder).casefold()
        self._family = model_family(names)
        pooling = self._family.get("pooling", "mean")
        loaded = FolderModel(folder, threads=self._threads, pooling=pooling)
        self.dimensions = self.dimensions or len(loaded.embed("a").vector)
        return loaded

    def _load_listed(self) -> TextEmbedding:
        models = fastembed_models()  # which keeps fastembed quiet
        from fastembed import TextEmbedding

        entry = models.get(self.name)
        if entry is None:
            raise ModelError(
                f"No embedding model is called {self.model!r}.",
                valid=tuple(read_models_table()["offered"]),
                hint=f"{_WORDS}`synaptic model use NAME` sets one in config.toml; a folder is "
                "named by its whole path.",
            )
        _download_model(entry, self._cache, shows=self._shows)
        loaded = TextEmbedding(
            self.model,
            cache_dir=str(self._cache),
            threads=self._threads,
            cuda=False,
            local_files_only=True,
        )
        self.dimensions, self._family = int(entry["dim"]), model_family(self.model)
        return loaded


def _switch_telemetry_off() -> None:
    """Has onnxruntime, which fastembed imports too, and the hub tell their makers nothing. They
    read this when they are imported: onnxruntime 1.31 then notes each process in
    ~/.cache/Microsoft.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def read_models_table() -> dict[str, Any]:
    """The content of data/models.toml."""
    return tomllib.loads(MODEL_DIR.with_name("models.toml").read_text(encoding="utf-8"))


def folder_names(folder: Path) -> str:
    """The name of a model's folder, and the name that its config.json gives it."""
    called = _read_json_file(folder / "config.json").get("_name_or_path", "")
    return f"{folder.name} {called}"


def model_family(name: str) -> Mapping[str, str]:
    """The words that models of this name read before a text (`query_embed`, `passage_embed`),
    and their `pooling`.
    """
    for row in read_models_table()["family"]:
        if re.search(row["named"], name.casefold()):
            return dict(row)
    return {}


def fastembed_models() -> dict[str, dict[str, Any]]:
    """Facts of fastembed about each model that it lists, by its name in lower case. Takes half
    a second.

    From then on fastembed and the hub keep their remarks off stderr; what matters becomes a
    ModelError.
    """
    _switch_telemetry_off()
    from fastembed import TextEmbedding
    from loguru import logger

    logger.disable("fastembed")
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    # fastembed remarks on changes between its versions, in its own name or (stacklevel) in
    # ours.
    for module in (r"fastembed\.", r"huggingface_hub\.", r"synaptic\.embedding$"):
        warnings.filterwarnings("ignore", category=UserWarning, module=module)
    every = TextEmbedding.list_supported_models()
    return {str(model["model"]).casefold(): model for model in every}


def usual_cosine(embedder: Embedder, may_go_on: Callable[[], bool]) -> float:
    """The mean cosine of texts on other matters to this model: measured, but for the shipped
    one. Raises TimeoutError once it may not go on.
    """
    if embedder.name.startswith(f"{DEFAULT_MODEL}@"):
        return USUAL_OF_SHIPPED
    return measure_usual_cosine(embedder, may_go_on)


def measure_usual_cosine(
    embedder: Embedder, may_go_on: Callable[[], bool] = lambda: True
) -> float:
    """The mean cosine of the questions of data/models.toml with its notes, which are of other
    matters, to this model. Raises TimeoutError once it may not go on.

    Models differ much: E5 puts all texts between .7 and 1.
    """
    import numpy as np

    def embed(embed_text: Callable[[str], Meaning], texts: Sequence[str]) -> list[Vector]:
        vectors = []
        for text in texts:
            if not may_go_on():
                raise TimeoutError
            vectors.append(embed_text(text).vector)
        return vectors

    texts = read_models_table()["unrelated"]
    notes = embed(embedder.embed_passage, texts["notes"])
    questions = embed(embedder.embed_query, texts["questions"])
    cosines = np.array(questions) @ np.array(notes).T
    return min(0.99, float(cosines.mean()))


def _read_json_file(path: Path) -> dict[str, Any]:
    """The content of a model's JSON file; empty where it is missing."""
    return dict(json.loads(path.read_bytes())) if path.exists() else {}


def is_downloaded(model: Mapping[str, Any], cache: Path) -> bool:
    """True if the files of a listed model are in `cache`."""
    from huggingface_hub import try_to_load_from_cache

    files = [model["model_file"], *model["additional_files"], "tokenizer.json"]
    for file in files:
        path = try_to_load_from_cache(model["sources"]["hf"], file, cache_dir=cache)
        if not isinstance(path, str):
            return False
    return True


def _download_model(model: Mapping[str, Any], cache: Path, *, shows: bool) -> None:
    """Has a listed model's files in `cache`. Raises ModelError, within seconds when offline.

    fastembed's own download retries for 39 s; it finds what this one fetched.
    """
    from huggingface_hub import model_info, snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if is_downloaded(model, cache):
        return
    if not shows:
        disable_progress_bars()
    files = [model["model_file"], *model["additional_files"], *_ABOUT]
    repository = model["sources"]["hf"]
    try:
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        # without it a silent server holds the next call for good
        model_info(repository, timeout=_HUB_TIMEOUT_S)
        snapshot_download(
            repository, allow_patterns=files, cache_dir=cache, etag_timeout=_HUB_TIMEOUT_S
        )
    except Exception as error:  # httpx, OSError, ValueError and the hub's own kinds
        raise ModelError(
            f"The model {model['model']} is not on this machine and could not be downloaded: "
            f"{_summarize_error(error)}.",
            hint="Search goes on by words and nothing is lost. Connect to the internet and "
            f"run `synaptic rebuild-index` ({model['size_in_GB']:.2g} GB, once), {_BACK}",
        ) from error


def _summarize_error(error: BaseException) -> str:
    """The error's kind and the first line of its text, without a full stop."""
    lines = str(error).strip().splitlines()
    reason = f": {lines[0][:200].rstrip('. ')}" if lines else ""
    return type(error).__name__ + reason
