"""The command `synaptic import`: lists sources, shows the plan, asks, writes and reports."""

import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from ...cli.replies import IN_JSON, ask_agreement, can_ask, print_answer, print_undoable
from ...config import load_config
from ...errors import InvalidArgument, ModelError
from ...files import real_path
from ...journal.backups import how_to_go_back, is_backup
from ...journal.names import printable_path
from ...journal.runs import Run, open_import_runs
from ...journal.settings import write_setting
from ...models import Json, short_id
from ...notes.amounts import read_hours_in_text
from ...notes.blocks import find_tags
from ...render import terminal, wire
from ...render.fence import clean
from ...serving.arguments import is_person
from ...serving.failures import to_synaptic_error
from ...workspace.embed import embed_pending
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace, open_workspace
from . import import_runs, in_place
from .adopt import left_out_globs
from .known_entries import STATES
from .readers.archive import ZIP_ERRORS
from .readers.choice import NOT_READ, READABLE, Chosen
from .readers.record import IN_PLACE, MEMORIES, readers_by_source

NAMED, EXAMPLES, MOST_NAMED = 5, 3, 20
"""The most projects that are listed by name, the most entries and files that are shown as
examples, and the most lines on what is left out.
"""
WITH_OWN_SIGNS = ("jrnl",)
"""Sources in which `@name` is a tag, and `(2h)` a time that was worked."""


def run_import(
    ws: Workspace,
    *,
    dry_run: bool,
    yes: bool,
    words: Sequence[str] = (),
    undo: str | None = None,
    **choices: Any,
) -> int:
    """Runs `synaptic import`: lists sources, shows the plan, asks, writes or undoes an import;
    returns the exit status.
    """
    if undo == "":
        _list_runs(ws)
        return 0
    if undo is not None:
        _undo_run(ws, undo, yes=yes)
        return 0
    if not words:
        _list_sources(ws)
        return 0
    source, paths = _split_words(words)
    for path in paths:
        _refuse_backup(ws, path)
    if not dry_run:
        for name in import_runs.resume_runs(ws):
            terminal.say(f"note: The import {name} had been interrupted and is finished now.")
    if source in IN_PLACE:
        _add_folders_in_place(ws, source, paths, dry_run=dry_run, yes=yes)
        return 0
    progress = terminal.build_progress_report()
    if source:
        planned = import_runs.plan_import(ws, source, *paths, progress=progress, **choices)
    else:
        planned = import_runs.plan_files(ws, *paths, progress=progress, **choices)
    if not IN_JSON.get():
        terminal.emit(_format_plan(planned))
    coming = len(planned.new) + len(planned.grown)
    if dry_run or not coming:
        print_answer(_import_plan_json(planned), "")
    elif ask_agreement("import", f"Import {coming:,}?", yes=yes):
        _write_planned(ws, planned)
        if not {*planned.sources}.isdisjoint(WITH_OWN_SIGNS):
            _propose_settings(ws, planned, yes=yes)
    return 0 if source or planned.chosen else 1


def _list_runs(ws: Workspace) -> None:
    """Prints the imports that can be taken back."""
    runs = open_import_runs(ws.journal.state)
    rows = [(name, _describe_run(runs.get(name))) for name in runs.newest_first()]
    print_undoable("import", rows)


def _undo_run(ws: Workspace, name: str, *, yes: bool) -> None:
    """Takes an import back, after asking, and says what stays. Raises InvalidArgument."""
    import_runs.find_import(ws, name)  # before the question
    if not ask_agreement("import --undo", f"Take {name} back?", yes=yes):
        return
    back = import_runs.undo_import(ws, name, confirms=is_person())
    lines = [f"Took back {back.entries:,} of {back.run}; the same import brings them again."]
    if back.notices:
        lines = [*back.notices]
    lines += [f"  stays: {id[9:]} {title} ({why})" for id, title, why in back.kept]
    print_answer({"success": True} | wire.as_json(back), clean("\n".join(lines)))


def _write_planned(ws: Workspace, planned: import_runs.ImportPlan) -> None:
    """Writes what was planned, says what was done and left out, and indexes it."""
    planned_skips = len(planned.skipped)
    done = import_runs.write_plan(ws, planned)
    lines = [_format_done(done)]
    for where, why in planned.skipped[planned_skips:]:
        lines.append(f"A file was left out, {where}: {why}.")
    data = _import_plan_json(planned) | {"success": True, "run": done.run}
    print_answer(data, clean("\n".join(lines)))
    _index_imported(ws)


