"""Names one thing that a later reader of a new entry will miss, or that looks like a mistake.
Nothing is refused.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from ..errors import Sentence
from ..language.lexicon import Words, sentence_ends
from ..models import Entry
from ..notes.blocks import project_key
from ..notes.marks import task_blocks
from ..search.typos import typing_distance
from ..workspace.workspace import Workspace

LONG_BYTES = 20_000
"""A longer entry is more than one answer gives to an agent."""
LEAST_NAME = 4
"""Letters of a project name in which one wrong letter is looked for; shorter names are often
alike.
"""
FAR = timedelta(days=3 * 365)
"""A day of `due` or `expires` that is further away may be a mistake."""

SAVES = Words("saves")
"""What a text that is saved may hold."""
_NO_DIGITS = str.maketrans("", "", "0123456789")


def find_weakness(ws: Workspace, entry: Entry, marks: Mapping[str, Any]) -> str:
    """Returns a notice of at most 20 tokens on a new entry, "" where nothing was noticed.

    `marks` are the values that the writer gave. The first of these counts: a project name one
    letter off another one, a day far ahead, a text longer than an answer, something to do that
    no list of tasks has, and from an agent a text that points to a talk, or a decision without
    a reason.
    """
    notice = _misspelt_project(ws, entry, marks) or _far_day(ws, entry, marks)
    size = len(entry.content.encode())
    if not notice and size > LONG_BYTES:
        notice = Sentence(
            "One entry of {n:,} KB: short entries, one a matter, are found.", n=size // 1_000
        )
    is_to_do = SAVES.finder("to_do").search(entry.content)
    if not notice and is_to_do and not (entry.due or any(task_blocks(entry.content))):
        notice = Sentence("`tasks` lacks it without `due` or a box: `- [ ]`.")
    if notice or marks.get("by_person", True):
        return notice
    outside = SAVES.finder("points_outside").search(entry.content)
    if outside:
        words = " ".join(outside[0].split())
        return f"“{words}”: a later reader will not know that talk."
    if entry.type == "decision" and not _may_give_reason(entry):
        return "A decision without its reason: context_update can append why."
    return ""


def _misspelt_project(ws: Workspace, entry: Entry, marks: Mapping[str, Any]) -> str:
    """Returns a notice if the project was given by name, has no entry, and differs in one
    letter from another one. Names that differ in a digit are different.
    """
    name = entry.project or ""
    key = project_key(name)
    projects = {project_key(project) for project in ws.index.vocabulary().projects}
    if not marks.get("project") or len(key) < LEAST_NAME or key in projects:
        return ""
    for other in sorted(projects):
        letters = {*key.translate(_NO_DIGITS)}, {*other.translate(_NO_DIGITS)}
        is_numbered = key.translate(_NO_DIGITS) == other.translate(_NO_DIGITS)
        if all(letters) and not is_numbered and typing_distance(key, other, 1) == 1:
            return Sentence("The project {name} is new; is it {other}?", name=name, other=other)
    return ""


def _far_day(ws: Workspace, entry: Entry, marks: Mapping[str, Any]) -> str:
    """Returns a notice if the entry is dated after tomorrow, or if `due` or `expires` is FAR
    away.
    """
    if marks.get("at") and entry.at.date() > ws.today + timedelta(days=1):
        return Sentence("Its date, {date}, lies ahead.", date=entry.date)
    for name in ("due", "expires"):
        day = getattr(entry, name)
        if day and date.fromisoformat(day) > ws.today + FAR:
            return Sentence("`{name}` is {day}: is that year right?", name=name, day=day)
    return ""


def _may_give_reason(entry: Entry) -> bool:
    """True if a text has several sentences, or a sign or word that may begin a reason."""
    text = entry.content.strip()
    several = any(end < len(text) for end in sentence_ends(text))
    return several or bool(SAVES.finder("may_give_reason").search(text))
