"""Finds in a session what a person may want to keep: sentences that state a decision, a cause or a rule.

By patterns alone, `data/words/keep.toml`. A sentence has to stand by itself: nothing in it is resolved or guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Any

from ..language.lexicon import STOP_WORDS, Words, compiled, sentence_ends
from ..language.normalize.shown import CODE, shown
from .session import Event

WORDS = Words("keep")
MOST = 3
"""Sentences that are proposed of a record."""
SHORTEST, LONGEST, PASTED, CONTENT = 30, 320, 3_000, 4
"""Characters of a sentence, and those from which on a request is taken for pasted; words that say something."""


def proposals(request: str, events: Iterable[Event], clean: Callable[[str], str]) -> list[dict[str, Any]]:
    """What is worth keeping of a request and what followed it, as `Record.proposed` and with a `rank`, 0 for the best.

    `request` is without what is private or secret; `clean` takes it out of other texts. Of what the agent said the last
    of a kind counts: it may have been wrong before.
    """
    found = {}
    for event in events:
        told = event.kind == "said" or (event.kind == "asked" and len(request) < PASTED)
        if told and _find(WORDS.pattern("hint"), event.text):
            kinds = WORDS.patterns(event.kind).items()
            for one, seen in _sentences(clean(event.text) if event.kind == "said" else request):
                rank, kind = next(((n, kind) for n, (kind, how) in enumerate(kinds) if _find(how, seen)), (0, ""))
                if kind and _stands_alone(seen):
                    words = " ".join(re.findall(r"\w+", one.lower())).encode()
                    about = {"key": blake2b(words, digest_size=4).hexdigest(), "type": kind.partition("_")[0]}
                    about |= {"text": one, "at": event.at.isoformat()}
                    found[kind if event.kind == "said" else one] = about | {"line": event.line, "rank": rank}
    return list(found.values())


def best(found: Iterable[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The most valuable of these proposals; of those that share half of their words the latest."""
    chosen: list[tuple[dict[str, Any], set[str]]] = []
    for one in sorted(found, key=lambda one: (one["rank"], -one["line"])):
        words = set(_content(one["text"]))
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
        if SHORTEST <= len(one) <= LONGEST and _find(WORDS.pattern("hint"), seen):
            yield one[0].upper() + one[1:], re.sub(f"{CODE}+", CODE, seen)
        start = end


def _stands_alone(seen: str) -> bool:
    pointing = _find(WORDS.pattern("pointing"), seen)
    named = _content(seen[: pointing.start()] if pointing else seen)
    return (
        bool(named)
        and len(_content(seen)) >= CONTENT
        and not any(_find(pattern, seen) for pattern in WORDS.patterns("never").values())
    )


def _content(text: str) -> list[str]:
    """The words, numbers and codes of a text that say something."""
    words = re.findall(rf"[^\W\d_][\w’'-]+|\d[\d.:]+|{CODE}", text.lower())
    return [word for word in words if word not in STOP_WORDS and word not in WORDS.empty]


def _find(pattern: str, seen: str) -> re.Match[str] | None:
    return compiled(pattern, re.IGNORECASE).search(seen)