def _split_words(words: Sequence[str]) -> tuple[str, list[Path]]:
    """Splits the words of the command into (source, paths): the first word is a source if one
    has this name, else all are paths and the source is ""; of one folder of notes that another
    program keeps, its own.

    Raises InvalidArgument for a word that is neither a source nor looks like a path.
    """
    sources = (*IN_PLACE, *readers_by_source())
    first, *others = words
    source = first.lower()
    if source in sources:
        if not others and Path(first).exists():
            terminal.say(f"note: {source} is read as a program. For the folder: ./{first}")
        return source, [Path(word) for word in others]
    if {*first}.isdisjoint("~./\\") and not Path(first).exists():
        raise InvalidArgument(
            f"There is no file or folder {first!r} here, and no source of this name.",
            "Give the path of a file or folder, or one of these sources.",
            valid=sources,
        )
    paths = [Path(word) for word in words]
    vault = "" if others else in_place.source_of_folder(paths[0].expanduser())
    return vault, paths


def _refuse_backup(ws: Workspace, path: Path) -> None:
    """Raises InvalidArgument, which says how to use it, for the zip of a backup."""
    file = path.expanduser()
    names: list[str] = []
    with suppress(OSError, *ZIP_ERRORS):
        if file.is_file() and zipfile.is_zipfile(file):  # a pipe would wait for its writer
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
    if is_backup(names):
        message = f"{path} is a backup of Synaptic; nothing of it is imported."
        raise InvalidArgument(message, how_to_go_back(ws.config))


def _propose_settings(ws: Workspace, planned: import_runs.ImportPlan, *, yes: bool) -> None:
    """Asks a person if `@name` and `(2h)` shall mean in all notes from now on what they meant
    in the imported program. Imported texts without them bring no question.
    """
    entries = [one.entry for one in (*planned.new, *planned.grown)]
    with_signs = {f"import:{source}" for source in WITH_OWN_SIGNS}
    of_diary = [entry for entry in entries if entry.via in with_signs]
    own = [{*entry.tags} - {*find_tags(entry.content)} for entry in of_diary]  # not `#name`
    names = Counter(chain.from_iterable(own))
    if names and not ws.config.at_tags:
        [(name, _)] = names.most_common(1)
        does = f"makes @{name}, as in your diary, a tag in all notes"
        _propose_setting(ws, "at_tags", does, yes=yes)
    texts = [entry.content for entry in entries]
    if not ws.config.hours_in_text and any(map(read_hours_in_text, texts)):
        does = "lets `synaptic find --sum hours` count times like (2h), as in your diary"
        _propose_setting(ws, "hours_in_text", does, yes=yes)


def _propose_setting(ws: Workspace, name: str, does: str, *, yes: bool) -> None:
    """Names a switch of config.toml, and what it does, and sets it if a person says yes: who
    does not answer can set it later.
    """
    path = ws.config.home / "config.toml"
    terminal.say(f"note: `{name} = true` in {path} {does}.")
    if not yes and can_ask() and typer.confirm("Write that now?", default=True, err=True):
        write_setting(ws.config.home, name, True)
        terminal.say(f"Wrote {name} = true into config.toml.")


def _index_imported(ws: Workspace) -> None:
    """Indexes and embeds the imported entries. If the disk is full, the import stays and a note
    says that the index is updated later.
    """
    try:
        in_step(ws, lambda _: None)
        with suppress(ModelError):  # a search says so
            ws.embedder.load()
            embed_pending(ws, budget_s=None, progress=terminal.build_progress_report())
    except Exception as error:
        own = to_synaptic_error(error)
        if not own:
            raise
        terminal.say(f"note: The entries are imported, but not all are indexed. {own}")


def _list_sources(ws: Workspace) -> None:
    """Prints the programs on this machine whose data can be imported."""
    for run in open_import_runs(ws.journal.state).open():
        terminal.say(
            f"note: The import {run.name} was interrupted. `synaptic doctor --fix` finishes it."
        )
    rows = list(import_runs.list_importable_data(ws.config, terminal.build_progress_report()))
    lines = []
    for one in rows:
        count = terminal.entry_count_text(one["records"])
        days = f"{one['since']} to {one['until']}"
        lines.append(f"{one['source']}: {count}, {days}, in {one['place']}")
    lines.append("`synaptic import SOURCE` shows what would come, and asks.")
    if not rows:
        lines = ["No data of a program that can be imported was found on this machine."]
    print_answer({"found": wire.as_json(rows)}, clean("\n".join(lines)))


