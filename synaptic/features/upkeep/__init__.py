"""Keeps a home in good order: repairs it, reviews what is out of date, and writes
backups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...models import Entry, Receipt, Texts
    from ...plugin import ReviewFinding
    from ...workspace.workspace import Workspace

COMMANDS = {"backup": f"{__name__}.backup_command", "review": f"{__name__}.review_command"}


def repair(ws: Workspace) -> None:
    """Repairs what can be repaired safely."""
    from .repairs import repair_home

    repair_home(ws)


def note_edited(ws: Workspace, before: Mapping[str, int | None]) -> Texts:
    """Keeps what an editor took out of files; returns what is said of it."""
    from .editor_losses import keep_lost_texts

    return keep_lost_texts(ws, before)


def review(ws: Workspace, project: Sequence[str], near: bool) -> list[ReviewFinding]:
    """Returns the findings of a review, or pairs of entries that are near each other."""
    from . import findings

    find = findings.list_near_pairs if near else findings.list_findings
    return find(ws, project=project)


def entry_of_finding(ws: Workspace, key: str, chosen: str) -> Entry:
    """Returns the entry that an answer to a finding is about."""
    from .findings import resolve_subject

    return resolve_subject(ws, key, chosen)


def answer_finding(ws: Workspace, key: str, chosen: str) -> Receipt | None:
    """Acts on a person's answer to a finding; None where nothing changes."""
    from .findings import carry_out_answer

    return carry_out_answer(ws, key, chosen, confirms=True)
