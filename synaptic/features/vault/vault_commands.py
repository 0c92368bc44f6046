"""The commands `rename` and `tags`; a rename shows what would change, asks and does it."""

from __future__ import annotations

from functools import partial

from ...cli import flags as f
from ...cli.flags import argument, option, switch
from ...cli.program import command
from ...cli.replies import (
    IN_JSON,
    ask_agreement,
    change_all,
    empty_journal_text,
    output_for_workspace,
    print_answer,
)
from ...errors import InvalidArgument, NotFound
from ...filters import Filters
from ...notes.screening import visible_secrets
from ...render import terminal, wire
from ...render.fence import clean
from ...render.present import join_first
from ...render.terminal import say
from ...serving.arguments import agent_name, is_person
from ...verbs import browse, changing
from ...verbs.doctor import places_of_words
from ...verbs.exports import export
from ...workspace import many_edits
from ...workspace.many_edits import EditPlan
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from . import plan_rename, plan_words
from .retagging import plan_tag_rename

SECRET_PLACES = 5
"""The most places that are named of those that still hold a secret."""
MOST_LINES = 40
"""The most changed lines that are listed before the question. `--dry-run` lists all."""

_NEXT = {
    "rename": "`synaptic review` mends its links",
    "tags": "rename the tag once more",
    "words": "replace them once more",
}
"""The next step for a file that a rename left."""


@command(
    "rename",
    argument(
        str | None, "note", "NOTE", "Its path, name, title, alias or id; or a folder: people/."
    ),
    argument(
        str | None,
        "new",
        "NEW",
        "A name or title; with / a path from the journal's folder on, or a folder: archive/.",
    ),
    switch("words", "Replace the words NOTE by NEW in all texts and titles; #tags, too."),
    f.DRY_RUN,
    f.YES,
)
def _rename(
    ws: Workspace,
    *,
    dry_run: bool,
    yes: bool,
    words: bool = False,
    note: str = "",
    new: str = "",
) -> None:
    """Rename a note, an entry or a folder, and all links to it; or replace words.

    It shows the lines that would change, and asks. Code, private passages
    (<private>...</private>) and sources that are only read stay as they are. `undo` takes it
    back.

    Example: synaptic rename "Roger Zelazny" "Zelazny, Roger" --dry-run
    """
    if not (note and new):
        raise InvalidArgument(
            "rename takes a note or a folder, and its new name.",
            valid=("rename NOTE NEW", "rename FOLDER NEW", "rename --words OLD NEW"),
            hint='For example: synaptic rename "Zelazny" "Roger Zelazny" --dry-run',
        )
    try:
        plan = (plan_words if words else plan_rename)(ws, note, new, is_person())
    except NotFound as error:
        if not words:
            error.hint += f' In texts: synaptic rename --words "{note}" "{new}"'
        raise
    return _carry_out(ws, plan, "rename", dry_run=dry_run, yes=yes)


@command(
    "tags",
    option(
        tuple[str, str] | None,
        "rename",
        "Rename a tag, and the tags below it, in all notes; or a project.",
        metavar="OLD NEW",
    ),
    f.DRY_RUN,
    f.YES,
)
def _tags(
    ws: Workspace, *, dry_run: bool, yes: bool, rename: tuple[str, str] | None = None
) -> None:
    """Count types, tags and projects; rename a tag or a project.

    Example: synaptic tags --rename db databases --dry-run
    """
    if rename and _is_project(ws, rename[0]):
        return _rename_project(ws, *rename, dry_run=dry_run, yes=yes)
    if rename:
        plan = plan_tag_rename(ws, *rename, confirms=is_person())
        return _carry_out(ws, plan, "tags", dry_run=dry_run, yes=yes)
    facets = browse.find(ws, facets=True, limit=1).facets
    assert facets
    text = empty_journal_text(ws) or terminal.facets_text(facets, output_for_workspace(ws))
    return print_answer(wire.facets_json(facets), text)


def _is_project(ws: Workspace, name: str) -> bool:
    """True if a project is called so, and no tag."""
    names = in_step(ws, lambda _: ws.index.vocabulary())
    return name.lower() in names.projects and name.lower().lstrip("#") not in names.tags


