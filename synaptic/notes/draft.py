"""Composes new and changed entries from the texts of a writer, without secrets and private
passages. Pure.

Every text that a new or a changed entry holds goes through here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..filters import check_values
from ..models import Entry, Texts
from .blocks import check_tag, close_open_parts, closing_line, slug_tag, unify_newlines
from .header import unique
from .markdown import compose_entry, own_tags
from .screening import Screen

BRANCH_CHARS = 200
"""The longest name of a git branch, in characters, that an entry records."""
_REPLACED = ("type", "importance", "project", "files", "parent", "supersedes", "by")
"""Attributes of an entry that an update replaces by the given value."""
_STAYING = ("via", "branch", "remote", "root", "extra", "date_source", "place", "fingerprints")
"""Attributes of an entry that an update never changes."""
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
    entry, notices = _compose_with_clean_title(compose, title, screen)
    other_marks = tuple((name, screen.mark(name, value)) for name, value in extra.items())
    via = screen.mark("via", via or "") or None
    return replace(entry, via=via, branch=branch or None, extra=other_marks), notices


def trim_text(text: str) -> str:
    """The text with LF as line end and without blanks at its ends: a call that is repeated with
    one more says the same. The first of several lines keeps its indent, which may mean a list.
    """
    text = unify_newlines(text).rstrip(_BLANKS)
    return text if "\n" in text else text.lstrip(_BLANKS)


def redraft_entry(
    screen: Screen, old: Entry, parts: Mapping[str, Any], *, id: str
) -> tuple[Entry, list[str]]:
    """Composes the changed version of `old`; returns it and notices. `parts` has the changes by
    the names of `verbs.changing.Parts`, `id` is the id of the new version.

    Parts that are missing stay. Raises InvalidArgument and Refused, as `Screen` does.
    """
    text = _new_text(screen, old, parts)
    added = [
        tag for name in ("tags", "add_tags") for tag in check_values(name, parts.get(name, ()))
    ]
    tags = list(screen.texts("tag", added))
    if "tags" not in parts:
        tags = [*own_tags(old), *tags]
    removed = check_values("remove_tags", parts.get("remove_tags", ()))
    dropped = unique(check_tag(tag, of="remove_tags") for tag in removed)
    left = [tag for tag in tags if slug_tag(tag) not in (*dropped, *old.file_tags)]
    marks = {name: parts.get(name, getattr(old, name)) for name in _REPLACED}
    if "project" in parts:
        marks["project"] = screen.text("project", parts["project"])
    if "files" in parts:
        marks["files"] = screen.texts("file", parts["files"])
    compose = partial(compose_entry, text, id=id, at=old.at, tags=left, **marks)
    title = _new_title(screen, old, parts)
    new, notices = _compose_with_clean_title(compose, title, screen, keep=old.title)
    file_tags = tuple(tag for tag in old.file_tags if tag not in new.tags)
    stays = {name: getattr(old, name) for name in _STAYING}
    stays["at"] = parts.get("at", old.at)
    if old.whole_file:  # the file's name may be its title
        stays["title"] = parts.get("title") or old.title
        if text == old.content:
            stays["content"] = text
    new = replace(
        new,
        tags=(*new.tags, *file_tags),
        file_tags=file_tags,
        pin=parts.get("pin", old.pin),
        expires=parts.get("expires", old.expires) or None,
        due=parts.get("due", old.due) or None,
        **stays,
    )
    tag_notices = _notices_of_unremoved_tags(old, new, dropped, set(map(slug_tag, tags)))
    if "append" in parts and closing_line(old.content):
        notices = ("An open code fence or comment was closed.", *notices)
    return new, [*screen.notices(), *notices, *tag_notices]


def _new_text(screen: Screen, old: Entry, parts: Mapping[str, Any]) -> str:
    if "content" in parts:
        above = parts.get("title") or old.title
        return screen.text("text", trim_text(parts["content"]), after=above)
    if "append" not in parts:
        return old.content
    text = screen.text("text", trim_text(parts["append"]), after=old.content)
    return f"{close_open_parts(old.content)}\n\n{text}" if old.has_body else text


def _new_title(screen: Screen, old: Entry, parts: Mapping[str, Any]) -> str | None:
    """The title to write; None if it is derived from the text."""
    title: str | None = parts.get("title")
    if title:
        return screen.text("title", title)
    if title is None:
        derived = compose_entry(old.content, id=old.id, at=old.at)[0].title
        if "content" not in parts or old.title != derived:
            return old.title  # only a title that was taken from the text follows it
    return title


def _compose_with_clean_title(
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


def _notices_of_unremoved_tags(
    old: Entry, new: Entry, dropped: Sequence[str], added: Collection[str]
) -> list[str]:
    """Notices about tags that an update was asked to remove but could not."""
    notices = []
    for tag in dropped:
        if tag in (*new.file_tags, *new.tags):
            notices.append(
                f"#{tag} stands in the text, or in the front matter of the file, so the tag "
                f"stays; edit it there."
            )
        elif tag not in old.tags and tag not in added:
            tags = ", ".join(f"#{other}" for other in old.tags)
            notices.append(f"The entry has no tag #{tag} to remove; it has {tags or 'none'}.")
    return notices