def _describe_run(run: Run) -> str:
    """The folders that are read where they lie, else the number of imported entries."""
    if run.settings:
        return f"read where they lie: {', '.join(run.settings.get('sources', ()))}"
    return terminal.entry_count_text(len(run.blocks))


def _format_done(done: import_runs.Done) -> str:
    sentences = [f"Imported {done.entries:,}."]
    if done.run:
        sentences.append(f"`synaptic import --undo {done.run}` takes the new ones back.")
    if done.corrected:
        ids = [short_id(id) for id in done.corrected]
        more = f" and {len(ids) - NAMED:,} more" if ids[NAMED:] else ""
        sentences.append(
            f"`synaptic restore ID` gives a corrected one its text from before: "
            f"{', '.join(ids[:NAMED])}{more}."
        )
    return " ".join(sentences)


def format_found_sources(files_by_source: Mapping[str, int]) -> str:
    """Lists the sources that are not imported yet, each with its number of files."""
    counts = [f"{source} ({files:,})" for source, files in files_by_source.items()]
    return f"Not imported yet, with the number of files: {', '.join(counts)}."


def offer_sources(home: str | None, *, wanted: bool | None) -> Json:
    """Lists the data of other programs on this machine; imports it if `wanted`, or after asking
    a person if `wanted` is None. Returns JSON.

    The files of each source, and the new entries.
    """
    config = load_config(home)
    left = import_runs.count_unimported_files(config)
    new: dict[str, int] = {}
    if left:
        terminal.say(format_found_sources(left))
        if wanted is None and can_ask():
            wanted = typer.confirm("Import it now?", default=False, err=True)
        if not wanted:
            terminal.say("`synaptic setup --import` takes it in, `synaptic import` lists it.")
    if not (left and wanted):
        return {"found": left, "imported": new}
    with open_workspace(config) as ws:
        for source in left:
            if source == "memories":
                lines = [*import_runs.find_new_memories(config)]
                settings = in_place.settings_to_read(config, lines)
                in_place.read_in_place(ws, source, settings)
                terminal.say("Agents' own memories are read where they are from now on.")
                continue
            with suppress(InvalidArgument):  # nothing in it is of this program
                planned = import_runs.plan_import(
                    ws, source, progress=terminal.build_progress_report()
                )
                new[source] = len(planned.new)
                terminal.say(f"{source}: {_format_done(import_runs.write_plan(ws, planned))}")
        _index_imported(ws)
    return {"found": left, "imported": new}


def _add_folders_in_place(
    ws: Workspace, source: str, places: Sequence[Path], *, dry_run: bool, yes: bool
) -> None:
    """Has the notes of a program read where they lie from now on, after asking."""
    skipped: list[tuple[str, str]] = []
    if source == "memories":
        if places:
            raise InvalidArgument(
                f"memories are read where agents keep them; {places[0]} is not read so.",
                f"Leave the path out, or the source: synaptic import {places[0]}",
                valid=[f"~/{pattern}" for pattern in MEMORIES.values()],
            )
        new = import_runs.find_new_memories(ws.config)
        lines = [*new]
        count = sum(map(len, new.values()))
        settings = in_place.settings_to_read(ws.config, lines)
    else:
        folder = _folder_in_place(ws, source, places)
        if real_path(folder) in map(real_path, ws.config.sources.values()):
            print_answer({"success": True, "files": 0}, f"{folder} is read already.")
            return
        lines = [str(folder)]
        globs, remarks = left_out_globs(folder) if folder.is_dir() else ([], [])
        count = in_place.count_notes(ws.config, folder, globs)
        settings = in_place.settings_to_read(ws.config, lines)
        text_files = ws.config.text_files
        skipped += in_place.texts_beside_notes(folder, globs, text_files=text_files)
        for remark in remarks:
            terminal.say(remark)
    named = clean(", ".join(lines) or "nothing new")
    terminal.say(f"{count:,} Markdown files, to be read where they are: {named}")
    for line in _skipped_lines(skipped):
        terminal.say(clean(line))
    text = ""
    run = ""
    if lines and not dry_run and ask_agreement("import", "Read them?", yes=yes):
        run = in_place.read_in_place(ws, source, settings)
        text = (
            "Done. `synaptic rebuild-index` embeds them at once. "
            f"`synaptic import --undo {run}` takes it back."
        )
    left_out = [{"where": where, "why": why} for where, why in skipped]
    data = {"success": True, "files": count, "source": source, "skipped": left_out}
    print_answer(data | ({"run": run} if run else {}), text)


