"""Composes changed entries from the texts of a writer, as notes/draft does new ones. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import Sentence
from ..filters import check_values
from ..models import Entry
from .blocks import check_tag, close_open_parts, closing_line, slug_tag
from .draft import compose_with_clean_title, trim_text
from .header import unique
from .markdown import compose_entry, own_tags
from .screening import Screen

_REPLACED = ("type", "importance", "project", "files", "parent", "supersedes", "by")
"""Attributes of an entry that an update replaces by the given value."""


_STAYING = ("via", "branch", "remote", "root", "extra", "date_source", "place", "fingerprints")
"""Attributes of an entry that an update never changes."""


def redraft_entry(
    screen: Screen, old: Entry, parts: Mapping[str, Any], *, id: str
) -> tuple[Entry, list[str]]:
    """Composes the changed version of `old`; returns it and notices. `parts` has the changes by
    the names of `verbs.changing.Parts`, `id` is the id of the new version.

    Parts that are missing stay. A title that is all the entry says is its text, too, so a new
    one replaces both. Raises InvalidArgument and Refused, as `Screen` does.
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
    new, notices = compose_with_clean_title(compose, title, screen, keep=old.title)
    file_tags = tuple(tag for tag in old.file_tags if tag not in new.tags)
    stays = {name: getattr(old, name) for name in _STAYING}
    stays["at"] = parts.get("at", old.at)
    if old.whole_file:  # the file's name may be its title
        stays["title"] = parts.get("title") or old.title
        if text == old.content:
            stays["content"] = text
    has_text = parts.keys() & {"content", "append"}
    if replaces_text(old, parts.get("title")) and not has_text:
        new = replace(new, content=new.title, tags=new.heading_tags)
        remark = Sentence("Its title was all its text, so the new title is its text now.")
        notices = (remark, *notices)
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
        notices = (Sentence("An open code fence or comment was closed."), *notices)
    return new, [*screen.notices(), *notices, *tag_notices]


def replaces_text(old: Entry, title: str | None) -> bool:
    """True if this new title replaces the text of an entry, which is its title and no more."""
    alone = (old.title, f"{old.title}.")  # a derived title has no full stop
    return bool(title) and title != old.title and old.content in alone and not old.whole_file


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


def _notices_of_unremoved_tags(
    old: Entry, new: Entry, dropped: Sequence[str], added: Collection[str]
) -> list[str]:
    """Notices about tags that an update was asked to remove but could not."""
    notices: list[str] = []
    for tag in dropped:
        if tag in (*new.file_tags, *new.tags):
            notices.append(
                Sentence(
                    "#{tag} stands in the text, or in the front matter of the file, "
                    "so the tag stays; edit it there.",
                    tag=tag,
                )
            )
        elif tag not in old.tags and tag not in added:
            tags = ", ".join(f"#{other}" for other in old.tags)
            text = "The entry has no tag #{tag} to remove; it has none."
            if tags:
                text = "The entry has no tag #{tag} to remove; it has {tags}."
            notices.append(Sentence(text, tag=tag, tags=tags))
    return notices
