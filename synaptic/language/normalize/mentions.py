"""What a note names, and which name is the only one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .note import Note
from .people_words import Gender


class Mention(NamedTuple):
    """A name, from one token to the one before `last`. `gender` is that of a person."""

    first: int
    last: int
    name: str
    gender: Gender | None = None


def mentions(note: Note, look: Callable[[Note, int], Mention | None]) -> Iterator[Mention]:
    """What `look` finds at the tokens of the note, one after the other."""
    at = 0
    while at < len(note.tokens):
        found = look(note, at)
        if found:
            yield found
        at = found.last if found else at + 1


class Names:
    """The mentions of one kind, in order, and the only name among those before a place."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        self.mentions = list(mentions)
        self.starts = [mention.first for mention in self.mentions]
        self.only: list[str] = []
        """The name among the first 1, 2, ... mentions, as far as there is only one, in its fullest form."""
        for mention in self.mentions:
            name = same(self.only[-1], mention.name) if self.only else mention.name
            if not name:
                break
            self.only.append(name)

    def count(self, i: int) -> int:
        """How many there are before the token `i`."""
        return bisect_left(self.starts, i)

    def before(self, i: int) -> str | None:
        """The one name before the token `i`; None where there is none, or more."""
        count = self.count(i)
        return self.only[count - 1] if 0 < count <= len(self.only) else None

    def last(self, i: int) -> Mention:
        """The last mention before the token `i`."""
        return self.mentions[self.count(i) - 1]


def same(one: str, other: str) -> str:
    """The fuller of two names of the same: "Anna" and "Anna Berg", "Kestrel" and "Kestrel 2"; "" for two names."""
    short, long = sorted((one, other), key=len)
    return long if short and _is_part(short.split(), long.split()) else ""


def _is_part(short: list[str], long: list[str]) -> bool:
    size = len(short)
    return size <= len(long) and (long[:size] == short or long[-size:] == short)
