"""Finds in a session what a person may want to keep: sentences that state a decision, a cause
or a rule.

By patterns alone, `data/words/keep.toml`. A sentence has to stand by itself: nothing in it is
resolved or guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Any

from ..language.lexicon import STOP_WORDS, Words, sentence_ends
from ..language.normalize.shown import CODE, shown
from .session import Event

WORDS = Words("keep")
MOST = 3
"""Sentences that are proposed of a record."""
SHORTEST, LONGEST, PASTED = 24, 320, 3_000
"""Characters of a sentence, and those from which on a request is taken for pasted."""
CONTENT = {"asked": 2, "said": 4}
"""How many words have to say something: a person's rule is short."""


def proposals(
    request: str, events: Iterable[Event], clean: Callable[[str], str]
) -> list[dict[str, Any]]:
    """What is worth keeping of a request and what followed it, as `Record.proposed` and with a
    `rank`, 0 for the best.

    `request` is without what is private or secret; `clean` takes it out of other texts. Of what
    the agent said the last of a kind counts: it may have been wrong before.
    """
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        asked, text = event.kind == "asked", event.text
        if (
            event.kind not in ("asked", "said")
            or (asked and len(request) >= PASTED)
            or not any(_kept(event.kind, text))
        ):
            continue  # what nothing comes of is not cleaned: that takes longer
        for rank, name, one in _kept(event.kind, request if asked else clean(text)):
            key = blake2b(
                " ".join(re.findall(r"\w+", one.lower())).encode(), digest_size=4
            ).hexdigest()
            said: dict[str, Any] = {
                "key": key,
                "type": name.partition("_")[0],
                "text": one,
                "line": event.line,
            }
            found[one if asked else name] = said | {"at": event.at.isoformat(), "rank": rank}
    return list(found.values())


def best(found: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The most valuable of these proposals; of those that share half of their words the latest."""
    chosen: list[tuple[dict[str, Any], set[str]]] = []
    for one in sorted(found, key=lambda one: (one["rank"], -one["line"])):
        words = set(_content(one["text"]))
        if len(chosen) < MOST and all(
            2 * len(words & had) <= min(len(words), len(had)) for _, had in chosen
        ):
            chosen.append((one, words))
    return tuple(one for one, _ in chosen)


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence, and how the patterns see it."""
    text = re.sub(r"(`+[^`]*`+)|\*\*", lambda span: span[1] or "", text)
    text = re.sub(WORDS.pattern("label"), r"\1: ", text, flags=re.I | re.M)
    masked, start = shown(text), 0
    for end in [*sentence_ends(masked), len(text)]:
        if opening := re.match(WORDS.pattern("opening"), masked[start:end], re.I):
            start += opening.end()
        one, seen = (
            re.sub(r"[ \t\n]+", " ", part[start:end]).strip(" ") for part in (text, masked)
        )
        one = re.sub(r" ?,(?: ?,)+", ",", one)  # between two commas something private stood
        if SHORTEST <= len(one) <= LONGEST and re.search(WORDS.pattern("hint"), seen, re.I):
            yield one[0].upper() + one[1:], re.sub(f"{CODE}+", CODE, seen)
        start = end


def _kept(kind: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Of each sentence that is worth it the rank and the name of its pattern, and the sentence."""
    patterns = WORDS.patterns(kind)
    for one, seen in _sentences(text) if re.search(WORDS.pattern("hint"), text, re.I) else ():
        name = next(
            (name for name, pattern in patterns.items() if re.search(pattern, seen, re.I)), ""
        )
        if name and _stands_alone(seen, CONTENT[kind]):
            yield list(patterns).index(name), name, one


def _stands_alone(seen: str, least: int) -> bool:
    pointing = re.search(WORDS.pattern("pointing"), seen, re.I)
    named = _content(seen[: pointing.start()] if pointing else seen)
    if not named or len(_content(seen)) < least:
        return False
    return not any(
        re.search(pattern, seen, re.I) for pattern in WORDS.patterns("never").values()
    )


def _content(text: str) -> list[str]:
    """The words, numbers and codes of a text that say something."""
    words = re.findall(rf"[^\W\d_][\w’'-]+|\d[\d.:]+|{CODE}", text.lower())
    return [word for word in words if word not in STOP_WORDS and word not in WORDS.empty]