def _rename_project(
    ws: Workspace, old_name: str, new_name: str, *, dry_run: bool, yes: bool
) -> None:
    """Moves the entries of a project to another, one by one, as `update --project` does. Those
    of sources, which are only read, keep it.
    """
    filters = Filters(projects=(old_name,), include_superseded=True)
    is_source = ws.journal.roots.split_path
    ids = [
        entry.id
        for entry in export(ws, filters, with_text=False)
        if (entry.project or "").lower() == old_name.lower() and not is_source(entry.path)[0]
    ]
    number = terminal.entry_count_text(len(ids))
    text = f"{number} would move from project {old_name} to {new_name}."
    if dry_run or not ids:
        return print_answer({"entries": ids}, text)
    if not yes:
        say(text)
    if not ask_agreement("tags", "Move them?", yes=yes):
        return None
    change = partial(
        changing.update, ws, by_person=not agent_name(), confirms=is_person(), project=new_name
    )
    return change_all(ws, "update", "Updated", ids, change)


def _carry_out(
    ws: Workspace, plan: EditPlan, command: str, *, dry_run: bool, yes: bool
) -> None:
    data = plan_json(plan)
    text = plan_text(plan, most=None if dry_run else MOST_LINES)
    if dry_run:
        return print_answer(data, text, plan.notices)
    if not (yes or IN_JSON.get()):
        print_answer({}, text, plan.notices)
    if not ask_agreement(command, "Change them?", yes=yes):
        return None
    secrets = _secrets_in_notes(ws, plan)
    done = many_edits.make_edits(ws, plan)
    notices = _notices_of_secrets(ws, secrets - _secrets_in_notes(ws, plan))
    done_text = "Done."
    if yes:  # nothing was shown before
        done_text = f"{plan_text(plan, MOST_LINES, is_done=True)}\n"
        notices = [*plan.notices, *notices]
    done_text += f"{' ' * (not yes)}`synaptic undo {done.run}` takes it back."
    for path in done.stay:
        done_text += (
            f"\n  stays: {path} (a program changed it again and again; {_NEXT[plan.kind]})"
        )
    answer = {"success": True, "run": done.run, "stay": list(done.stay)}
    return print_answer(answer | data | {"notices": notices}, clean(done_text), notices)


def _secrets_in_notes(ws: Workspace, plan: EditPlan) -> set[str]:
    """What looks like a secret in the notes in which a plan replaces words."""
    secrets = set()
    for path in {line.path for line in plan.lines if plan.kind == "words"}:
        text = ws.journal.read(path).decode("utf-8", "replace")
        secrets |= {text[secret.start : secret.end] for secret in visible_secrets(text)}
    return secrets


def _notices_of_secrets(ws: Workspace, removed: set[str]) -> list[str]:
    """A sentence on where secrets still stand that were replaced in the notes."""
    places = [place for secret in sorted(removed) for place in places_of_words(ws, secret)]
    if not removed:
        return []
    named = join_first([*dict.fromkeys(places)], SECRET_PLACES)
    return [
        f"What looks like a secret still stands in: {named}. "
        "`synaptic doctor --secrets` says how each goes; change the secret itself."
    ]


def plan_text(plan: EditPlan, most: int | None = None, *, is_done: bool = False) -> str:
    """The files and lines of a plan, or of one that was carried out; of the lines at most so
    many.
    """
    rows = [f"{path} -> {to}" for path, to in plan.moves.items() if path != to]
    if plan.folder and most is not None:
        files = "1 file" if len(rows) == 1 else f"{len(rows):,} files"
        rows = [f"{plan.folder.path}/ -> {plan.folder.to}/ ({files})"]
    for line in plan.lines[:most]:
        rows += [f"{line.path}:{line.line}", f"  - {line.before}", f"  + {line.after}"]
    if most is not None and len(plan.lines) > most:
        rows.append(f"and {len(plan.lines) - most:,} lines more; --dry-run lists all.")
    if plan.stays:
        rows.append("Not changed:")
        rows += [f"  {stay.path}:{stay.line} ({stay.why})" for stay in plan.stays[:most]]
        broken = sum(stay.why != many_edits.IN_CODE for stay in plan.stays)
        if broken and plan.kind == "rename":
            links = "1 link" if broken == 1 else f"{broken:,} links"
            rows.append(
                f"{links} {'broke' if is_done else 'will break'}: "
                "write the new name there in your editor."
            )
    lines = "1 line" if len(plan.lines) == 1 else f"{len(plan.lines):,} lines"
    files = "1 file" if plan.file_count == 1 else f"{plan.file_count:,} files"
    if plan.lines:
        rows.append(f"{lines} in {files} {'changed' if is_done else 'would change'}.")
    else:
        rows.append("No link had to change." if is_done else "No link has to change.")
    return clean("\n".join(rows))


def plan_json(plan: EditPlan) -> dict[str, object]:
    """The files and lines of a plan as JSON."""
    return {
        "moves": [{"from": path, "to": to} for path, to in plan.moves.items()],
        "changes": wire.as_json(plan.lines),
        "stays": wire.as_json(plan.stays),
        "notices": list(plan.notices),
    }
