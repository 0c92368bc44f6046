"""Keeps a journal of many linked notes in order: renames notes, folders and tags, and mends
links.

`renaming`, `folder_renaming`, `retagging` and `rewording` plan what changes, which
`workspace/many_edits` carries out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...workspace.many_edits import EditPlan
    from ...workspace.workspace import Workspace

COMMANDS = dict.fromkeys(("rename", "tags"), f"{__name__}.vault_commands")


def plan_rename(ws: Workspace, name: str, new: str, confirms: bool) -> EditPlan:
    """Returns the plan that gives a note or a folder another name, or another place."""
    from .folder_renaming import find_folder, plan_folder_rename
    from .renaming import plan_note_rename

    folder = find_folder(ws, name)
    if folder:
        return plan_folder_rename(ws, folder, new, confirms=confirms)
    return plan_note_rename(ws, name, new, confirms=confirms)


def plan_words(ws: Workspace, words: str, new: str, confirms: bool) -> EditPlan:
    """Returns the plan that replaces words, or a tag with its `#`, in all notes."""
    from .retagging import plan_tag_rename
    from .rewording import plan_word_change

    if words.startswith("#") and " " not in words.strip():
        return plan_tag_rename(ws, words, new, confirms=confirms)
    return plan_word_change(ws, words, new, confirms=confirms)


def plan_links(ws: Workspace, id: str, old_title: str, confirms: bool) -> EditPlan:
    """Returns the plan by which links to the old title of an entry lead to it again."""
    from .retitling import plan_links_to_title

    return plan_links_to_title(ws, id, old_title, confirms=confirms)


def plan_mending(ws: Workspace, confirms: bool) -> dict[str, EditPlan]:
    """Returns for each note that was moved by hand, by its path, the plan that mends links."""
    from .moved_notes import plans_of_mending

    return plans_of_mending(ws, confirms=confirms)
