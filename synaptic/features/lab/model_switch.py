"""The models that find notes by meaning: which there are, and the way from one to another."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...config import DEFAULT_MODEL
from ...errors import ModelError
from ...index.copying import copy_index
from ...index.embedding import FastEmbedder, fastembed_models, is_downloaded, read_models_table
from ...index.sqlite_engine import SqliteEngine
from ...journal.settings import write_setting
from ...models import Texts, frozen
from ...workspace.embed import Progress, embed_pending
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace, open_workspace
from .evaluate import TOO_FEW, Evaluation, evaluate

QUESTIONS = 100
"""The number of queries that compare two models: half a minute with a large model."""


@frozen
class Model:
    """An embedding model that can be chosen, by fastembed's name or its folder. `downloaded`:
    it needs no network. None means unknown.
    """

    name: str
    languages: str
    megabytes: int | None
    dimensions: int | None
    in_use: bool
    downloaded: bool
    ships: bool


@frozen
class Switch:
    """A change from the model `before` to another. `with_before` and `with_model` are the
    evaluations of both on this journal; None if they were not compared.
    """

    model: str
    before: str
    with_before: Evaluation | None = None
    with_model: Evaluation | None = None
    kept: bool = False
    notices: Texts = ()


def models(ws: Workspace) -> tuple[Model, ...]:
    """Returns the models that can be chosen: those of `data/models.toml`, of which the first
    ships with Synaptic, and models used before.
    """
    languages = read_models_table()["offered"]
    catalogue = fastembed_models()
    cache = ws.config.state / "models"
    used = {}
    for path in sorted(ws.config.state.glob("index-*.db")):
        meta = SqliteEngine(path).meta
        used[str(meta("model")).rpartition("@")[0]] = int(meta("dimensions") or 0)
    by_name = {}
    for name in (*languages, ws.config.model, *used):
        about = catalogue.get(name.casefold())
        embedder = FastEmbedder(name, cache=cache)
        size = 0
        if about:
            size = about["size_in_GB"] * 1e9
        elif not embedder.folder:
            continue
        elif (embedder.folder / "model.onnx").exists():
            size = (embedder.folder / "model.onnx").stat().st_size
        by_name[name.casefold()] = Model(
            name=about["model"] if about else embedder.model,
            languages=languages.get(name, ""),
            megabytes=round(size / 1e6) or None,
            dimensions=about["dim"] if about else embedder.dimensions or used.get(name),
            in_use=embedder.name == ws.embedder.name,
            downloaded=is_downloaded(about, cache) if about else size > 0,
            ships=embedder.shipped,
        )
    return tuple(by_name.values())


def use(
    ws: Workspace,
    model: str,
    *,
    agree: Callable[[Switch], bool] = lambda _: True,
    progress: Progress | None = None,
) -> Switch:
    """Changes the embedding model to `model`, if `agree` returns True for the comparison of
    both.

    Steps: load (and download) it, embed the journal into the model's own index, ask 100
    questions of both, name it in config.toml. The way back to a model that was used before is
    quick: its index is still there, and nothing is asked. Raises ModelError where it cannot be
    loaded; nothing has changed then.
    """
    config = replace(ws.config, model=_spelled(model))
    embedder = FastEmbedder(
        config.model, cache=config.state / "models", threads=config.threads, shows=True
    )
    try:
        embedder.load()
    except ModelError as error:
        hint = (
            "Nothing was changed. A folder with model.onnx and tokenizer.json can be given "
            "instead: `synaptic model use FOLDER`."
        )
        raise ModelError(error.message, valid=error.valid, hint=hint) from error
    done = Switch(config.model, ws.config.model)
    with open_workspace(config, embedder=embedder, clock=ws.clock) as other:
        if not other.index.file.path.exists():
            # it says how often entries were read
            copy_index(ws.index.file, other.index.file.path)
        if not _has_vectors_of_half(other):
            # until the person agrees: the run may be stopped
            other.index.file.set_meta("trial", 1)
        embed_pending(other, budget_s=None, progress=progress)
        if other.index.meta("trial"):
            if _has_vectors_of_half(ws):
                before = evaluate(ws, questions=QUESTIONS, progress=progress)
                after = evaluate(other, questions=QUESTIONS, progress=progress)
                if after.questions >= TOO_FEW:
                    done = replace(done, with_before=before, with_model=after)
            if not agree(done):
                return done
        write_setting(config.home, "model", config.model)
        other.index.file.set_meta("trial", 0)
    notices: Texts = ()
    if os.environ.get("SYNAPTIC_MODEL"):
        notices = ("SYNAPTIC_MODEL is set, and it wins over config.toml.",)
    return replace(done, kept=True, notices=notices)


def _has_vectors_of_half(ws: Workspace) -> bool:
    """True if at least half of the notes have a vector of the current model."""
    counts = in_step(ws, lambda _: ws.index.counts())
    is_own = ws.index.meta("model") == ws.embedder.name
    return is_own and 2 * counts.pending_passages <= counts.chunks


def _spelled(model: str) -> str:
    """Returns the model's name in fastembed's spelling, or the absolute path of a folder."""
    if model.startswith(("/", "~", ".")) or Path(model).is_dir():
        return str(Path(model).expanduser().resolve())
    if model.casefold() == DEFAULT_MODEL:
        return DEFAULT_MODEL
    return str(fastembed_models().get(model.casefold(), {"model": model})["model"])
