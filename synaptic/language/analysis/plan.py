"""How a question is searched: by which strategy, and in which sub-queries. Pure; the one
planner of search and analyze.

| form                                                          | strategy | why                                   |
|---------------------------------------------------------------|----------|---------------------------------------|
| an identifier, a path, a quoted phrase, the text of an error  | lexical  | it stands somewhere as it is          |
| anything else, a question too                                 | hybrid   | `bench.py panel`: smart is no better  |

A smart search asks the question itself and, with a quarter of the weight, its parts:

| question                                   | parts                                                              |
|--------------------------------------------|--------------------------------------------------------------------|
| Is Redis or Postgres better for queues?    | Redis queues; Postgres queues                                      |
| Who leads the team and where does he live? | Who leads the team; then, with the answer, where does he live      |
| What did we use before Postgres?           | Postgres; then, of the time before the answer, What did we use     |
| What instruments does Melanie play?        | instruments play (a name crowds out the other words)               |
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...models import Strategy
from ..lexicon import STOP_WORDS, compiled
from ..query import ParsedQuery
from ..words import words
from .asked import QUESTIONS

MAX_SIDES = 4
"""Sides of one comparison that are searched by themselves. By eye."""
SIDE_WORDS = 3
"""Words of one side, where nothing else ends it. By eye."""

_WORD = r"\w[\w'-]*"
_QUESTION = re.compile(
    r"[?？]\s*$|^\s*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|should|"
    r"would|will|has|have|had)\s+\S",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"^\W*(?:[\w.]*(?:Error|Exception|Warning)\b|Traceback "
    r"\(|(?:error|fatal|panic|warning|err!?)\s*[:!\[(])"
    r"|\b(?:[Ee]rrno|[Ss]egmentation fault|panicked at|exit (?:code|status) \d|E[A-Z]{5,}\b)"
    r"|^\s*at \S+\(|^\s*File\s+\S+, line \d"
)
_FLAG = re.compile(r"--?[a-zA-Z][\w-]*(?:=.*)?")
_CODE = re.compile(
    r"""\w+_\w+ | \w*[a-z][A-Z]\w*             # snake_case, camelCase
    | .*(?:::|->|=>|==|\(\)|[{}<>=$;|`]).*     # signs of programs
    | [@\#]\w.* | [^@\s]+@[^@\s]+\.\w+       # @name, #tag, an address
    | \w+://.* | .*\w[/\\][\w.~-].* | [/~.\\].*[/\\].*   # a URL, a path
    | [\w-]+(?:\.[\w-]+)*\.[A-Za-z][\w-]*(?::\d+)*  # a.dotted.name, file.py:3
    | [A-Za-z]\w*(?:-\w+){2,}                         # a-dashed-name
    | v?\d+(?:\.\d+)+\S* | \S*:\d{2,5}      # a version, an address, a port
    | (?=\w*\d)(?=\w*[a-f])[0-9a-f]{6,40} | 0x[0-9a-fA-F]+      # a hash
    | [A-Z][A-Z0-9]+-\d[\d-]*                 # a ticket
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One search of a plan; the lowest priority runs first.

    `layer`: lexical, semantic, hybrid (both), symbolic (a list of a type), temporal (only
    entries of a time). `filters` holds (the name of a filter, its value: for `since` and
    `until` an ISO date, or the id of the sub-query whose best answer gives the date). A
    sub-query that depends on others, and has no such filter, is asked together with their best
    answers.
    """

    id: str
    query: str
    layer: str
    priority: int = 1
    filters: tuple[tuple[str, str], ...] = ()
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """`execution`: parallel (one search), iterative (then again with the best answers),
    sequential (parts depend).

    `merge`: the ranks of all sub-queries are fused, weighted.
    """

    sub_queries: tuple[SubQuery, ...] = ()
    execution: str = "parallel"
    merge: str = "weighted"


def form_of(parsed: ParsedQuery) -> Strategy:
    """The strategy that the form of a query asks for, whatever it costs."""
    text = parsed.text
    if _ERROR.search(text):
        return "lexical"
    tokens = [token.strip(".,;!?") for token in text.split()]
    telling = [token for token in tokens if token.lower() not in STOP_WORDS]
    exact = sum(bool(_CODE.fullmatch(token) or _FLAG.fullmatch(token)) for token in telling)
    quoted = sum(len(phrase.split()) for phrase in parsed.phrases)
    is_command = len(tokens) - len(telling) < 2 and any(
        _FLAG.fullmatch(token) for token in tokens
    )
    if _QUESTION.search(text) and len(tokens) > 1:
        return "hybrid"
    half_quoted, half_exact = 2 * quoted >= len(tokens) > 0, 2 * exact >= len(telling) > 0
    return "lexical" if is_command or half_quoted or half_exact else "hybrid"


def plan_of(text: str, *, parts: tuple[str, ...] = ()) -> Plan:
    """The sub-queries of a smart search, the question itself first; `parts` that were given
    replace the others.
    """
    whole = SubQuery("q1", text, "hybrid")
    if parts:
        return Plan((whole, *_side_by_side(parts)), "iterative")
    if chain := _in_time(text) or _clauses(text):
        return Plan((whole, *chain), "sequential" if chain[-1].depends_on else "iterative")
    return Plan((whole, *_side_by_side(_sides(text) or _without_names(text))), "iterative")


def _side_by_side(queries: tuple[str, ...]) -> list[SubQuery]:
    return [
        SubQuery(f"q{number}", query, "hybrid") for number, query in enumerate(queries, start=2)
    ]


def _in_time(text: str) -> tuple[SubQuery, ...]:
    """The event first; then the rest of the question, of the time before or after it, or of
    both.
    """
    found = _pattern("beside_event").search(text)
    if not found or not (_telling(found["event"]) and _telling(text[: found.start()])):
        return ()
    if _pattern("no_event").fullmatch(found["event"].strip(" ?.!")):
        return ()
    event = SubQuery("q2", found["event"].strip(" ?.!"), "hybrid")
    ends = {"before": "until", "after": "since"}
    sides = [ends[word] for word in re.findall("before|after", found["side"].lower())]
    rest = text[: found.start()].strip(" ,")
    return event, *(
        SubQuery(f"q{number}", rest, "temporal", 2, ((end, "q2"),), ("q2",))
        for number, end in enumerate(sides, 3)
    )


def _clauses(text: str) -> tuple[SubQuery, ...]:
    """Two questions joined by "and"; the second depends on the first where it only points at
    its subject.
    """
    found = _pattern("second_question").search(text)
    if not found:
        return ()
    first, then = text[: found.start()].strip(" ,"), text[found.end() :].strip(" ?")
    if not (_telling(first) and _telling(then)):
        return ()
    depends = ("q2",) if _pattern("pointing").search(then) else ()
    return SubQuery("q2", first, "hybrid"), SubQuery(
        "q3", then, "hybrid", 1 + len(depends), (), depends
    )


def _sides(text: str) -> tuple[str, ...]:
    """The things compared, each with the words that all share; nothing where no two are."""
    text = _pattern("no_choice").sub(" ", text).strip(" ?.!")
    if found := _pattern("between").search(text):
        sides = [found[1], found[2]]
        shared = f"{text[: found.start()]} {text[found.end() :]}"
    elif found := _pattern("connector").search(text):
        before, after = text[: found.start()], text[found.end() :]
        one, other = _edge(before, last=True), _edge(after, last=False)
        more = [
            part.strip()
            for part in re.split("[,:]", before)[1:-1]
            if 1 <= len(part.split()) <= SIDE_WORDS
        ]
        if len(more) > MAX_SIDES - 2:
            return ()
        sides = [*more, one, other]
        for side in (*more, one):
            before = before.replace(side, " ", 1)
        shared = f"{before} {after.replace(other, ' ', 1)}"
    else:
        return ()
    sides = [_spelled_out(side.strip(), sides[0]) for side in sides]
    about = " ".join(
        word for word in _telling(shared) if not _pattern("comparing").fullmatch(word)
    )
    queries = tuple(dict.fromkeys(f"{side} {about}".strip() for side in sides))
    return queries if all(sides) and 1 < len(queries) <= MAX_SIDES else ()


def _spelled_out(side: str, first: str) -> str:
    """ "the old one" as "the old laptop", where the first side is a laptop."""
    return (
        f"{side[:-4]} {first.split()[-1]}" if side.endswith(" one") and first.split() else side
    )


def _edge(part: str, *, last: bool) -> str:
    """What stands at this edge of half a sentence: up to SIDE_WORDS words that belong together."""
    found = list(compiled(_WORD).finditer(part))
    kept: list[re.Match[str]] = []
    for word in reversed(found) if last else found:
        small = word[0].lower() in STOP_WORDS or _pattern("comparing").fullmatch(word[0])
        gap = (
            part[min(kept[-1].end(), word.end()) : max(kept[-1].start(), word.start())]
            if kept
            else " "
        )
        if kept and (small or len(kept) == SIDE_WORDS or gap != " "):
            break
        if not small:
            kept.append(word)
    return part[min(w.start() for w in kept) : max(w.end() for w in kept)] if kept else ""


def _without_names(question: str) -> tuple[str, ...]:
    """What is asked, without whom it is asked about; nothing where too little would be left."""
    found = compiled(_WORD).findall(question)
    named = [word for word in found[1:] if is_name(word)]
    names = set(named)
    about = [word for word in found if word not in names and word.lower() not in STOP_WORDS]
    if not named or len(about) < 2 or 2 * len(named) > len(found):
        return ()
    return (" ".join(about),)


def is_name(word: str) -> bool:
    """Whether a word within a sentence is spelled like a name."""
    bare = word.removesuffix("'s")
    return bare[:1].isupper() and bare[1:].islower() and bare.lower() not in STOP_WORDS


def _telling(text: str) -> list[str]:
    return [word for _, word in words(text) if word not in STOP_WORDS]


def _pattern(name: str) -> re.Pattern[str]:
    return compiled(QUESTIONS.pattern(f"plan_{name}"), re.IGNORECASE)
