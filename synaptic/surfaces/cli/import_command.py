"""`synaptic import`: what is there, what would come, the question, and what was done."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import InvalidArgument, ModelError, one_of
from ...models import SESSIONS
from ...readers.record import IN_PLACE, READERS
from ...verbs import importing
from ...workspace.embed import embed_pending
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from ..render import terminal, wire
from ..render.present import clean
from .replies import agreed, answer

SHOWN = 5
"""Projects and skipped records that are named."""
_SAID = {
    "new": "new",
    "grown": "say more now",
    "known": "here already",
    "edited": "edited since, and left alone",
    "deleted": "deleted before, and not brought back",
    "others": "of other projects",
}


def run(
    ws: Workspace,
    *,
    as_json: bool,
    dry_run: bool,
    yes: bool,
    source: str | None = None,
    place: str | None = None,
    undo: str | None = None,
    **given: Any,
) -> int:
    """The exit status."""
    progress = terminal.progress()
    if undo is not None:
        if source:
            raise InvalidArgument(
                "--undo takes the name of a run and nothing else.", hint=f"Leave out {source}."
            )
        if as_json or agreed("import --undo", f"Take {undo} back?", yes=yes):
            _undo(ws, undo, as_json)
        return 0
    if source is None:
        _list_sources(ws, as_json)
        return 0
    if one_of((*IN_PLACE, *READERS), source, "source") in IN_PLACE:
        return _in_place(ws, source, place, dry_run=dry_run, yes=yes, as_json=as_json)
    for done in importing.resume(ws, progress) if not dry_run else ():
        terminal.say(f"note: The import {done.run} had been interrupted and is finished now.")
    planned = importing.plan(
        ws, source, Path(place) if place else None, progress=progress, **given
    )
    if not as_json:
        terminal.emit(_plan_text(planned))
    coming = len(planned.new) + len(planned.grown)
    if dry_run or not coming:
        answer(_plan_json(planned), "")
        return 0
    if not (as_json or agreed("import", f"Import {coming:,}?", yes=yes)):
        return 0
    try:
        done = importing.run(ws, planned, progress)
    except KeyboardInterrupt:
        for run in ws.journal.runs.open():
            undoes = f"`synaptic import --undo {run.name}` takes it back"
            terminal.say(f"\nInterrupted. The same import goes on, {undoes}.")
        raise
    in_step(ws, lambda _: None)
    data = _plan_json(planned)
    data["skipped"] += [{"where": where, "why": why} for where, why in done.skipped]
    answer(data | {"success": True, "run": done.run}, clean(_done_text(done)))
    with suppress(ModelError):  # a search says so
        ws.embedder.load()
        embed_pending(ws, budget_s=None, progress=progress)
    return 0


def _undo(ws: Workspace, name: str, as_json: bool) -> None:
    back = importing.undo(ws, name, terminal.progress())
    text = f"Took back {back.entries:,} of {back.run}; the same import brings them again."
    answer({"success": True} | wire.as_json(back), clean(text + kept_text(back)))


def _list_sources(ws: Workspace, as_json: bool) -> None:
    """Answers with the programs on this machine whose records can be imported."""
    for run in ws.journal.runs.open():
        terminal.say(
            f"note: The import {run.name} was interrupted. `synaptic doctor --fix` finishes it."
        )
    sources = list(importing.look_around(terminal.progress()))
    lines = [_source_text(source) for source in sources]
    lines.append("`synaptic import SOURCE` shows what would come, and asks.")
    if not sources:
        lines = ["No program has left anything here that can be read."]
    answer({"found": wire.as_json(sources)}, "\n".join(lines))


def _done_text(done: importing.Done) -> str:
    text = f"Imported {done.entries:,}."
    if done.run:
        text += f" `synaptic import --undo {done.run}` takes the new ones back."
    for where, why in done.skipped[:SHOWN]:
        text += f"\nA picture was left out, {where}: {why}."
    more = len(done.skipped) - SHOWN
    if more > 0:
        text += f"\n{more:,} more pictures were left out."
    return text


def kept_text(done: importing.Done) -> str:
    """A line for each entry that stays."""
    return "".join(f"\n  stays: {id[9:]} {title} ({why})" for id, title, why in done.kept)


def offer() -> None:
    """Names the agents whose sessions on this machine can be imported."""
    for source in SESSIONS:
        if importing.places_of(source):
            terminal.say(f"`synaptic import {source}` shows its sessions here, and asks.")


def _in_place(
    ws: Workspace, source: str, place: str | None, *, dry_run: bool, yes: bool, as_json: bool
) -> int:
    found = [] if place else importing.vaults()
    if not place and (source != "obsidian" or len(found) != 1):
        known = "; ".join(map(str, found))
        raise InvalidArgument(
            f"Which folder?{f' Obsidian knows {known}.' if known else ''}",
            hint="Name it as PATH.",
        )
    folder = Path(place) if place else found[0]
    notes = importing.read_in_place(ws.config, folder, dry_run=True)
    text = (
        f"{folder}: {notes:,} Markdown files, to be read where they are; Synaptic writes "
        f"nothing there."
    )
    if not as_json:
        terminal.emit(clean(text))
    if not dry_run and (as_json or agreed("import", "Read them from now on?", yes=yes)):
        importing.read_in_place(ws.config, folder)
        text = (
            "`synaptic rebuild-index` embeds them at once; taken out of `sources` in "
            "config.toml "
            "they are gone."
        )
        answer({"success": True, "files": notes}, f"Done. {text}")
    return 0


def _source_text(source: wire.Json) -> str:
    noun = "entry" if source["records"] == 1 else "entries"
    count = f"{source['records']:,} {noun}"
    days = f"{source['since']} to {source['until']}"
    return clean(f"{source['source']}: {count}, {days}, in {source['place']}")


def _plan_text(planned: importing.ImportPlan) -> str:
    counts = [
        f"{planned.counts[state]:,} {said}"
        for state, said in _SAID.items()
        if planned.counts[state]
    ]
    lines = [f"{planned.source}: {', '.join(counts) or 'nothing'}"]
    if entries := [one.entry for one in planned.new]:
        projects = Counter(entry.project or "no project" for entry in entries)
        most = ", ".join(f"{name} {count:,}" for name, count in projects.most_common(SHOWN))
        most += f" and {len(projects) - SHOWN} more" if len(projects) > SHOWN else ""
        lines.append(f"From {entries[0].date} to {entries[-1].date}; {most}.")
        some = {
            entry.id: entry for entry in (entries[0], entries[len(entries) // 2], entries[-1])
        }
        lines += [f"  {entry.date} {entry.type}: {entry.title}" for entry in some.values()]
    if planned.skipped:
        lines.append(f"{len(planned.skipped):,} cannot be taken:")
        lines += [f"  {where}: {why}" for where, why in planned.skipped[:SHOWN]]
    lines += [f"{told} Texts: {count:,}." for told, count in planned.screened.items()]
    return clean("\n".join(lines))


def _plan_json(planned: importing.ImportPlan) -> wire.Json:
    data: wire.Json = {
        "source": planned.source,
        "places": wire.as_json(planned.places),
        **planned.counts,
    }
    data["examples"] = [
        {"path": one.path}
        | {name: getattr(one.entry, name) for name in ("date", "type", "title")}
        for one in planned.new[:3]
    ]
    return data | {
        "screened": dict(planned.screened),
        "skipped": [{"where": where, "why": why} for where, why in planned.skipped],
    }
