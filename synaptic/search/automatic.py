"""How a query is searched when nobody says how: by its form, within a budget, by what searches cost here.

| form                                                          | strategy | why                                   |
|---------------------------------------------------------------|----------|---------------------------------------|
| an identifier, a path, a quoted phrase, the text of an error  | lexical  | it stands somewhere as it is          |
| a question                                                    | smart    | on LoCoMo better in every category    |
| other words                                                   | hybrid   | a title has no parts to be asked for  |

A budget turns a search by meaning into one by words where it would not fit, and lets a smart one stop early.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..language.lexicon import STOP_WORDS
from ..language.query import ParsedQuery
from ..models import Choice, Layer, Strategy

Run = tuple[float, Mapping[str, float]]
"""When a search ran, in seconds since 1970, and the milliseconds of its stages."""

COUNTED = 50
"""So many last searches of a strategy tell its cost."""

FORGOTTEN_BY_HALF_S = 3_600.0
"""A cost that kept a strategy from running must not keep it for ever."""

EXTRA = ("parts", "reflect")
"""The stages that a smart search can leave out."""

_QUESTION = re.compile(
    r"[?？]\s*$|^\s*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|should|"
    r"would|will|has|have|had)\s+\S",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"^\W*(?:[\w.]*(?:Error|Exception|Warning)\b|Traceback \(|(?:error|fatal|panic|warning|err!?)\s*[:!\[(])"
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


def form_of(parsed: ParsedQuery) -> Strategy:
    """The strategy that the form of a query asks for, whatever it costs."""
    text = parsed.text
    if _ERROR.search(text):
        return "lexical"
    tokens = [token.strip(".,;!?") for token in text.split()]
    telling = [token for token in tokens if token.lower() not in STOP_WORDS]
    exact = sum(bool(_CODE.fullmatch(token) or _FLAG.fullmatch(token)) for token in telling)
    quoted = sum(len(phrase.split()) for phrase in parsed.phrases)
    is_command = len(tokens) - len(telling) < 2 and any(_FLAG.fullmatch(token) for token in tokens)
    if _QUESTION.search(text) and len(tokens) > 1:
        return "smart"
    half_quoted, half_exact = 2 * quoted >= len(tokens) > 0, 2 * exact >= len(telling) > 0
    return "lexical" if is_command or half_quoted or half_exact else "hybrid"


@dataclass(frozen=True, slots=True)
class Costs:
    """Within how many milliseconds 95 % of the last searches stayed, by strategy and stage."""

    stages: Mapping[str, Mapping[str, float]]

    def of(self, strategy: str, stage: str = "total") -> float | None:
        """None where nothing was measured yet."""
        return self.stages.get(strategy, {}).get(stage)

    @property
    def meaning(self) -> float | None:
        """What a search by words and meaning takes; a smart one is more of them."""
        known = [ms for name in ("hybrid", "smart") if (ms := self.of(name, "core")) is not None]
        return max(known, default=None)


def costs(runs: Mapping[str, Sequence[Run]], now_s: float) -> Costs:
    """What these searches cost. The longer the last one of a strategy is past, the less it counts."""
    found: dict[str, dict[str, float]] = {}
    for strategy, all_of_it in runs.items():
        last = sorted(all_of_it, key=lambda run: run[0])[-COUNTED:]
        if last:
            fading = 0.5 ** (max(0.0, now_s - last[-1][0]) / FORGOTTEN_BY_HALF_S)
            timed = [_with_core(stages) for _, stages in last]
            names = {name for stages in timed for name in stages}
            found[strategy] = {name: round(fading * _most(name, timed), 3) for name in names}
    return Costs(found)


def _with_core(stages: Mapping[str, float]) -> dict[str, float]:
    return {**stages, "core": stages["total"] - sum(stages.get(name, 0.0) for name in EXTRA)}


def _most(name: str, timed: Sequence[Mapping[str, float]]) -> float:
    ordered = sorted(stages[name] for stages in timed if name in stages)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a search may take, in milliseconds, None for as long as it needs; and what is known of costs."""

    ms: float | None
    costs: Costs

    def strategy(self, wanted: Strategy) -> tuple[Strategy, str]:
        """The strategy that fits, and why it is not the wanted one."""
        need = self.costs.meaning
        if wanted == "lexical" or self.ms is None or need is None or need <= self.ms:
            return wanted, ""
        return "lexical", f"a search by meaning takes {need:.0f} ms here"

    def allows(self, stage: str, elapsed_ms: float, at_least_ms: float) -> bool:
        """Whether a further stage of a smart search, and reading what it finds, still fits."""
        if self.ms is None:
            return True
        need = max(at_least_ms, self.costs.of("smart", stage) or 0.0)
        return elapsed_ms + need + (self.costs.of("smart", "read") or 0.0) <= self.ms


def choice(strategy: Strategy, because: str, budget: Budget, stages: Mapping[str, float]) -> Choice:
    """What was chosen and what it took, for the answer."""
    layers = tuple(
        Layer(name, budget.costs.of(strategy, name), round(ms, 3)) for name, ms in stages.items() if name != "total"
    )
    return Choice(because, budget.ms, budget.costs.of(strategy), round(stages["total"], 3), layers)
