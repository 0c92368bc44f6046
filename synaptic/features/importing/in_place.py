"""Reads folders of notes where they lie: a run of settings, which an undo takes back."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...config import Config, read_sources
from ...errors import InvalidArgument
from ...journal.folder import TEXTS, Roots, is_logseq_graph, scan_notes
from ...journal.imports import insert_blocks
from ...journal.left_out import withholds
from ...journal.runs import Run, open_import_runs
from ...journal.settings import write_setting
from ...workspace.workspace import Workspace
from .adopt import left_out_globs, list_in_config
from .readers.documents import ENDINGS


def source_of_folder(folder: Path) -> str:
    """The source whose program keeps the notes of this folder where they lie; "" if none is
    known.
    """
    if (folder / ".obsidian").is_dir():
        return "obsidian"
    return "logseq" if is_logseq_graph(folder) else ""


def settings_to_read(config: Config, added: Sequence[str]) -> dict[str, list[str]]:
    """The items of the settings `sources` and `exclude` with which these folders are read where
    they lie, but for their templates and backups. Raises ConfigError for a folder that is read
    already, and for a name that is used already.
    """
    lines = [*list_in_config(config, "sources"), *added]
    file = config.home / "config.toml"
    places = read_sources(file, replace(config, sources={}), lines)
    globs = []
    for name in places.keys() - config.sources.keys():
        if places[name].is_dir():
            globs += [f"{name}/{glob}" for glob in left_out_globs(places[name])[0]]
    there = list_in_config(config, "exclude")
    return {
        "exclude": [glob for glob in sorted(globs) if glob not in there],
        "sources": [*added],
    }


def read_in_place(ws: Workspace, source: str, settings: Mapping[str, Sequence[str]]) -> str:
    """Adds these items to the lists in config.toml; returns the name of the run, by which
    `undo_import` takes them out again.
    """
    name = open_import_runs(ws.journal.state).free_name(f"{source}-{ws.clock():%Y%m%d-%H%M%S}")
    run = Run(name, settings=settings)
    with ws.own_journal.writing():
        open_import_runs(ws.journal.state).put(run)
    write_run(ws, run)
    return run.name


def write_run(ws: Workspace, run: Run, remark: str = "") -> None:
    """Writes what is missing of a run: its settings, and its blocks into the journal. `remark`
    stands in the log beside it.
    """
    for key, items in run.settings.items():
        there = list_in_config(ws.config, key)
        new = [item for item in items if item not in there]
        if new:
            write_setting(ws.config.home, key, [*there, *new])
    with ws.own_journal.doing("import", remark, run=run.name):
        insert_blocks(ws.own_journal, run)


def take_settings_back(ws: Workspace, run: Run) -> None:
    """Removes the items that a run added to config.toml."""
    for key, items in reversed([*run.settings.items()]):
        there = list_in_config(ws.config, key)
        if not set(items).isdisjoint(there):
            write_setting(ws.config.home, key, [item for item in there if item not in items])


def texts_beside_notes(
    folder: Path, globs: Iterable[str], *, text_files: bool
) -> Iterator[tuple[str, str]]:
    """Yields (path, reason) of the texts of a folder that are not read where they lie: those
    that these globs leave out, and those that are not Markdown.
    """
    excluding = Roots({"": folder}, globs, text_files)
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(at, name).relative_to(folder).as_posix()
            if not name.startswith(".") and name.lower().endswith(ENDINGS):
                if not excluding.reads(name):
                    why = "only Markdown is read where it lies; import the file itself"
                    if name.lower().endswith(TEXTS):
                        why = "`text_files = true` in config.toml reads it where it lies"
                    yield path, why
                elif withholds(excluding, path):
                    yield path, "it is a template, or a backup of the program"


def count_notes(config: Config, root: Path, globs: Iterable[str] = ()) -> int:
    """Counts the notes in a folder that a person wants to add to the setting `sources`, without
    those that match these globs.

    Raises InvalidArgument for a folder without notes, and for one that holds the home.
    """
    roots = Roots({"": root}, (*config.exclude, *globs), config.text_files)
    notes = len(scan_notes(roots)) if root.is_dir() else 0
    if not notes or config.home.is_relative_to(root):
        why = "Synaptic's own home" if notes else "no Markdown"
        raise InvalidArgument(f"{root} holds {why}.", "Give the folder of the notes.")
    return notes
