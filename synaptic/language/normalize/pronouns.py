"""Names for pronouns: "Anna is ill. She called." Where two could be meant, the pronoun stays."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from ..patterns import compiled
from .change import MAX_LENGTH, Change
from .grammar import is_owning, is_plain, may_name
from .grammar_words import PRONOUNS, SUBORDINATE
from .groups import group_at, is_plural
from .mentions import Names, mentions, same
from .note import Note
from .people import people, quoted_names, roles
from .people_words import HUMAN, MANY_PEOPLE, UNFIT
from .rivals import has_rival, is_dummy
from .shown import HIDDEN
from .things import thing_at

_ANY_PRONOUN = rf"\b(?:{'|'.join(PRONOUNS)})\b"


def resolve_pronouns(text: str) -> tuple[Change, ...]:
    """The name for each pronoun that can mean nothing else; none where two could be meant. Never raises."""
    head = text[:MAX_LENGTH]
    if not compiled(_ANY_PRONOUN, re.IGNORECASE).search(head):
        return ()
    return tuple(_Named(Note(head)).changes())


class _Named:
    """Who and what one note names, and which pronouns mean them."""

    def __init__(self, note: Note) -> None:
        self.note = note
        found = people(note)
        note.taken |= {i for mention in found for i in range(mention.first, mention.last)}
        self.groups = Names(mentions(note, group_at))
        note.taken |= {i for mention in self.groups.mentions for i in range(mention.first, mention.last)}
        self.people, self.things = Names(found), Names(mentions(note, thing_at))
        self.fitting = {sex: Names(m for m in found if m.gender in (sex, "any")) for sex in UNFIT}
        unnamed = roles(note)
        self.roles = {sex: [i for i in unnamed if note.lower(i) not in unfit] for sex, unfit in UNFIT.items()}
        self.quoted = quoted_names(note)
        self.last: dict[str, int] = {}  # the last pronoun of each kind that was replaced

    def changes(self) -> Iterator[Change]:
        for i, token in enumerate(self.note.tokens):
            kind = PRONOUNS.get(token.lower)
            if kind is None or not is_plain(self.note, i):
                continue
            name = self._group(i) if kind == "they" else self._thing(i) if kind == "it" else self._person(i, kind)
            owning = name and is_owning(self.note, i)
            if name is None or owning is None:
                continue
            self.last[kind] = i
            self.note.replaced.add(i)
            now = _owner(name) if owning else name
            if token.word[0].isupper() and name.startswith("the "):
                now = now[0].upper() + now[1:]
            yield Change(token.word, now, "coreference", token.start)

    def _may_name(self, i: int, names: Names, kind: str) -> bool:
        return may_name(self.note, i, max(names.last(i).last, self.last.get(kind, -1) + 1))

    def _person(self, i: int, kind: str) -> str | None:
        note, fitting, token = self.note, self.fitting[kind], self.note.tokens[i]
        name = fitting.before(i)
        if name is None or self.quoted.get(kind, token.start) < token.start:
            return None
        role = bisect_left(self.roles[kind], i) - 1
        if role >= 0 and note.tokens[self.roles[kind][role]].sentence >= token.sentence - 1:
            return None
        if note.lower(note.starts[i]) in SUBORDINATE | {"in", "on"}:  # "When she came, Anna ..."
            later = fitting.mentions[fitting.count(i) : fitting.count(i) + 1]
            if later and note.tokens[later[0].first].sentence == token.sentence and not same(name, later[0].name):
                return None
        return name if self._may_name(i, fitting, kind) else None

    def _group(self, i: int) -> str | None:
        note, name = self.note, self.groups.before(i)
        if name is None or (self.people.count(i) and self.people.before(i) is None):
            return None
        start = note.sentence_before(i)
        if start is None or not self._may_name(i, self.groups, "they"):
            return None
        is_human = note.joined(i + 1) in HUMAN
        held = {k for m in self.groups.mentions[: self.groups.count(i)] for k in range(m.first, m.last)}
        rivals = [note.lower(k) for k in range(start, i) if k not in held and is_plural(note, k)]
        return None if any(not is_human or word in MANY_PEOPLE for word in rivals) else name

    def _thing(self, i: int) -> str | None:
        note, name = self.note, self.things.before(i)
        if name is None or is_dummy(note, i) or not self._may_name(i, self.things, "it"):
            return None
        start, earlier = note.starts[i], note.sentence_before(i)
        if earlier is None or HIDDEN in note.shown[note.tokens[earlier].start : note.tokens[i].start]:
            return None
        if max(self.things.last(i).last - 1, self.last.get("it", 0)) < earlier:
            return None
        places = set(self.things.starts[: self.things.count(i)])
        if has_rival(note, start, i, places, own=True):
            return None
        return None if start and has_rival(note, earlier, start, places, own=False) else name


def _owner(name: str) -> str:
    """Anna's, the Millers'."""
    return f"{name}'" if name.startswith("the ") and name.endswith("s") else f"{name}'s"
