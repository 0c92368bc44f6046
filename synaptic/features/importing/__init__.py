"""Takes in what others have written: folders of notes, sessions, memories, diaries, exports.

`import_runs` plans, runs and undoes an import; `readers/` reads the files of each program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...models import short_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ...journal.standing import LoggedRun
    from ...models import Entry, Json, Texts
    from ...workspace.importable import PlannedImport
    from ...workspace.workspace import Workspace

COMMANDS = dict.fromkeys(("import", "forget", "replay"), f"{__name__}.importing_commands") | {
    "init": f"{__name__}.init_command"
}


def recover(ws: Workspace) -> list[str]:
    """Finishes imports that were killed; returns the names of their runs."""
    from .import_runs import resume_runs

    return resume_runs(ws)


def catch_up(ws: Workspace) -> None:
    """Makes digests of the agent sessions that a hook noted."""
    from .import_runs import digest_noted_sessions

    digest_noted_sessions(ws)


def plan_uploads(ws: Workspace, folder: Path) -> PlannedImport:
    """Returns the plan that takes in the files which a person gave the page."""
    from .import_runs import plan_files
    from .uploaded import UploadedImport

    return UploadedImport(folder, plan_files(ws, folder))


def take_back_run(
    ws: Workspace, run: LoggedRun, confirms: bool
) -> tuple[Sequence[tuple[str, str]], Texts] | None:
    """Takes an import back; returns (the entries that stay, each with the reason; notices), or
    None for a run that is none. Before an import is done again its pictures are brought back.
    """
    if run.undone_verb == "import":
        from .import_runs import bring_pictures_of_run_back

        bring_pictures_of_run_back(ws, run.run)
    from ...journal.runs import open_import_runs

    if run.verb != "import" or run.run not in open_import_runs(ws.journal.state).names():
        return None
    from .import_runs import undo_import

    done = undo_import(ws, run.run, confirms=confirms)
    stay = [(f"{short_id(id)} {title}", why) for id, title, why in done.kept]
    return stay, done.notices


def news(ws: Workspace) -> list[str]:
    """Returns a sentence about other programs' data that could be imported; [] if there is
    none.
    """
    from .import_command import format_found_sources
    from .import_runs import count_unimported_files

    files = count_unimported_files(ws.config)
    return [f"{format_found_sources(files)} `synaptic import` lists them."] if files else []


def offer(home: str | None, wanted: bool | None) -> Json:
    """Lists the data of other programs on this machine and imports it if `wanted`, or after
    asking a person if `wanted` is None. Returns the imported files and new entries as JSON.
    """
    from .import_command import offer_sources

    return offer_sources(home, wanted=wanted)


def transcripts(ws: Workspace, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Returns these session digests with the transcript lines from which each was made as
    their text.
    """
    from .import_runs import with_transcripts

    return with_transcripts(ws, entries)
