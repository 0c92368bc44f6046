"""Names for pronouns: "Anna is ill. She called." A wrong name is worse than a pronoun that stays.

The note is read once, word by word. What it names is kept by the pronoun that may mean it: `he`, `she`, `it`, `they`.
As soon as two different names fit a pronoun, it stays from there on. Word lists: `data/words/notes.toml`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..lexicon import DAY_NAMES, MONTHS, SHARED, Words, compiled, is_tool
from ..sentences import sentence_ends
from .change import MAX_LENGTH, Change
from .shown import CODE, HIDDEN, shown

NOTES = Words("notes")
PRONOUNS, TITLES = NOTES.table("pronouns"), NOTES.table("titles")
ALSO_WORDS = NOTES.table("also_words")
FIRST_NAMES = NOTES.table("first_names") | ALSO_WORDS
"""The pronoun of each first name, "any" where it may be either."""

_NO_NAMES = NOTES.function.union(NOTES.languages, MONTHS, DAY_NAMES, PRONOUNS)
_NO_PERSON = (
    _NO_NAMES | SHARED.tools | NOTES.places | NOTES.companies | NOTES.departments | NOTES.verbs | NOTES.somebody
)
_NO_SURNAME = _NO_NAMES | SHARED.tools | NOTES.places
_NO_THING = (
    _NO_NAMES.union(TITLES, FIRST_NAMES)
    | NOTES.generic
    | NOTES.places
    | NOTES.roles
    | NOTES.adverbs
    | NOTES.departments
) - SHARED.tools
_FOLLOWS_A_ROLE = NOTES.function | NOTES.aux | NOTES.does
_OPENS_NO_NAME = NOTES.verbs | NOTES.no_named_thing
_OF_THINGS = NOTES.aux | NOTES.tells
_NO_RIVALS = NOTES.somebody | NOTES.groups | NOTES.people_words
_ENDINGS = SHARED.pattern("file_endings")
_FILE = rf"(?<![\w/.~-])(?:[\w.~-]{{1,60}}/){{0,8}}[\w-]{{1,80}}(?:\.[\w-]{{1,40}}){{0,3}}\.(?:{_ENDINGS})(?![\w/])"
_TOKEN = rf"(?P<code>{CODE}+)|(?P<file>{_FILE})|\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}|[^\W_]\w*(?:[-.+]\w+|\+\+)*"
_VERSION = r"v?\d{1,4}(?:\.[\dx]{1,4}){0,3}\Z"
_REACH = 120
"""Words before "it" and "they" that are looked at for something else that could be meant. By eye."""


class Token(NamedTuple):
    start: int
    end: int
    word: str
    lower: str
    form: str | None  # "code", "file", or a plain word
    sentence: int
    opens: bool  # the first word of its sentence
    joined: bool  # one blank lies between it and the token before


class Mention(NamedTuple):
    """A name that ends before the token `last`; `pronouns` are those that may mean it."""

    last: int
    name: str
    pronouns: tuple[str, ...]


class Named:
    """The one name that a pronoun may mean, "" after two that differ. `last` follows its last name or pronoun."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.last = 0

    def add(self, mention: Mention) -> None:
        self.name = mention.name if self.name is None else _fuller(self.name, mention.name)
        self.last = mention.last


def resolve_pronouns(text: str) -> tuple[Change, ...]:
    """The name for each pronoun that can mean nothing else; none where two could be meant. Never raises."""
    return tuple(_Note(text[:MAX_LENGTH]).changes())


