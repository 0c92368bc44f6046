"""How to search for what is asked: a plan of one search or several."""

from __future__ import annotations

import re

from ..lexicon import STOP_WORDS
from ..patterns import compiled
from ..timephrase import TimeRange
from ..words import words
from .features import COMPARED, PRONOUN, ROLE
from .names import Token, tokens_of
from .shapes import EntityMention, Plan, SubQuery

_BETWEEN = r"\b(?:between|compare|comparing) (.{2,120}?) (?:and|with|to|versus|vs\.?) ([^?,;]{2,120})"
_CONNECTOR = r",? (?:or|versus|vs\.?|than|over|against|rather than|as opposed to|instead of) "
_COMPARING = rf"{COMPARED}|versus|vs|compar\w+|differen\w+|contrast|pros|cons|prefer\w*|advantages"
_DESCRIPTION = (
    r"\b(?:the|an?|our|my) ((?:[\w-]+ ){1,3}?)"
    rf"((?:who|that|which|whose|where|{PRONOUN}|behind|containing|holding|\w+ed by|\w+ing the|(?-i:[A-Z]\w+) \w+)\b"
    r" [^?,;]{2,200})"
)
_OF_ROLE = (
    rf"(\b{ROLE} of (?:the |our |my )?[\w-]+|\w+'s [\w-]+(?='s )|\w+'s {ROLE}\b|(?<= of )[\w-]+ of [^?,;]{{3,80}})"
)
_SECOND_QUESTION = r",? and (?=(?:what|why|how|who|when|where|which|did|does|is|was)\b)"
_DO_SUPPORT = r"\b(?:do|does|did|is|was|has|can|will) (?:the|an?|our|my) $"
_ASKED_BROADLY = (
    r"^(?:please )?(?:(?:list|show|give|tell|find|count|summari[sz]e|name)(?: (?:me|us))?"
    r"|how (?:many|often)|what (?:are|were)|which)\b(?: (?:all|every|of|the|an? (?:summary|list|overview) of))*"
)


def plan_of(
    text: str,
    question_type: str,
    complexity: str,
    entities: tuple[EntityMention, ...],
    time_range: TimeRange | None,
) -> Plan:
    """How to search: every side of a comparison, the inner fact before the outer, all broadly, or once."""
    filters = _filters(time_range)
    whole = text.strip(" ?") or text
    if question_type == "comparative" and (sides := _sides(whole, entities)):
        parts = tuple(SubQuery(f"q{n}", side, "hybrid", 1, filters) for n, side in enumerate(sides, start=1))
        return Plan(parts, "parallel", "union", complexity)
    if question_type == "multi-hop" and (hops := _hops(whole)):
        first, then = SubQuery("q1", hops[0], "hybrid", 1), SubQuery("q2", hops[1], "hybrid", 2, filters, ("q1",))
        return Plan((first, then), "sequential", "weighted", complexity)
    if question_type == "aggregation":
        broad = _re(_ASKED_BROADLY).sub("", whole).strip() or whole
        return Plan((SubQuery("q1", broad, "hybrid", 1, filters),), "iterative", "union", complexity)
    layer = "temporal" if question_type == "temporal" else "hybrid"
    return Plan((SubQuery("q1", whole, layer, 1, filters),), "parallel", "weighted", complexity)


def _filters(time_range: TimeRange | None) -> tuple[tuple[str, str], ...]:
    if time_range is None:
        return ()
    ends = (("since", time_range.start), ("until", time_range.end))
    return tuple((name, day.isoformat()) for name, day in ends if day is not None)


def _sides(text: str, entities: tuple[EntityMention, ...]) -> tuple[str, ...] | None:
    """The things compared, each with the words that all share."""
    if found := _re(_BETWEEN).search(text):
        sides = [found[1], found[2]]
        shared = f"{text[: found.start()]} {text[found.end() :]}"
    elif found := _re(_CONNECTOR).search(text):
        before, after = text[: found.start()], text[found.end() :]
        one, other = _edge(before, entities, last=True), _edge(after, entities, last=False)
        more = [part.strip() for part in re.split("[,:]", before)[1:-1] if 1 <= len(part.split()) <= 3]
        sides = [*more, one, other]
        for side in (*more, one):
            before = before.replace(side, " ", 1)
        shared = f"{before} {after.replace(other, ' ', 1)}"
    else:
        return None
    sides = [_spelled_out(side.strip(), sides[0]) for side in sides]
    about = " ".join(
        word for _, word in words(shared) if word not in STOP_WORDS and not _re(_COMPARING).fullmatch(word)
    )
    queries = tuple(dict.fromkeys(f"{side} {about}".strip() for side in sides if side))
    return queries if len(queries) > 1 and all(sides) else None


def _spelled_out(side: str, first: str) -> str:
    """ "the old one" as "the old laptop", where the first side is a laptop."""
    return f"{side[:-4]} {first.split()[-1]}" if side.endswith(" one") and first.split() else side


def _edge(part: str, entities: tuple[EntityMention, ...], *, last: bool) -> str:
    """What stands at this edge of half a sentence: a name, or up to three words that are no small ones."""
    line = part.lower()
    for name in (entity.name.lower() for entity in entities):
        if line.endswith(name) if last else line.startswith(name):
            return part[-len(name) :] if last else part[: len(name)]
    tokens = tokens_of(part)
    kept: list[Token] = []
    for token in reversed(tokens) if last else tokens:
        small = token.word.lower() in STOP_WORDS or _re(_COMPARING).fullmatch(token.word)
        if kept and (small or len(kept) == 3 or not _adjoin(part, kept[-1], token)):
            break
        if not small:
            kept.append(token)
    return part[min(t.start for t in kept) : max(t.end for t in kept)] if kept else ""


def _adjoin(text: str, one: Token, other: Token) -> bool:
    """Whether nothing but a blank stands between the two."""
    return text[min(one.end, other.end) : max(one.start, other.start)] == " "


def _hops(text: str) -> tuple[str, str] | None:
    """(the inner description, the outer question) of a question that chains two facts."""
    if second := _re(_SECOND_QUESTION).search(text):
        return text[: second.start()], text[second.end() :]
    if found := _re(_DESCRIPTION).search(text):
        outer = text if _re(_DO_SUPPORT).search(text[: found.start(1)]) else text[: found.end(1)] + text[found.end() :]
        return f"{found[1]}{found[2]}".strip(), " ".join(outer.split())
    if found := _re(_OF_ROLE).search(text):
        return found[1], text
    return None


def _re(pattern: str) -> re.Pattern[str]:
    return compiled(pattern, re.IGNORECASE)
