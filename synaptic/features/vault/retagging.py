"""Renames a tag, with the tags below it, in all notes that the journal owns."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from ...errors import InvalidArgument, NotFound, Sentence
from ...models import Texts
from ...notes.blocks import TAG, check_tag
from ...notes.link_names import name_key
from ...notes.link_places import Splice, read_note_text
from ...workspace.many_edits import CannotEdit, Changes, EditedFile, EditPlan, Notes, plan_edits
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .tag_places import renamed_tag, splices_of_tag


def plan_tag_rename(
    ws: Workspace, old_tag: str, new_tag: str, *, confirms: bool = False
) -> EditPlan:
    """The plan by which the tag `old_tag`, and each tag below it, is called `new_tag`; the two
    may differ in their capitals alone.

    Raises NotFound if no note has it, InvalidArgument for a name that is no tag, and Refused
    where a preference in force would change, and nobody confirms it.
    """
    tag = check_tag(old_tag)
    written = new_tag.strip().lstrip("#")
    if not TAG.fullmatch(f"#{written}"):
        written = check_tag(new_tag)
    slug = check_tag(written)
    counts = in_step(ws, lambda _: ws.index.vocabulary().tags)
    there = counts.get(slug, 0) if slug != tag else 0
    notices: Texts = ()
    if there:
        notice = Sentence(
            "#{tag} is there already ({n:,}): the two become one tag.", tag=slug, n=there
        )
        notices = (notice,)
    plan = _plan_in_files(ws, tag, written, confirms)
    return replace(plan, notices=notices)


def _plan_in_files(
    ws: Workspace, tag: str, written: str, confirms: bool, only: str | None = None
) -> EditPlan:
    """The plan for all notes, or for `only` one."""
    needle = name_key(re.findall(r"\w+", tag)[0])
    notes = Notes(ws)
    splices: dict[str, list[Splice]] = {}
    for path in notes.paths if only is None else (only,):
        data = notes.read(path)
        if needle not in name_key(data.decode("utf-8", "replace")):
            continue
        text = read_note_text(data)
        pieces = splices_of_tag(text, tag, written, at_tags=ws.config.at_tags)
        if pieces:
            splices[path] = pieces
    is_own = any(map(notes.is_own, splices))
    if not is_own and check_tag(written) == tag and tag in ws.index.vocabulary().tags:
        raise InvalidArgument(
            "The tag is called #{tag} already.", "Give another name.", tag=written
        )
    if not is_own:
        raise NotFound(
            "No note of the journal has the tag #{tag}.",
            "`synaptic tags` lists the tags.",
            tag=tag,
        )
    check = partial(_check_tags, tag, check_tag(written))
    changes = Changes("tags", splices, check=check)
    plan = plan_edits(ws, notes, changes, confirms=confirms)
    return replace(plan, again=partial(_plan_in_files, ws, tag, written, confirms))


def _check_tags(old_tag: str, new_tag: str, edited: EditedFile) -> None:
    """Raises CannotEdit if an entry would have other tags than its own and the new name."""
    for before, after in edited.entries:
        wanted = {renamed_tag(tag, old_tag, new_tag) or tag for tag in before.tags}
        if wanted != set(after.tags):
            raise CannotEdit("its tags would be read differently")
