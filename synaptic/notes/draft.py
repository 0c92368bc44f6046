"""Composes new entries from the texts of a writer, without secrets and private passages. Pure.

Every text that a new entry holds goes through here, and of a changed one through `redraft`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..filters import check_values
from ..models import Entry, Texts
from .blocks import unify_newlines
from .markdown import compose_entry
from .screening import Screen

BRANCH_CHARS = 200
"""The longest name of a git branch, in characters, that an entry records."""
_BLANKS = " \t\n\xa0\u3000"
"""Among them the blanks of other keyboards."""


def draft_entry(
    screen: Screen,
    content: str,
    *,
    title: str | None = None,
    tags: Sequence[str] = (),
    files: Sequence[str] = (),
    project: str | None = None,
    by: str | None = None,
    via: str | None = None,
    branch: str | None = None,
    extra: Mapping[str, str] = {},
    **marks: Any,
) -> tuple[Entry, Texts]:
    """Composes a new entry from these texts, without secrets and private passages; returns it
    and notices. `marks` are further arguments of `compose_entry`.

    The branch is left out if its name is long, has several lines, or holds a secret or a
    private passage. Raises InvalidArgument and Refused, as `Screen` does.
    """
    title = screen.text("title", title) if title else None
    branch = branch or ""
    if len(branch) > BRANCH_CHARS or not branch.isprintable():
        branch = ""
    if screen.mark("branch", branch) != branch:
        branch = ""
    compose = partial(
        compose_entry,
        screen.text("text", trim_text(content), after=title or ""),
        tags=screen.texts("tag", check_values("tags", tags)),
        files=screen.texts("file", files),
        project=screen.text("project", project) if project else None,
        by=screen.mark("client's name", by or "") or None,
        **marks,
    )
    entry, notices = compose_with_clean_title(compose, title, screen)
    other_marks = tuple((name, screen.mark(name, value)) for name, value in extra.items())
    via = screen.mark("via", via or "") or None
    return replace(entry, via=via, branch=branch or None, extra=other_marks), notices


def trim_text(text: str) -> str:
    """The text with LF as line end and without blanks at its ends: a call that is repeated with
    one more says the same. The first of several lines keeps its indent, which may mean a list.
    """
    text = unify_newlines(text).rstrip(_BLANKS)
    return text if "\n" in text else text.lstrip(_BLANKS)


def compose_with_clean_title(
    compose: Callable[..., tuple[Entry, Texts]],
    title: str | None,
    screen: Screen,
    *,
    keep: str = "",
) -> tuple[Entry, Texts]:
    """Composes an entry with this title and redacts a secret in it; returns it and notices. The
    title `keep` is never changed.

    A title is made of a text without its `**` and line ends, which may have hidden a secret.
    """
    entry, notices = compose(title=title)
    if entry.title == keep:
        return entry, notices
    clean = screen.redact_secrets("title", entry.title)
    return (entry, notices) if clean == entry.title else compose(title=clean)
