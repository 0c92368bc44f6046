"""The command `synaptic import`: lists sources, shows the plan, asks, writes and reports."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from ...cli.replies import IN_JSON, ask_agreement, can_ask, print_answer, print_undoable
from ...config import load_config
from ...errors import InvalidArgument, ModelError, match_valid_name, to_synaptic_error
from ...journal.settings import write_setting
from ...models import Json
from ...notes.amounts import read_hours_in_text
from ...notes.blocks import find_at_tags
from ...render import terminal, wire
from ...render.fence import clean
from ...serving.arguments import is_person
from ...workspace.embed import embed_pending
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace, open_workspace
from . import import_runs
from .readers.record import IN_PLACE, readers_by_source

NAMED, EXAMPLES = 5, 3
"""The most projects and skipped records that are listed by name, and the most entries that are
shown as examples.
"""
WITH_OWN_SIGNS = ("jrnl",)
"""Sources in which `@name` is a tag, and `(2h)` a time that was worked."""


def run_import(
    ws: Workspace,
    *,
    dry_run: bool,
    yes: bool,
    source: str | None = None,
    place: str | None = None,
    undo: str | None = None,
    **choices: Any,
) -> int:
    """Runs `synaptic import`: lists sources, shows the plan, asks, writes or undoes an import;
    returns the exit status.
    """
    yes = yes or IN_JSON.get()
    if undo == "":
        print_undoable("import", ws.journal.runs)
        return 0
    if undo is not None:
        import_runs.find_import(ws, undo)  # before the question
        if ask_agreement("import --undo", f"Take {undo} back?", yes=yes):
            back = import_runs.undo_import(ws, undo, confirms=is_person())
            text = (
                f"Took back {back.entries:,} of {back.run}; the same import brings them again."
            )
            for id, title, why in back.kept:
                text += f"\n  stays: {id[9:]} {title} ({why})"
            print_answer({"success": True} | wire.as_json(back), clean(text))
        return 0
    if source is None:
        _list_sources(ws)
        return 0
    if match_valid_name((*IN_PLACE, *readers_by_source()), source, "source") in IN_PLACE:
        return _add_folders_in_place(ws, source, place, dry_run=dry_run, yes=yes)
    if not dry_run:
        for name in import_runs.resume_runs(ws):
            terminal.say(f"note: The import {name} had been interrupted and is finished now.")
    path = Path(place) if place else None
    planned = import_runs.plan_import(
        ws, source, path, progress=terminal.build_progress_report(), **choices
    )
    if not IN_JSON.get():
        terminal.emit(_format_plan(planned))
    coming = len(planned.new) + len(planned.grown)
    if dry_run or not coming:
        print_answer(_import_plan_json(planned), "")
    elif ask_agreement("import", f"Import {coming:,}?", yes=yes):
        planned_skips = len(planned.skipped)
        done = import_runs.write_plan(ws, planned)
        lines = [_format_done(done)]
        for where, why in planned.skipped[planned_skips:]:
            lines.append(f"A picture was left out, {where}: {why}.")
        data = _import_plan_json(planned) | {"success": True, "run": done.run}
        print_answer(data, clean("\n".join(lines)))
        _index_imported(ws)
        if planned.source in WITH_OWN_SIGNS:
            _propose_settings(ws, planned, yes=yes)
    return 0


def _propose_settings(ws: Workspace, planned: import_runs.ImportPlan, *, yes: bool) -> None:
    """Asks a person if `@name` and `(2h)` shall mean in all notes from now on what they meant
    in the imported program. Imported texts without them bring no question.
    """
    texts = [one.entry.content for one in planned.new]
    names = Counter(chain.from_iterable(map(find_at_tags, texts)))
    if names and not ws.config.at_tags:
        [(name, _)] = names.most_common(1)
        _propose_setting(
            ws,
            "at_tags",
            f"Your diary has tags like @{name}. Shall @{name} be a tag in what you write from "
            "now on?",
            f"makes @{name} a tag in all notes",
            yes=yes,
        )
    if not ws.config.hours_in_text and any(map(read_hours_in_text, texts)):
        _propose_setting(
            ws,
            "hours_in_text",
            "Your diary has times like (2h). Shall they count as hours that `synaptic find "
            "--sum hours` adds up?",
            "lets `synaptic find --sum hours` count times like (2h)",
            yes=yes,
        )


def _propose_setting(ws: Workspace, name: str, question: str, does: str, *, yes: bool) -> None:
    """Sets a switch of config.toml if a person says yes; says how to set it, where nobody can
    be asked.
    """
    if not yes and can_ask() and typer.confirm(question, default=True, err=True):
        write_setting(ws.config.home, name, True)
        terminal.say(f"Wrote {name} = true into config.toml.")
    else:
        terminal.say(f"note: `{name} = true` in {ws.config.home / 'config.toml'} {does}.")


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
    for run in ws.journal.runs.open():
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


def _format_done(done: import_runs.Done) -> str:
    if not done.run:
        return f"Imported {done.entries:,}."
    back = f"`synaptic import --undo {done.run}` takes the new ones back."
    return f"Imported {done.entries:,}. {back}"


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
                import_runs.add_sources(config, import_runs.find_new_memories(config))
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
    ws: Workspace, source: str, place: str | None, *, dry_run: bool, yes: bool
) -> int:
    if source == "memories":
        new = import_runs.find_new_memories(ws.config)
        lines = [*new]
        count = sum(map(len, new.values()))
    else:
        folders = [Path(place).expanduser().absolute()] if place else []
        if source == "obsidian" and not place:
            folders = import_runs.find_obsidian_vaults()
        if len(folders) != 1:
            named = "; ".join(map(str, folders)) or "no folder"
            raise InvalidArgument(
                f"{source} has {named} on this machine; exactly one must be chosen.",
                f"Give the folder of the notes: synaptic import {source} PATH",
            )
        if folders[0].suffix.lower() == ".zip" and not folders[0].is_dir():
            from ...verbs.backup import how_to_go_back  # only this error needs it

            raise InvalidArgument(
                f"{folders[0]} is a zip; {source} takes a folder.",
                "Unpack it and give that folder. If it is a backup of Synaptic, import "
                f"nothing. {how_to_go_back(ws.config)}",
            )
        lines = [str(folders[0])]
        count = import_runs.count_notes(ws.config, folders[0])
    import_runs.add_sources(ws.config, lines, dry_run=True)
    named = clean(", ".join(lines) or "nothing new")
    terminal.say(f"{count:,} Markdown files, to be read where they are: {named}")
    text = ""
    if lines and not dry_run and ask_agreement("import", "Read them?", yes=yes):
        import_runs.add_sources(ws.config, lines)
        text = "Done. `synaptic rebuild-index` embeds them at once."
    print_answer({"success": True, "files": count}, text)
    return 0


def _format_plan(planned: import_runs.ImportPlan) -> str:
    counts = []
    for state, words in import_runs.STATES.items():
        if planned.counts[state]:
            counts.append(f"{planned.counts[state]:,} {words}")
    lines = [f"{planned.source}: {', '.join(counts) or 'nothing'}"]
    entries = [one.entry for one in planned.new]
    if entries:
        projects = Counter(entry.project or "no project" for entry in entries)
        most = ", ".join(f"{name} {count:,}" for name, count in projects.most_common(NAMED))
        if len(projects) > NAMED:
            most += f" and {len(projects) - NAMED} more"
        lines.append(f"From {entries[0].date} to {entries[-1].date}; {most}.")
    lines += [f"  {entry.date} {entry.type}: {entry.title}" for entry in entries[:EXAMPLES]]
    if planned.skipped:
        lines.append(f"{len(planned.skipped):,} cannot be taken:")
    lines += [f"  {where}: {why}" for where, why in planned.skipped[:NAMED]]
    lines += [f"{notice} Texts: {count:,}." for notice, count in planned.screened.items()]
    return clean("\n".join(lines))


def _import_plan_json(planned: import_runs.ImportPlan) -> Json:
    examples = []
    for path, entry, _ in planned.new[:EXAMPLES]:
        marks = {name: getattr(entry, name) for name in ("date", "type", "title")}
        examples.append({"path": path} | marks)
    return {
        "source": planned.source,
        "places": wire.as_json(planned.places),
        **planned.counts,
        "examples": examples,
        "screened": dict(planned.screened),
        "skipped": [{"where": where, "why": why} for where, why in planned.skipped],
    }