class _Note:
    """The words of one note, and what it has named so far."""

    def __init__(self, text: str) -> None:
        self.text, self.shown = text, shown(text)
        self.tokens: list[Token] = []
        ends = sentence_ends(self.shown)
        sentence = end = 0
        for found in compiled(_TOKEN).finditer(self.shown):
            opens = not self.tokens or bisect_right(ends, end) != bisect_right(ends, found.start())
            joined = bool(self.tokens) and self.shown[end : found.start()] in (" ", "\n")
            word, sentence, end = found[0], sentence + opens, found.end()
            self.tokens.append(Token(*found.span(), word, word.lower(), found.lastgroup, sentence, opens, joined))
        self.inside = {token.word for token in self.tokens if not token.opens}
        self.named = {pronoun: Named() for pronoun in ("he", "she", "it", "they")}
        self.names: set[int] = set()
        """The tokens of names, and of pronouns that were replaced."""
        self.quoted = self._quoted_name()
        self.stranger = -2
        """The sentence that last spoke of somebody without a name."""

    def changes(self) -> Iterator[Change]:
        stranger = self._stranger()
        at = 0
        while at < len(self.tokens):
            token, kind = self.tokens[at], PRONOUNS.get(self.tokens[at].lower)
            mention = self._person(at, stranger) or self._group(at) or self._thing(at)
            if mention:
                for pronoun in mention.pronouns:
                    self.named[pronoun].add(mention)
                self.names.update(range(at, mention.last))
                at = mention.last
                continue
            if token.lower in NOTES.somebody and self._is_stranger(at):
                self.stranger = token.sentence
            if kind and self._is_plain(at) and (name := self._meant(at, kind)):
                self.named[kind].last = at + 1
                self.names.add(at)
                yield Change(token.word, _written(name, token, self._is_owning(at)), "coreference", token.start)
            at += 1

    # --- words ---

    def lower(self, i: int) -> str:
        """The word at `i`, or "" outside the note."""
        return self.tokens[i].lower if 0 <= i < len(self.tokens) else ""

    def joined(self, i: int) -> str:
        """The word at `i`, or "" where it does not follow the word before by one blank."""
        return self.tokens[i].lower if 0 < i < len(self.tokens) and self.tokens[i].joined else ""

    def before(self, i: int) -> str:
        """The word before `i`, or "" where `i` does not follow it by one blank."""
        return self.lower(i - 1) if self.tokens[i].joined else ""

    def run(self, i: int, most: int, fits: Callable[[int], bool]) -> int:
        """The token after `i` and at most so many that fit, each one blank after the one before."""
        last = i + 1
        while last < min(i + 1 + most, len(self.tokens)) and self.tokens[last].joined and fits(last):
            last += 1
        return last

    def is_spelled_as_name(self, i: int) -> bool:
        """Whether the word is spelled like a person's name."""
        word = self.tokens[i].word
        return word[0].isupper() and not word.isupper() and word.replace("-", "").isalpha()

    def written(self, first: int, last: int) -> str:
        """The text from one token to the one before `last`."""
        return " ".join(self.text[self.tokens[first].start : self.tokens[last - 1].end].split())

    # --- what is named ---

    def _person(self, i: int, stranger: str) -> Mention | None:
        token = self.tokens[i]
        if not self.is_spelled_as_name(i):
            return None
        title, first, last = TITLES.get(token.lower), i, i + 1
        if title and last < len(self.tokens) and self.is_spelled_as_name(last):
            first = last
        elif token.word != stranger and not self._is_known_person(i):
            return None
        last = self.run(first, 2, lambda k: self.is_spelled_as_name(k) and self.lower(k) not in _NO_SURNAME)
        gender = FIRST_NAMES.get(self.tokens[first].lower, "any") if title in (None, "any") else title
        return Mention(last, self.written(i, last), ("he", "she") if gender == "any" else (gender,))

    def _is_known_person(self, i: int) -> bool:
        lower = self.tokens[i].lower
        return lower in FIRST_NAMES and (lower not in ALSO_WORDS or self.joined(i + 1) in NOTES.says)

    def _stranger(self) -> str:
        """The one name of a note, if it does what people do."""
        names = [i for i in range(len(self.tokens)) if self.is_spelled_as_name(i) and self.lower(i) not in _NO_PERSON]
        found = {self.tokens[i].word for i in names}
        acts = any(self.tokens[i].opens and self.joined(i + 1) in NOTES.does for i in names)
        return found.pop() if len(found) == 1 and acts else ""

    def _is_stranger(self, i: int) -> bool:
        """Whether a word like "customer" means somebody without a name: no "our client Anna", "Anna, our client"."""
        if self.joined(i + 1) and self.is_spelled_as_name(i + 1):
            return False
        return not any(k in self.names for k in range(max(0, i - 3), i))

    def _quoted_name(self) -> int:
        """The offset of the first known first name in a quotation or a link; the length of the text without one."""
        words = compiled(r"\b[A-Z][a-z]+").finditer(self.text)
        hidden = (word for word in words if self.shown[word.start()] == HIDDEN and word[0].lower() in FIRST_NAMES)
        return next((word.start() for word in hidden), len(self.text))

    def _group(self, i: int) -> Mention | None:
        """The Finance team, the Millers."""
        if self.lower(i) != "the":
            return None
        last = self.run(i, 3, lambda k: self.tokens[k].word[0].isupper())
        if last > i + 1 and self.joined(last) in NOTES.groups:
            return Mention(last + 1, f"the{self.written(i, last + 1)[3:]}", ("they",))
        after = self.joined(i + 2)
        is_family = self.joined(i + 1).endswith("s") and self.is_spelled_as_name(i + 1)
        if not is_family or (after and after not in _FOLLOWS_A_ROLE and not after.endswith("ed")):
            return None  # the Beatles album
        return Mention(i + 2, f"the{self.written(i, i + 2)[3:]}", ("they",))

    def _thing(self, i: int) -> Mention | None:
        """A tool, a project, a file, code; its name is "" where another thing is meant: "the Kestrel dashboard"."""
        token = self.tokens[i]
        if token.form in ("code", "file"):
            return Mention(i + 1, self.text[token.start : token.end], ("it",))
        if not self._names_thing(i):
            return None
        last = self.run(i, 3, self._continues_name)
        return Mention(last, "" if self._is_compound(i, last) else self.written(i, last), ("it",))

    def _continues_name(self, i: int) -> bool:
        word = self.tokens[i].word
        return word[0].isupper() or compiled(_VERSION).match(word) is not None

    def _names_thing(self, i: int) -> bool:
        token = self.tokens[i]
        if is_tool(token.word):
            return True
        if not token.word[0].isupper() or len(token.word) < 2 or token.lower in _NO_THING:
            return False
        if self.joined(i + 2) in _OF_THINGS and self._continues_name(i + 1):
            return True  # Home Assistant crashed
        if token.opens and token.lower in _OPENS_NO_NAME:
            return False
        # A thing without an article, of which something is told, is called so: "Atlas is late".
        return token.word in self.inside or self.joined(i + 1) in _OF_THINGS

    def _is_compound(self, first: int, last: int) -> bool:
        after = self.joined(last)
        if not after.isalpha() or after in _FOLLOWS_A_ROLE or after in NOTES.kinds:
            return False
        return self.before(first) in NOTES.determiners or self.joined(last + 1) in NOTES.aux

    # --- what a pronoun means ---

    def _is_plain(self, i: int) -> bool:
        """Whether the pronoun is no part of something else: "he/she", "he or she", "IT", "it-self"."""
        token = self.tokens[i]
        around = self.shown[max(0, token.start - 1) : token.start] + self.shown[token.end : token.end + 1]
        if token.word[1:] != token.word[1:].lower() or any(sign in "/\\_-@#=+$" for sign in around):
            return False
        return not any(self.lower(i + step) == "or" and self.lower(i + 2 * step) in PRONOUNS for step in (-1, 1))

    def _meant(self, i: int, kind: str) -> str | None:
        """The name that the pronoun stands for; None or "" where there is none, or more than one."""
        named, sentence = self.named[kind], self.tokens[i].sentence
        if not named.name or self._is_its_object(i, named.last):
            return None
        if kind in ("he", "she"):
            return None if self.stranger >= sentence - 1 or self.quoted < self.tokens[i].start else named.name
        near = [k for k in range(max(0, i - _REACH), i) if self.tokens[k].sentence >= sentence - 1]
        if kind == "they":
            rivals = any(k not in self.names and self._is_plural(k) for k in near)
            return None if rivals and self.joined(i + 1) not in NOTES.human else named.name
        if self._is_dummy(i) or named.last - 1 < near[0]:
            return None
        return None if any(self._is_rival(k) for k in near if self.tokens[k].opens) else named.name

    def _is_its_object(self, i: int, nearest: int) -> bool:
        """Whether grammar forbids the pronoun to mean the name before `nearest`: in "Anna met her" it is not Anna."""
        lower, after = self.lower(i), self.joined(i + 1)
        if lower == "it":
            is_object = after not in NOTES.aux and not after.endswith(("s", "ed"))
        else:
            is_object = lower in ("him", "them") or (lower == "her" and not self._is_owning(i))
        if not is_object or self.tokens[nearest - 1].sentence != self.tokens[i].sentence:
            return False
        return not any(
            self.lower(k) in NOTES.clause_words
            or any(sign in self.shown[self.tokens[k - 1].end : self.tokens[k].start] for sign in ",;:—–(")
            for k in range(max(nearest, i - _REACH), i)
        )

    def _is_owning(self, i: int) -> bool:
        """Whether the pronoun reads "Anna's" rather than "Anna"."""
        after = self.joined(i + 1)
        if self.lower(i) != "her":
            return self.lower(i) in NOTES.owning
        return bool(after) and after not in NOTES.after_object and not after.isdigit()

    def _is_plural(self, i: int) -> bool:
        """Whether the word is, as far as form tells, several things or people."""
        token = self.tokens[i]
        before = self.before(i)
        return token.lower.endswith("s") and (token.opens or before in NOTES.plural_before or before.isdigit())

    def _is_dummy(self, i: int) -> bool:
        """Whether "it" means nothing: "it rained", "it takes a day", "it is clear that"."""
        pattern = compiled(NOTES.pattern("dummy_after"), re.VERBOSE | re.IGNORECASE)
        return pattern.match(self.shown, self.tokens[i].end) is not None

    def _is_rival(self, first: int) -> bool:
        """Whether "it" may as well mean the subject of the sentence that opens at `first`."""
        i = next((k for k in range(first, first + 5) if self.lower(k) not in NOTES.adverbs), first)
        lower = self.lower(i)
        if i in self.names:
            return self.shown.startswith(("'s ", "’s "), self.tokens[i].end)
        if lower in NOTES.determiners:
            words = [self.lower(k) for k in range(i + 1, i + 3)]
            return not (self.names & {i + 1, i + 2} or any(word in _NO_RIVALS for word in words))
        return not (lower in NOTES.no_subject or lower.endswith("ed"))


def _fuller(one: str, other: str) -> str:
    """The fuller of two names of the same: "Anna" and "Anna Berg", "Kestrel" and "Kestrel 2"; "" for two names."""
    short, long = sorted((one.split(), other.split()), key=len)
    is_part = short and (long[: len(short)] == short or long[-len(short) :] == short)
    return " ".join(long) if is_part else ""


def _written(name: str, token: Token, owning: bool) -> str:
    """The name in the place of the pronoun: Anna's, the Millers', The Finance team."""
    if owning:
        name = f"{name}'" if name.startswith("the ") and name.endswith("s") else f"{name}'s"
    return name[0].upper() + name[1:] if token.word[0].isupper() and name.startswith("the ") else name
