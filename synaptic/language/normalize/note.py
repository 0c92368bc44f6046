"""A note as words and sentences. Code, links, comments and quotations are there, but hidden."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ..lexicon import FILE_ENDINGS
from ..patterns import compiled
from ..sentences import sentence_ends
from .shown import CODE, shown

_FILE = rf"(?<![\w/.~-])(?:[\w.~-]{{1,60}}/){{0,8}}[\w-]{{1,80}}(?:\.[\w-]{{1,40}}){{0,3}}\.(?:{FILE_ENDINGS})(?![\w/])"
_TOKEN = rf"(?P<code>{CODE}+)|(?P<file>{_FILE})|\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}|[^\W_]\w*(?:[-.+]\w+|\+\+)*"
_REACH = 120
"""Words before a pronoun that are looked at."""


class Token(NamedTuple):
    start: int
    end: int
    word: str
    lower: str
    form: str | None  # "code", "file", or a plain word
    sentence: int
    opens: bool  # the first word of its sentence
    joined: bool  # one blank lies between it and the token before


class Note:
    """The words of one note, and what has been found out about them: a slate that the other modules share.

    `starts` holds for every token the first one of its sentence, `inside` the words that stand within sentences,
    `taken` the tokens that belong to people and groups, `replaced` the pronouns that were given a name.
    """

    def __init__(self, text: str) -> None:
        self.text, self.shown = text, shown(text)
        self.tokens: list[Token] = []
        self.starts: list[int] = []
        ends = sentence_ends(self.shown)
        for i, found in enumerate(compiled(_TOKEN).finditer(self.shown)):
            sentence = bisect_right(ends, found.start())
            opens = not i or self.tokens[-1].sentence != sentence
            joined = i > 0 and self.shown[self.tokens[-1].end : found.start()] in (" ", "\n")
            word = found[0]
            self.tokens.append(Token(*found.span(), word, word.lower(), found.lastgroup, sentence, opens, joined))
            self.starts.append(i if opens else self.starts[-1])
        self.inside = {token.word for token in self.tokens if not token.opens}
        self.taken: set[int] = set()
        self.replaced: set[int] = set()

    def lower(self, i: int) -> str:
        """The word at `i`, or "" outside the note."""
        return self.tokens[i].lower if 0 <= i < len(self.tokens) else ""

    def joined(self, i: int) -> str:
        """The word at `i`, or "" where it does not follow the word before by one blank."""
        return self.tokens[i].lower if 0 < i < len(self.tokens) and self.tokens[i].joined else ""

    def before(self, i: int) -> str:
        """The word before `i`, or "" where `i` does not follow it by one blank."""
        return self.tokens[i - 1].lower if i > 0 and self.tokens[i].joined else ""

    def gap(self, i: int) -> str:
        """What stands before the token `i`."""
        return self.shown[self.tokens[i - 1].end if i else 0 : self.tokens[i].start]

    def is_owner(self, i: int) -> bool:
        return self.shown.startswith(("'s ", "’s "), self.tokens[i].end)

    def is_capital(self, i: int) -> bool:
        return self.tokens[i].word[0].isupper()

    def is_spelled_as_name(self, i: int) -> bool:
        """Whether the word is spelled like a person's name."""
        word = self.tokens[i].word
        return len(word) > 1 and word[0].isupper() and not word.isupper() and word.replace("-", "").isalpha()

    def written(self, first: int, last: int) -> str:
        """The text from one token to the one before `last`."""
        return " ".join(self.text[self.tokens[first].start : self.tokens[last - 1].end].split())

    def sentence_before(self, i: int) -> int | None:
        """Where the sentence before that of the token `i` starts; None where both are too long to be judged."""
        start = self.starts[i]
        start = self.starts[start - 1] if start else 0
        return start if i - start <= _REACH else None
