"""The commands `import`, `forget` and `replay`."""

from __future__ import annotations

from typing import Any

from ...cli import flags as f
from ...cli.flags import PROJECT_COMPLETION, argument, option, text_option, texts_option
from ...cli.program import command
from ...cli.replies import ask_agreement, print_answer
from ...errors import NotFound
from ...models import SESSIONS, SearchResult
from ...render import terminal, wire
from ...render.fence import clean
from ...render.present import hit_items, list_lines, outline_text
from ...workspace.workspace import Workspace
from .readers.record import IN_PLACE, READERS


@command(
    "import",
    argument(
        list[str] | None,
        "words",
        "PATH",
        "Files or folders; the reader that fits it reads each. Before them may stand a source, "
        "which then reads all of them, or alone reads where its program keeps its data: "
        f"{', '.join((*READERS, *IN_PLACE))}.",
        **f.complete_from(lambda: (*READERS, *IN_PLACE)),
    ),
    f.DRY_RUN,
    text_option(
        "since", "Only records from this day on: 2026-01-01, last month.", metavar="DAY"
    ),
    texts_option(
        "project",
        "Only records of this project; records without a project get it. Repeatable.",
        **PROJECT_COMPLETION,
    ),
    text_option(
        "into",
        "A folder of the journal for new day files. [default: the journal's day files]",
        metavar="FOLDER",
    ),
    text_option(
        "undo", "Undo the import with this name; without a name list them.", metavar="NAME"
    ),
    f.YES,
)
def _import(ws: Workspace, **choices: Any) -> int:
    """Take in files, folders, and what other programs have written.

    It shows what would come and asks. Without PATH it says what it finds on this machine.

    Example: synaptic import ~/Notes --dry-run
    """
    from .import_command import run_import  # only this command needs it

    return run_import(ws, **choices)


@command(
    "forget",
    option(
        str,
        "session",
        "The client's id of the session, or the id of its digest.",
        default=...,
        metavar="ID",
    ),
    f.YES,
)
def _forget(ws: Workspace, yes: bool, session: str) -> None:
    """Remove the digests of an agent's session for good.

    The session is never imported again. The client keeps its transcript. To remove one entry
    with all copies here, use `synaptic delete ID --purge`.

    Example: synaptic forget --session 7k3m9q2x
    """
    from .import_runs import forget_session

    if ask_agreement("forget", f"Forget the session {session} for good?", yes=yes):
        done = forget_session(ws, session)
        text = f"Forgot the session. Its digests, removed with all copies here: {done.entries}."
        print_answer({"success": True} | wire.as_json(done), text, done.notices)


@command("replay", option(int | None, "prompts", "The newest N prompts. [default: 200]"))
def _replay(ws: Workspace, **choices: Any) -> None:
    """Measure on your agents' past sessions how often the memory would have helped.

    It asks each prompt again of the memory of its time, and counts how often the answer named a
    file that was edited later, or an error that was met later.

    Example: synaptic replay --prompts 100
    """
    from . import replay  # only this command needs it

    def show(result: SearchResult) -> str:
        """The text of an answer, as an agent reads it."""
        return "\n".join(list_lines(hit_items(result, length=280), 400))

    cases = replay.replay_prompts(
        ws, show, progress=terminal.build_progress_report(), **choices
    )
    if not cases:
        raise NotFound(
            "No session of an agent on this machine has a prompt that could be searched for.",
            valid=SESSIONS,
        )
    rows = replay.summarize_cases(cases)
    lines = [outline_text(rows)]
    ends = replay.pick_extreme_cases(cases)
    for end, some in ends.items():
        lines += [f"\n{end}:"]
        for case in some:
            named = ", ".join(case.named["memory"]) or f"none of {', '.join(case.later)}"
            prompt = " ".join(case.prompt.split())
            lines += [f"  {case.at:%Y-%m-%d %H:%M} {prompt:.70}\n    named {named:.90}"]
    print_answer({"table": rows, **wire.as_json(ends)}, clean("\n".join(lines)))
