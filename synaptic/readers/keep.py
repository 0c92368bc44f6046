"""Finds in a session what a person may want to keep: sentences that state a decision, a cause or a rule.

By patterns alone, `data/words/keep.toml`. A sentence has to stand by itself: nothing in it is resolved or guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import cast

from ..language.lexicon import STOP_WORDS, Words, compiled, sentence_ends
from ..language.normalize.shown import CODE, shown
from ..models import EntryType
from .record import Record
from .session import Event

WORDS = Words("keep")
MOST = 3
"""Sentences that are proposed of a record."""
SHORTEST, LONGEST, PASTED, CONTENT = 30, 320, 3_000, 4
"""Characters of a sentence, and those from which on a request is taken for pasted; words that say something."""


def proposals(request: str, events: Iterable[Event], clean: Callable[[str], str]) -> list[tuple[int, Record]]:
    """What is worth keeping of a request and what followed it, and how much less than the best; by a key of its words.

    `request` is without what is private or secret; `clean` takes it out of other texts. Of what the agent said the last
    of a kind counts: it may have been wrong before.
    """
    found: dict[object, tuple[int, Record]] = {}
    for event in (event for event in events if event.kind in ("asked", "said")):
        text = event.text if event.kind == "said" else request if len(request) < PASTED else ""
        if not _find(WORDS.pattern("hint"), text):
            continue
        patterns = list(enumerate(WORDS.patterns(event.kind).items()))
        for one, seen in _sentences(clean(text) if event.kind == "said" else text):
            usable = SHORTEST <= len(one) <= LONGEST and _find(WORDS.pattern("hint"), seen)
            for worth, (name, pattern) in patterns if usable else ():
                if _find(pattern, seen) and _stands_alone(seen):
                    words = " ".join(re.findall(r"\w+", one.lower()))
                    key = blake2b(words.encode(), digest_size=4).hexdigest()
                    type = cast(EntryType, name.partition("_")[0])
                    record = Record(key=key, text=one, at=event.at, type=type, lines=(event.line, event.line))
                    found[worth if event.kind == "said" else key] = worth, record
                    break
    return list(found.values())


def best(found: Iterable[tuple[int, Record]]) -> tuple[Record, ...]:
    """The most valuable of these proposals; of those that share half of their words the latest."""
    chosen: list[tuple[Record, set[str]]] = []
    for _, one in sorted(found, key=lambda item: (item[0], -item[1].at.timestamp())):
        words = set(_content(one.text))
        if len(chosen) < MOST and all(2 * len(words & had) <= min(len(words), len(had)) for _, had in chosen):
            chosen.append((one, words))
    return tuple(one for one, _ in chosen)


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence, and how the patterns see it."""
    text = compiled(r"(`+[^`]*`+)|\*\*").sub(lambda span: span[1] or "", text)
    text = compiled(WORDS.pattern("label"), re.I | re.M).sub(r"\1: ", text)
    masked, start = shown(text), 0
    for end in [*sentence_ends(masked), len(text)]:
        if opening := compiled(WORDS.pattern("opening"), re.I).match(masked[start:end]):
            start += opening.end()
        one, seen = (re.sub(r"[ \t\n]+", " ", part[start:end]).strip(" ") for part in (text, masked))
        yield one[:1].upper() + one[1:], re.sub(f"{CODE}+", CODE, seen)
        start = end


def _stands_alone(seen: str) -> bool:
    pointing = _find(WORDS.pattern("pointing"), seen)
    if len(_content(seen)) < CONTENT or (pointing and not _content(seen[: pointing.start()])):
        return False
    return not any(_find(pattern, seen) for pattern in WORDS.patterns("never").values())


def _content(text: str) -> list[str]:
    """The words and codes of a text that say something."""
    words = re.findall(rf"[^\W\d_][\w’'-]+|\d[\d.:]+|{CODE}", text.lower())
    return [word for word in words if word not in STOP_WORDS and word not in WORDS.empty]


def _find(pattern: str, seen: str) -> re.Match[str] | None:
    return compiled(pattern, re.IGNORECASE).search(seen)
