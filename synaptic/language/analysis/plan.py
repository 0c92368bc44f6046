"""The strategy of a query, and the sub-queries of a smart search. Pure; search and analyze use
it.

| form of the query                                            | strategy |
|--------------------------------------------------------------|----------|
| an identifier, a path, a quoted phrase, the text of an error | lexical  |
| anything else, a question too                                | hybrid   |

A smart search asks the question itself and, with a quarter of the weight, its parts:

| question                                   | parts                                            |
|--------------------------------------------|--------------------------------------------------|
| Who leads the team and where does he live? | Who leads the team; where does he live           |
| Redis vs Postgres for queues               | Redis; Postgres for queues                       |
| What did we use before Postgres?           | Postgres; What did we use, before that answer    |
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...models import Strategy
from ..lexicon import STOP_WORDS
from ..query import ParsedQuery
from ..words import words

MAX_PARTS = 4
"""Parts into which a question is split, at most. By eye."""

_CONNECTOR = re.compile(r",?\s+(?:and|or|vs\.?|versus)\s+", re.IGNORECASE)
_BESIDE_EVENT = re.compile(r",?\s+(before|after)\s+([^?,;]+)[?.!]*\s*$", re.IGNORECASE)
_QUESTION = re.compile(
    r"[?？]\s*$|^\s*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does"
    r"|did|can|could|should|would|will|has|have|had)\s+\S",
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
class PlannedQuery:
    """One search of a plan; the lowest priority runs first.

    `layer`: lexical, semantic, hybrid (both), symbolic (a list of a type), temporal (only
    entries of a time). `filters` holds pairs of a filter's name and its value: for `since` and
    `until` an ISO date, or the id of the sub-query whose best answer gives the date.
    """

    id: str
    query: str
    layer: str
    priority: int = 1
    filters: tuple[tuple[str, str], ...] = ()
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """`execution`: parallel (one search), iterative (again with the best answers), or
    sequential (a part depends on another). `merge`: the ranks of all sub-queries are fused.
    """

    sub_queries: tuple[PlannedQuery, ...] = ()
    execution: str = "parallel"
    merge: str = "weighted"


def form_of(parsed: ParsedQuery) -> Strategy:
    """The strategy that the form of a query asks for, whatever it costs."""
    text = parsed.text
    if _ERROR.search(text):
        return "lexical"
    tokens = [token.strip(".,;!?") for token in text.split()]
    if _QUESTION.search(text) and len(tokens) > 1:
        return "hybrid"
    telling = [token for token in tokens if token.lower() not in STOP_WORDS]
    flags = [token for token in tokens if _FLAG.fullmatch(token)]
    exact = [token for token in telling if _CODE.fullmatch(token) or _FLAG.fullmatch(token)]
    quoted = sum(len(phrase.split()) for phrase in parsed.phrases)
    is_command = bool(flags) and len(tokens) - len(telling) < 2
    half_quoted = 2 * quoted >= len(tokens) > 0
    half_exact = 2 * len(exact) >= len(telling) > 0
    return "lexical" if is_command or half_quoted or half_exact else "hybrid"


def plan_of(text: str, *, parts: tuple[str, ...] = ()) -> QueryPlan:
    """The sub-queries of a smart search: the question, then `parts`, else the parts it has."""
    whole = PlannedQuery("q1", text, "hybrid")
    around = None if parts else _around_event(text)
    if around:
        return QueryPlan((whole, *around), "sequential")
    numbered = enumerate(parts or _split(text), start=2)
    queries = [PlannedQuery(f"q{number}", part, "hybrid") for number, part in numbered]
    return QueryPlan((whole, *queries), "iterative")


def _around_event(text: str) -> tuple[PlannedQuery, ...]:
    """The event, and the rest of the question within the time before or after it."""
    match = _BESIDE_EVENT.search(text)
    if match is None:
        return ()
    rest, event = text[: match.start()].strip(" ,"), match[2].strip(" .!")
    if not (_tells(rest) and _tells(event)):
        return ()
    end = "until" if match[1].lower() == "before" else "since"
    return (
        PlannedQuery("q2", event, "hybrid"),
        PlannedQuery("q3", rest, "temporal", 2, ((end, "q2"),), ("q2",)),
    )


def _split(text: str) -> tuple[str, ...]:
    parts = [part.strip(" ,?.!") for part in _CONNECTOR.split(text)]
    if not 1 < len(parts) <= MAX_PARTS or not all(map(_tells, parts)):
        return ()
    return tuple(dict.fromkeys(parts))


def _tells(text: str) -> bool:
    return any(word not in STOP_WORDS for _, word in words(text))