def _folder_in_place(ws: Workspace, source: str, places: Sequence[Path]) -> Path:
    """The folder of the notes that are to be read where they lie."""
    folders = [place.expanduser().absolute() for place in places]
    if source == "obsidian" and not places:
        folders = import_runs.find_obsidian_vaults()
    if len(folders) != 1:
        named = "; ".join(map(str, folders)) or "no folder"
        raise InvalidArgument(
            f"{source} has {named} on this machine; exactly one must be chosen.",
            f"Give the folder of the notes: synaptic import {source} PATH",
        )
    if folders[0].suffix.lower() == ".zip" and not folders[0].is_dir():
        raise InvalidArgument(
            f"{folders[0]} is a zip; {source} takes a folder.",
            "Unpack it and give that folder.",
        )
    return folders[0]


def _format_plan(planned: import_runs.ImportPlan) -> str:
    counts = []
    for state, words in STATES.items():
        if planned.counts[state]:
            counts.append(f"{planned.counts[state]:,} {words}")
    lines = [*map(_chosen_line, planned.chosen)]
    lines.append(f"{planned.name}: {', '.join(counts) or 'nothing'}")
    entries = [one.entry for one in planned.new]
    if entries:
        projects = Counter(entry.project or "no project" for entry in entries)
        most = ", ".join(f"{name} {count:,}" for name, count in projects.most_common(NAMED))
        if len(projects) > NAMED:
            most += f" and {len(projects) - NAMED} more"
        lines.append(f"From {entries[0].date} to {entries[-1].date}; {most}.")
    lines += [f"  {entry.date} {entry.type}: {entry.title}" for entry in entries[:EXAMPLES]]
    lines += _skipped_lines(planned.skipped)
    if _has_unknown_kind(planned):
        lines.append(f"What is read: {READABLE}.")
    lines += [f"{notice} Texts: {count:,}." for notice, count in planned.screened.items()]
    return clean("\n".join(lines))


def _has_unknown_kind(planned: import_runs.ImportPlan) -> bool:
    return any(why.endswith(NOT_READ) for _, why in planned.skipped)


def _chosen_line(chosen: Chosen) -> str:
    """Says which files a reader reads."""
    names = [printable_path(f"{chosen.within}{name}") for name in chosen.names]
    more = f" and {len(names) - NAMED:,} more" if names[NAMED:] else ""
    return f"Read as {chosen.source}: {', '.join(names[:NAMED])}{more}"


def _skipped_lines(skipped: Sequence[tuple[str, str]]) -> list[str]:
    """Names what is left out with the reason; of a long list the number and the first names by
    reason, the most frequent first.
    """
    if not skipped:
        return []
    lines = [f"{len(skipped):,} left out:"]
    places = [(printable_path(where), why) for where, why in skipped]
    if len(places) <= MOST_NAMED:
        return [*lines, *(f"  {where}: {why}" for where, why in places)]
    by_reason: dict[str, list[str]] = {}
    for where, why in places:
        by_reason.setdefault(why, []).append(where)
    for why, names in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        more = ", ..." if names[EXAMPLES:] else ""
        lines.append(f"  {len(names):,}, {why}: {', '.join(names[:EXAMPLES])}{more}")
    if len(lines) > MOST_NAMED:
        lines[MOST_NAMED:] = [f"  and {len(lines) - MOST_NAMED:,} more reasons, in --json"]
    return lines


def _import_plan_json(planned: import_runs.ImportPlan) -> Json:
    examples = []
    for path, entry, _ in planned.new[:EXAMPLES]:
        marks = {name: getattr(entry, name) for name in ("date", "type", "title")}
        examples.append({"path": path} | marks)
    return {
        "source": planned.name,
        "chosen": [
            {"source": one.source, "files": [f"{one.within}{name}" for name in one.names]}
            for one in planned.chosen
        ],
        "places": wire.as_json(planned.places),
        **planned.counts,
        "examples": examples,
        "screened": dict(planned.screened),
        "skipped": [{"where": where, "why": why} for where, why in planned.skipped],
        **({"readable": READABLE} if _has_unknown_kind(planned) else {}),
    }
