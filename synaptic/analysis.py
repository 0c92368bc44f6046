"""What a question asks for: kind, time, names, words, and a plan of searches. Pure: rules in small tables, no model.

The rules read English; of any other text they say `factual`, `general`, `low`, and its words are still its keywords.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import pairwise

from .lexicon import STOP_WORDS
from .models import TYPES, EntryType
from .normalize import Change
from .timephrase import TimeRange, find_time, is_recent
from .words import words

READ_CHARACTERS = 2_000
"""Of a longer text only the beginning is analysed; a pasted page asks nothing in its middle."""

MAX_KEYWORDS = 64
MAX_ENTITIES = 24


@dataclass(frozen=True, slots=True)
class Known:
    """What the journal itself speaks of; all in lower case but `names`."""

    types: tuple[str, ...] = TYPES
    tags: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EntityMention:
    """`type` is person, location, organization, project, event, tool, file, tag or unknown."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Target:
    """What the intent aims at: of `entity` its `attribute`, or what stands to it in `relation`."""

    entity: str | None = None
    attribute: str | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word of the query in lower case; `weight` from 0 to 1 guesses from its form how much it tells."""

    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One search of a plan. `layer` is semantic, lexical, symbolic, temporal or hybrid; the lowest priority runs first.

    `filters` holds (`since` or `until`, ISO date); they are hard only where the analysis says `only_time`.
    """

    id: str
    query: str
    layer: str
    priority: int = 1
    filters: tuple[tuple[str, str], ...] = ()
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """`execution` is parallel, sequential or iterative; `merge` is union, intersection or weighted."""

    sub_queries: tuple[SubQuery, ...]
    execution: str
    merge: str
    estimated_complexity: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that the words of a query tell. `text` is the query without its time phrase.

    `temporal_reference` is "recent", the time phrase, or None; `only_time`: the range is a hard filter.
    """

    query: str
    text: str
    intent: str
    target: Target
    temporal_reference: str | None
    time_range: TimeRange | None
    entities: tuple[EntityMention, ...]
    question_type: str
    complexity: str
    confidence: float
    info_types: tuple[str, ...]
    keywords: tuple[Keyword, ...]
    prefer_types: tuple[EntryType, ...]
    prefer_tags: tuple[str, ...]
    prefer_projects: tuple[str, ...]
    prefer_files: tuple[str, ...]
    only_time: bool
    plan: Plan

    @property
    def recent(self) -> bool:
        """Whether the newest of what fits is asked for."""
        return self.temporal_reference == "recent"


@dataclass(frozen=True, slots=True)
class NoteReading:
    """A note as it reads by itself: see normalize.py. `suggested_tags` are tags of the journal that it speaks of."""

    original: str
    normalized: str
    changes: tuple[Change, ...]
    keywords: tuple[Keyword, ...]
    suggested_tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The text that the rules see: one line as written and in lower case, and what is known of its time."""

    written: str
    line: str
    has_range: bool


Rules = tuple[tuple[str, re.Pattern[str]], ...]


def _rules(*rows: tuple[str, ...], flags: int = 0) -> Rules:
    """A table in which the first fitting row wins; a row is its value and the patterns of which one must be found."""
    return tuple((value, re.compile("|".join(patterns), flags)) for value, *patterns in rows)


def _first(rules: Rules, line: str) -> str | None:
    return next((value for value, pattern in rules if pattern.search(line)), None)


def analyze(query: str, *, known: Known, today: date, week_start: int = 0) -> Analysis:
    """What the query asks for, and how to search for it. Any text has an analysis; the empty one is a plain fact.

    | query                                     | type        | intent    | complexity |
    |-------------------------------------------|-------------|-----------|------------|
    | "What port does the worker use?"          | factual     | attribute | low        |
    | "When did we move to Postgres?"           | temporal    | temporal  | low        |
    | "Is Redis or Postgres better for queues?" | comparative | general   | medium     |
    """
    read = " ".join(query[:READ_CHARACTERS].replace("\u2019", "'").replace("\0", " ").split())
    found = find_time(read, today=today, week_start=week_start)
    time_range, rest = found if found else (None, read)
    only_time = time_range is not None and _is_only(read, time_range.phrase)
    text = _without_only(rest) if only_time else rest
    recent = is_recent(read)
    asked = _Asked(read, read.lower(), time_range is not None)
    mentions = _mentions(text, known)
    entities = tuple(dict.fromkeys(mention.entity for mention in mentions))[:MAX_ENTITIES]
    question_type, confidence = _question_type(asked)
    complexity = _complexity(asked, question_type)
    intent = _intent(asked, question_type, complexity, entities)
    return Analysis(
        query=query,
        text=(text + query[READ_CHARACTERS:]).strip(),
        intent=intent,
        target=_target(asked.line, intent, entities),
        temporal_reference="recent" if recent else time_range.phrase if time_range else None,
        time_range=time_range,
        entities=entities,
        question_type=question_type,
        complexity=complexity,
        confidence=confidence,
        info_types=_info_types(asked.line, question_type),
        keywords=_keywords(text, entities),
        prefer_types=_types_named(asked.line, known.types),
        prefer_tags=tuple(dict.fromkeys(m.tag for m in mentions if m.tag)),
        prefer_projects=tuple(dict.fromkeys(m.project for m in mentions if m.project)),
        prefer_files=tuple(dict.fromkeys(m.file for m in mentions if m.file)),
        only_time=only_time,
        plan=_plan(text, question_type, complexity, entities, time_range),
    )


# --- kind of question ---------------------------------------------------------------------------------------------

_ADJECTIVE = (  # those whose -er is no noun: "slower", not "server"
    r"(?:fast|slow|quick|cheap|pric(?:i|e)|small|bigg|larg|old|young|new|long|short|high|low|tall|great|strong|weak|hard"
    r"|simpl|easi|saf|clean|clos|near|furth|light|heavi|bright|dark|warm|hott|cold|cool|wid|deep|rich|poor|nic|happi"
    r"|healthi|busi|quiet|loud|soft|smooth|tight|fresh|thick|thinn|dens|lean|strict|nois|stabl|tini|earli|soon)er"
)
_COMPARED = rf"(?:better|worse|fewer|less|(?:more|rather)(?! recent)|prefer\w*|{_ADJECTIVE})"
_ROLE = (
    r"(?:sister|brother|wife|husband|partner|boss|manager|author|owner|founder|ceo|cto|maintainer|friend|son|daughter"
    r"|mother|father|mum|mom|dad|uncle|aunt|cousin|parents|neighbou?r|colleague|roommate|teacher|coach|creator|lead"
    r"|head|supplier|vendor|landlord|successor)"
)
_DID = (
    r"(?:[a-z]+ed|met|made|wrote|built|chose|bought|sold|got|had|saw|read|gave|found|took|left|ran|sent|won|taught|paid"
    r"|led|began|lent|set|[a-z]+s)"
)
_NOT_DESCRIBED = r"(?:when|if|how|why|as|and|or|to|of|time|way|reason|fact|day|moment|only|same)"
_NOUN = rf"(?!{_NOT_DESCRIBED}\b)[\w-]+ "
_THE = rf"\b(?:the|an?) (?:{_NOUN}){{1,2}}"
_ANY = rf"\b(?:the|an?|that|our|my|any|someone|somebody|one) (?:{_NOUN}){{0,3}}"
_PRONOUN = r"(?:we|i|you|he|she|they)"
_UNIT = r"(?:minute|hour|day|night|week|month|quarter|year)s?"
_PLURAL = r"[\w-]*[^suis\W]s"
_ASKING_WORD = (
    r"(?:who|whom|what|which|where|when|why|how|is|are|was|were|do|does|did|has|have|had|can|could|should|would|will)"
)
_PLEASE = r"^(?:please |can you |could you )?"

_QUESTION_TYPES = _rules(
    (
        "temporal",
        r"\b(?:came|come|comes|happen|happens|got|went|starts?|done|\w+ed) first\b",
        r"\bbefore or after\b",
    ),
    ("conceptual", r"^(?:so |and |but |then )?why\b"),
    (
        "temporal",
        r"\b(?:earlier|sooner|later)\b.{0,60}\bor\b",
        r"^was it .{2,60} or .{2,60} when\b",
        r"\b(?:what order|in order|timeline|chronolog\w+)\b",
    ),
    (
        "comparative",
        r"\b(?:compar(?:e[ds]?|ing|isons?)|versus|vs|contrast(?:s|ed)?|differ(?:s|ed|ences?|ently)?|similarit(?:y|ies))\b",
        r"\b(?:pros and cons|before and after|(?:dis)?advantages|in common|trade-?offs?|alike|similar to)\b",
        rf"\b{_COMPARED}\b.{{0,80}}\b(?:than|or)\b",
        rf"\bor\b.{{0,80}}\b{_COMPARED}\b",
        r"\bas \w+ as\b|\bas (?:opposed to|against)\b",
        r"\b(?:how|what|same)\b.{0,40} different\b",
        r"\bsame\b.{1,60}\bor\b",
        r"\bwhich (?:one )?of the (?:two|three)\b",
        r"^(?:should|would) .{1,80}\bor\b",
        r"^[\w -]{1,60} or [^?]{1,60}\bwhich\b",
        r"^(?:do|did|are|were|have|is|was) [\w'-]+ and [\w'-]+ .{0,60}\b(?:same|both|similar)\b",
    ),
    ("conceptual", r"\bwhy (?:did|do|does|is|are|was|were|we|the|on)\b", r"\bexplain\b", r"\bhow come\b"),
    ("aggregation", r"\bmost (?:common|frequent|often|popular|used)\b"),
    (
        "conceptual",
        r"\b(?:reason(?:s|ing)?|rationale|ideas?|thinking|motivations?|logic|argument)"
        r" (?:for|behind|why|when|was|that|to|the|we)\b",
        r"\bwhat (?:\w+ )?(?:motivated|makes?|made|causes?|caused|leads?|led|drives?|drove|inspired|prompted)\b",
        r"\bwhat (?:happens (?:if|when)|role|problem|purpose|effect|explains)\b",
        r"\b(?:in what way|on what grounds|meant by|so special|understand(?:ing)?|lessons?|walk me through)\b",
        r"\bhow .{1,80} works?\b|\bwhat does .{1,60} mean\b|\bwhat (?:is|was) the point\b",
    ),
    (
        "aggregation",
        rf"\bhow many (?!{_UNIT})|\bhow often\b",
        r"\b(?:summar\w+|sum up|overview|round-?up|recap|enumerate|in total|total|average|who all|in what ways)\b",
        r"\bnumber of (?!the|our|my)|\ba list\b|\btop (?:\d+|two|three|four|five|six|ten)\b|\bmost\?*$",
        rf"{_PLEASE}(?:list|count|collect|gather|name (?!of))\b",
        r"(?<!at )(?<!after )\ball (?:of )?(?:the|our|my|open|\w+s)\b",
        r"\b(?:every(?:thing|one|body)?|each) (?!other)",
        r"\bwhat (?:kinds|types|sorts|things|else|other)\b|\bwhich ones\b|^which of (?:our|the|my|these)\b",
        rf"^(?:what|which) (?:[a-z]+ )?{_PLURAL} (?:do|did|does|are|were|have|has|had|can|should|still|need)\b",
        rf"^which (?!(?:does|was|has)\b){_PLURAL} [a-z]+",
    ),
    (
        "multi-hop",
        rf"{_ANY}(?:that|who|which|whose|where)\b|\bwhose\b",
        r"\w's [\w-]+'s\b|\bof (?:the|our|my|a) (?:[\w-]+ ){1,3}of\b",
        rf"{_THE}(?:where )?{_PRONOUN} \w+.{{0,60}} (?:is|was|did|does|has|use[sd]?|run|live|work)\b",
        rf"^(?:who|where|what|which|is|does|did) .{{1,60}}{_THE}(?:where )?{_PRONOUN} [a-z]+",
        rf"{_THE}(?:where )?(?-i:[A-Z][a-z]+) (?:later )?{_DID}\b",
        rf"{_ANY}(?:containing|holding|behind|\w+ed by|made by|written by) \w",
        rf"^(?!is|was|are|were)[^?]{{2,60}}{_THE}[a-z]+ing (?:the|our|my|an?)\b",
        r"\b(?:the|a) (?:person|man|woman|guy|people|colleague|engineer|company|team|one) [a-z]+ed\b",
        rf"(?:\w's {_ROLE}|\bthe {_ROLE} of .{{2,40}}) (?!in |at |on |for )[a-z]+",
        rf"\bof (?:\w+'s|the|my|our) {_ROLE}\b(?! of the\b)",
        r"\w(?: is| was)? in that \w+ed\b",
        r"^(?:who|where|what|which) .{3,80}[\w,] and (?:what|who|where|when|which|how)\b",
    ),
    (
        "temporal",
        r"^(?:and |so |but )?(?:(?:since|until|till|by|from) )?when\b|[,–-] when\b",
        r"\b(?:me|know|remember|recall|out|check) (?:\w+ )?when\b",
        rf"\bhow (?:long|recent(?:ly)?|soon)\b|\bhow many {_UNIT}|\b(?:what|which) (?:time|date|day|{_UNIT})\b",
        r"\b(?:first|last|next) time\b|\b(?:date|day|duration|deadline|anniversary) (?:of|for)\b|\bby the time\b",
        r"\b(?:latest|newest|most recent(?:ly)?|earliest|oldest)\b",
        r"^what(?:'s new|'s changed| happened| changed)\b",
        rf"^what (?:did|had|has|have|was|were)\b.{{1,80}} (?:before|after) (?:{_PRONOUN}|the|our|my|\w+ing)\b",
        r"^(?:did|was|were|is|has) .{3,80}\b(?:before|after) [\w' -]{1,40}\?*$",
    ),
    (
        "conceptual",
        r"\bhow (?!many|much|often|long|old|big|large|fast|far|tall|high|expensive|deep|heavy|wide)[a-z]+",
        r"^what (?:is|are) an? ",
        r"\b(?:purpose|concept|meaning|architecture|philosophy|explanation) (?:of|behind)\b",
    ),
    (
        "aggregation",
        r"^(?:what|which) (?:are|were)\b|^(?:who|where) (?:are|were|have|has)\b|^what (?:have|has) [\w'-]+ \w",
        rf"^(?!(?:{_ASKING_WORD}|this|yes)\b)(?:[a-z]+ )?{_PLURAL} "
        r"(?:we|i|they|he|she|that|from|with|about|by|\w+ed|(?-i:[A-Z]\w+))\b",
    ),
    flags=re.IGNORECASE,
)

_PERIOD = re.compile(r"^what (?:did|have|has|had|was|were|went|got)\b")
_ASKS = re.compile(rf"\?|^{_ASKING_WORD}\b")


def _question_type(asked: _Asked) -> tuple[str, float]:
    """(type, confidence): the first row that fits; surest when rows of one type do, least where nothing is asked."""
    fitting = list(dict.fromkeys(value for value, pattern in _QUESTION_TYPES if pattern.search(asked.written)))
    if fitting:
        return fitting[0], round(max(0.5, 0.95 - 0.15 * (len(fitting) - 1)), 2)
    if asked.has_range and _PERIOD.search(asked.line):
        return "temporal", 0.8
    if not asked.line:
        return "factual", 0.0
    return "factual", 0.7 if _ASKS.search(asked.line) else 0.4


# --- complexity ---------------------------------------------------------------------------------------------------

_FIRST_WORD = re.compile(r"^\w+ ?")
_UP_TO_WHEN = re.compile(r"^(?:.{0,30}?\bwhen\b|\w+) ?")
_CONDITION = re.compile(
    r"\b(?:if|unless|when|while|before|after|since|until|without|except|despite|because|during|by the time)\b"
)
_SECOND_CLAUSE = re.compile(
    r"[,;] (?:and|but|then)\b|\band (?:what|why|how|who|when|where|which|did|does|is)\b|\b(?:group|sort)ed by\b"
    r"|\bbut not\b|\b(?:and|then) (?:say|tell|explain)\b"
)
_RESTRICTION = re.compile(r" (?:that|who|which|whose)\b")
_ALTERNATIVES = re.compile(r"\bsame\b.{0,40}\bor\b")
_ORDER = re.compile(r"(?<!the )\bfirst\b(?! time)|\b(?:or|between|order)\b")
_ASKED_WITHIN = re.compile(r"\b(?:what|who|where|when|which|how)\b.{0,20}\b(?:is|does|did|leads|was|has)\b")
_CHAIN = re.compile(r"\w's [\w-]+'s\b")


def _complexity(asked: _Asked, question_type: str) -> str:
    """low: one fact; medium: a condition, a time, two sides, a how or why; high: several clauses or hops."""
    line = asked.line
    later = (_UP_TO_WHEN if question_type == "temporal" else _FIRST_WORD).sub("", line)
    clauses = len(_SECOND_CLAUSE.findall(line))
    conditions = len(_CONDITION.findall(later)) + asked.has_range
    if question_type == "multi-hop":
        return "medium" if _CHAIN.search(line) or _is_noun_phrase(line, later) else "high"
    if question_type == "comparative":
        if _ALTERNATIVES.search(line):
            return "low"
        return "high" if clauses or asked.has_range or conditions > 1 else "medium"
    if question_type == "conceptual":
        return "high" if clauses > 1 or (clauses and conditions) else "medium"
    if question_type == "aggregation":
        return "high" if clauses or conditions > 1 or _RESTRICTION.search(line) else "medium"
    if question_type == "temporal" and _ORDER.search(line):
        conditions += 1
    return "high" if clauses > 1 else "medium" if clauses or conditions else "low"


def _is_noun_phrase(line: str, later: str) -> bool:
    """Whether it is a short description without a verb of asking: "job of the friend who lent us the tent"."""
    return not _ASKS.search(line) and not _ASKED_WITHIN.search(later) and line.count(" ") < 10


# --- intent and target --------------------------------------------------------------------------------------------

_TIME_ASKED = re.compile(rf"^(?:(?:since|until|by) )?when\b|\b(?:what|which) (?:time|date|{_UNIT})\b")
_RELATION = re.compile(
    r"\b((?:relat\w+|connect\w+|link\w*|tied|married|similar|belongs?|attached|reports?) to"
    r"|(?:depend\w*|based|rel(?:y|ies)) on|depends?|related|relationship|connection|compatible|in common|part of"
    r"|(?:work|talk|speak|collaborat|interact|integrat|communicat|compet|conflict)\w* (?:together|with)"
    r"|each other|together|(?:the )?same (?:one|person|thing|as))\b"
    r"|^(?:does|do|did|can|is|will) .{1,80}\b(support|use|need|require|import|block|affect|replace|call|break)s?\b"
    r" (?:the|our|my|\w+$|\w+\?)"
)
_MEASURED = re.compile(
    rf"\b(?:{_ADJECTIVE}|rates?|latency|size|price|costs?|speed|duration|score|weight|more \w+ than)\b"
    r"|^(?!compare\b).*\b(?:more|fewer|less|most) (?!like)[a-z]+"
)
_ABOUT = re.compile(
    r"\b(?:tell me|know|anything|everything|something|notes?|info\w*|details?|learned|learnt|remember)"
    r" (?:\w+ )?(?:about|on)\b"
    r"|^(?:who|what)(?: is|'s| are) (?:[\w.-]+ ?){1,2}\??$|^(?:describe|about)\b"
)
_YES_NO = re.compile(r"^(?:did|has|have|had|do|does|was|were|can|could|should|will|would|are there|is there)\b")
_COUNTED = re.compile(r"\bhow often\b|\b(?:average|total|percent\w*)\b")


def _intent(asked: _Asked, question_type: str, complexity: str, entities: tuple[EntityMention, ...]) -> str:
    """What is sought: a time, what binds two things, all about one, a property of one, or none of these."""
    line = asked.line
    if question_type == "temporal" or _TIME_ASKED.search(line):
        return "temporal"
    if question_type == "comparative":
        return "attribute" if _MEASURED.search(line) else "general"
    if _RELATION.search(line):
        return "relation"
    if question_type == "conceptual":
        return "general"
    if question_type == "aggregation":
        return _intent_of_many(line, complexity, entities)
    if _ABOUT.search(line):
        return "entity"
    return "general" if not line or (question_type == "factual" and _YES_NO.search(line)) else "attribute"


def _intent_of_many(line: str, complexity: str, entities: tuple[EntityMention, ...]) -> str:
    if _COUNTED.search(line):
        return "attribute"
    named = any(e.type not in ("tool", "tag", "file") and not e.name.isupper() for e in entities)
    return "entity" if complexity != "high" and (named or _ABOUT.search(line)) else "general"


_ATTRIBUTE = re.compile(
    r"\b(?:what(?:'s| is| was| are| were)|the) (?:the |our |my |his |her |their |its |[\w.-]+'s )?"
    r"([\w-]+(?: [\w-]+)?) (?:of|for)\b"
    r"|\b(?:what|which) (?!(?:is|was|are|were|do|did|does|has|have|will|should|happened)\b)([\w-]+)\b"
    r"|\w's ([\w-]+)"
    r"|\bhow (many|much|big|large|old|fast|often|long|high|tall|far|expensive)\b"
    r"|^(?:the )?([\w-]+) (?:of|for)\b"
)


def _target(line: str, intent: str, entities: tuple[EntityMention, ...]) -> Target:
    attribute = _ATTRIBUTE.search(line) if intent == "attribute" else None
    relation = _RELATION.search(line) if intent == "relation" else None
    return Target(
        entity=entities[0].name if entities else None,
        attribute=next(group for group in attribute.groups() if group) if attribute else None,
        relation=next(group for group in relation.groups() if group) if relation else None,
    )


_INFO_TYPES = _rules(
    ("time", r"\b(?:when|how long|date|day|time|month|year|latest|newest|recent)\b"),
    ("person", r"\b(?:who|whom|whose)\b"),
    ("place", r"\bwhere\b|\b(?:city|country|place|town)\b"),
    ("reason", r"\bwhy\b|\b(?:reason|rationale|cause[ds]?|because)\b"),
    ("number", r"\bhow (?:many|much|often|big|large|fast|old|high|far)\b|\b(?:number|count|total|percent\w*)\b"),
    ("list", rf"\b(?:list|all|every|which {_PLURAL}|what are)\b"),
    ("steps", r"\bhow (?:do|to|should|can)\b"),
    ("decision", r"\bdeci(?:de[ds]?|sions?)\b|\b(?:chose|choose|agreed?)\b"),
    ("status", r"\b(?:status|progress|open|done|blocked|finished|pending)\b"),
)
_INFO_OF_TYPE = {
    "temporal": "time",
    "comparative": "comparison",
    "conceptual": "explanation",
    "aggregation": "list",
}


def _info_types(line: str, question_type: str) -> tuple[str, ...]:
    """The kinds of information that an answer must hold, at least `fact`."""
    found = [value for value, pattern in _INFO_TYPES if pattern.search(line)]
    if question_type in _INFO_OF_TYPE:
        found.append(_INFO_OF_TYPE[question_type])
    return tuple(dict.fromkeys(found)) or ("fact",)


# --- time as a filter ---------------------------------------------------------------------------------------------

_PREPOSITION = r"(?:from|in|of|on|during|within|for|the|since)"
_ONLY = rf"(?:(?:only|strictly|exclusively|solely|nothing but)(?: {_PREPOSITION})*|just(?: {_PREPOSITION})+)"
_ONLY_BEFORE = re.compile(
    rf"\b(?:{_ONLY}|only (?:things|those|the ones|ones|notes|entries|results|what is)(?: {_PREPOSITION})*)\s*$"
)
_ONLY_AFTER = re.compile(r"^,? (?:only|exclusively|and nothing else)\b")
_ONLY_LEFT = re.compile(rf"[ ,(]*\b(?:{_ONLY}|and nothing else)(?!\w)", re.IGNORECASE)
_LEFT_OVER = re.compile(rf"(?: {_PREPOSITION})+$", re.IGNORECASE)


def _is_only(read: str, phrase: str) -> bool:
    """Whether the phrase is named as a filter: "only from last week", "in May only"."""
    line = read.lower()
    at = line.find(phrase.lower())
    if at < 0:
        return False
    after = line[at + len(phrase) :]
    return bool(_ONLY_BEFORE.search(line[max(0, at - 60) : at]) or _ONLY_AFTER.search(after))


def _without_only(rest: str) -> str:
    return _LEFT_OVER.sub("", _ONLY_LEFT.sub("", rest, count=1)).strip(" ,")


# --- entities -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    word: str
    opens: bool  # the first of a sentence


@dataclass(frozen=True, slots=True)
class _Mention:
    """Something named, and what of the journal it is."""

    entity: EntityMention
    tag: str = ""
    project: str = ""
    file: str = ""


_TOKEN = re.compile(r"(?:[#@]|~?\.{0,2}/)?\w[\w'./\\:+&-]*")
_QUOTED = re.compile(r'"([^"]{2,120})"|“([^”]{2,120})”')
_SENTENCE_END = re.compile(r"[.?!:]\s+$")

_EXTENSION = (
    r"(?:py|jsx?|tsx?|rs|go|c|h|cpp|hpp|java|kt|rb|php|sh|sql|md|txt|rst|json|ya?ml|toml|ini|cfg|conf|csv|log|html|css"
    r"|ipynb|lock|plist|env|xml|pdf|png|jpe?g|db|swift|lua|proto|tf|zip)"
)
_FORMS = _rules(
    ("tag", r"^#"),
    ("person", r"^@"),
    ("unknown", r"^(?:https?:|www\.)|\.(?:com|org|net|io|dev|ai|app)$"),
    ("tool", r"^(?:node|next|nuxt|vue|moment|express|three|d3|chart|socket)\.(?:js|io)$|^[a-z]+\+\+$"),
    ("file", rf"^[\w~./\\+-]*\w\.{_EXTENSION}$|^(?:~|\.{{0,2}})/[\w.-]+/[\w./-]+$"),
    flags=re.IGNORECASE,
)
_TOOL = re.compile(
    r"^(?:[A-Z][a-z]+[A-Z]\w*|[a-z]+[A-Z]\w*|[A-Z][A-Za-z]*\d\w*|[A-Za-z]{2}\w*(?:::|\.)[a-z]\w+|[A-Za-z]\w*_\w+)$"
)
_TOOLS = frozenset(
    """ansible aws azure bash celery chrome django docker elasticsearch fastapi firefox flask gcp git github gitlab
    golang grafana grpc helm javascript jenkins jira kafka kotlin kubernetes linux macos mongo mongodb mysql nginx npm
    numpy obsidian pandas pnpm postgres postgresql prometheus pytest pytorch rabbitmq redis sentry sqlite stripe svelte
    tailwind tensorflow terraform typescript ubuntu webpack zig""".split()
)
_TOOLS_WITH_A_CAPITAL = frozenset(
    "cursor go helm java node notion python rails react ruby rust slack spark swift vim vite vue windows".split()
)
_EVENTS = frozenset("christmas easter halloween thanksgiving hanukkah diwali ramadan".split())
_NO_NAMES = STOP_WORDS | frozenset(
    """january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday ok okay am pm please thanks i'm i've
    i'd i'll""".split()
)
_ASKING = frozenset(
    """add anything anyone ask compare count describe everything explain find get give happened happen know let like
    list look made make many mention mentioned much people please recap remember remind said say search show summarise
    summarize summary tell thing things think thought use used want way latest recent newest last first""".split()
)
"""Words of asking rather than of what is asked for."""

_EVENT_WORD = (
    r"(?:conference|meetup|meeting|workshop|birthday|wedding|party|festival|summit|retro\w*|stand-?up|marathon|parade"
    r"|hackathon|launch|release)"
)
_ORGANIZATION_WORD = r"(?:inc|gmbh|ltd|llc|corp|ag|team|university|company|foundation|institute|bank|department)"
_LAST_WORD = _rules(
    ("organization", rf"\b{_ORGANIZATION_WORD}\.?$|^team\b"),
    ("event", rf"\b{_EVENT_WORD}$"),
    ("location", r"\b(?:street|avenue|park|beach|island|lake|city|square|mountains?|valley|bay)$"),
)
_AFTER = _rules(
    ("project", r"^ project\b"),
    ("organization", rf"^ {_ORGANIZATION_WORD}\b"),
    ("event", rf"^(?:'s)? {_EVENT_WORD}\b"),
    ("tool", r"^ (?:library|framework|database|server|cli|api|plugin|package|tool|config\w*)\b"),
    ("person", r"^'s?\b"),
    (
        "person",
        r"^,? (?:says?|said|thinks?|thought|likes?|wants?|wanted|works?|worked|suggest\w*)\b",
        r"^ (?:decide[ds]|mentions|mentioned|told|asked|made|wrote|fix(?:ed|es)|lives?|feels?|felt|got|went|met)\b",
        r"^ (?:joined|moved|plans?|planned|and [A-Z])",
    ),
)
_BEFORE = _rules(
    ("project", r"\bproject $"),
    ("location", r"\b(?:in|near|around|outside|across|city of)(?: (?:the|downtown))? $"),
    (
        "location",
        r"\b(?:trip|travel\w*|move[ds]?|moving|fl(?:y|ew|ight)|went|going|back|drove|relocat\w+) to $",
        r"\bvisit(?:s|ed|ing)? $",
    ),
    ("organization", r"\b(?:work(?:s|ed|ing)?|jobs?|interview\w*|position|role|hired) (?:at|for|by) $|\bcompany $"),
    (
        "person",
        r"\b(?:mr|mrs|ms|dr|prof)\.? $",
        r"\b(?:with|by|tell|told|asked?|met|did|does|has|had|would|should|whether|because) $",
    ),
)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    for found in _TOKEN.finditer(text):
        word = found[0].rstrip("'./\\:&-")
        opens = not tokens or bool(_SENTENCE_END.search(text[max(0, found.start() - 3) : found.start()]))
        tokens.append(_Token(found.start(), found.start() + len(word), word, opens))
    return tokens


def _mentions(text: str, known: Known) -> list[_Mention]:
    """Everything that the text names, in its order: what the journal knows first, then what looks like a name."""
    tokens = _tokens(text)
    found: dict[int, _Mention] = {}
    taken: set[int] = set()
    for place, count, mention in _known_mentions(text, tokens, known):
        run = range(place, place + count)
        if taken.isdisjoint(run):
            found[tokens[place].start] = mention
            taken.update(run)
    for quoted in _QUOTED.finditer(text):
        inside = {n for n, token in enumerate(tokens) if quoted.start() <= token.start < quoted.end()}
        if inside and taken.isdisjoint(inside):
            found[quoted.start()] = _Mention(EntityMention((quoted[1] or quoted[2]).strip(), "unknown"))
            taken |= inside
    for start, entity in _named_by_form(text, tokens, taken):
        found[start] = _Mention(entity)
    return [found[start] for start in sorted(found)]


def _known_mentions(text: str, tokens: list[_Token], known: Known) -> Iterator[tuple[int, int, _Mention]]:
    """(first token, how many, mention) of what the journal knows, the longest first."""
    for count in range(4, 0, -1):
        for place in range(len(tokens) - count + 1):
            run = tokens[place : place + count]
            if any(text[one.end : other.start] not in (" ", "-") for one, other in pairwise(run)):
                continue
            written = " ".join(token.word for token in run)
            mention = _known_mention(written, run[0].opens, known)
            if mention is None and written.endswith("'s"):
                mention = _known_mention(written.removesuffix("'s"), run[0].opens, known)
            if mention is None:
                continue
            if not mention.entity.type:
                name = mention.entity.name
                kind = _kind(text, run[0].start, run[0].start + len(written.removesuffix("'s")), name)
                mention = replace(mention, entity=EntityMention(name, kind))
            yield place, count, mention


def _known_mention(written: str, opens: bool, known: Known) -> _Mention | None:
    """What of the journal this stretch of the text is; of type "" where it is a name."""
    plain = written.lower().lstrip("#@")
    if len(plain) < 2:
        return None
    if plain in STOP_WORDS and not written.startswith("#"):
        is_name = not opens and written in known.names
        return _Mention(EntityMention(written, "")) if is_name else None
    slug = plain.replace(" ", "-")
    tag = next((form for form in (slug, plain, slug.removesuffix("s")) if form in known.tags), "")
    project = next((form for form in (plain, slug) if form in known.projects), "")
    if file := _by_file_name(known.files).get(plain):
        return _Mention(EntityMention(file, "file"), tag, project, file)
    if project:
        return _Mention(EntityMention(project, "project"), tag, project)
    name = _by_lower_case(known.names).get(plain)
    if name and (written[:1].isupper() or not (tag or plain in _NO_NAMES)):
        return _Mention(EntityMention(name, ""), tag)
    return _Mention(EntityMention(tag, "tag"), tag) if tag else None


@lru_cache(maxsize=4)
def _by_lower_case(names: frozenset[str]) -> Mapping[str, str]:
    return {name.lower(): name for name in sorted(names, reverse=True)}


@lru_cache(maxsize=4)
def _by_file_name(files: frozenset[str]) -> Mapping[str, str]:
    """Each file under its path and, unless two share it, under its name."""
    names = Counter(path.rpartition("/")[2] for path in files)
    alone = {name: path for path in files if names[name := path.rpartition("/")[2]] == 1}
    return {**alone, **{path: path for path in files}}


def _named_by_form(text: str, tokens: list[_Token], taken: set[int]) -> Iterator[tuple[int, EntityMention]]:
    """(start, entity) of files, tags, tools and capitalised names that nothing else has taken."""
    next_free = 0
    for place, token in enumerate(tokens):
        if place < next_free or place in taken:
            continue
        bare = token.word.removesuffix("'s")
        if kind := _kind_of_word(bare):
            yield token.start, EntityMention(bare, kind)
        elif _is_name(text, tokens, place):
            last = place
            while last - place < 4 and last + 1 not in taken and _goes_on(text, tokens, last):
                last += 1
            next_free = last + 1
            name = text[token.start : tokens[last].end].removesuffix("'s")
            yield token.start, EntityMention(name, _kind(text, token.start, token.start + len(name), name))


def _kind_of_word(word: str) -> str | None:
    """The kind that a single word has by its form alone."""
    if kind := _first(_FORMS, word):
        return kind
    if word.lower() in _TOOLS or (word[:1].isupper() and word.lower() in _TOOLS_WITH_A_CAPITAL):
        return "tool"
    return "tool" if _TOOL.match(word) else None


def _is_name(text: str, tokens: list[_Token], place: int) -> bool:
    """Whether a name begins here: a capital, within the sentence or where what follows makes it a subject."""
    token = tokens[place]
    bare = token.word.removesuffix("'s").lower()
    if not token.word[:1].isupper() or bare in _NO_NAMES or len(bare) < 2:
        return False
    if not token.opens or token.word.isupper():
        return True
    if bare in _ASKING:
        return False
    after = text[token.start + len(bare) : token.end + 40]
    return _first(_AFTER, after) is not None or _goes_on(text, tokens, place)


def _goes_on(text: str, tokens: list[_Token], place: int) -> bool:
    """Whether the name of this token includes the next one."""
    if place + 1 >= len(tokens):
        return False
    one, other = tokens[place], tokens[place + 1]
    if one.word.endswith("'s") or text[one.end : other.start] != " ":
        return False
    word = other.word.removesuffix("'s")
    return word[:1].isupper() and word.lower() not in _NO_NAMES and _kind_of_word(word) in (None, "tool")


def _kind(text: str, start: int, end: int, name: str) -> str:
    """What a name is, by itself and by what stands around it."""
    if name.lower() in _EVENTS:
        return "event"
    return (
        _kind_of_word(name)
        or _first(_LAST_WORD, name.lower())
        or _first(_AFTER, text[end : end + 40])
        or _first(_BEFORE, text[max(0, start - 40) : start].lower())
        or "unknown"
    )


_TYPE_WORDS = {name: re.compile(rf"\b{name}{'' if name == 'progress' else 's?'}\b(?! that\b)") for name in TYPES}


def _types_named(line: str, known: Iterable[str]) -> tuple[EntryType, ...]:
    """The types of notes that the question calls by their name, alone or as a plural."""
    allowed = frozenset(known)
    return tuple(name for name in TYPES if name in allowed and _TYPE_WORDS[name].search(line))


# --- keywords -----------------------------------------------------------------------------------------------------


def _keywords(text: str, entities: tuple[EntityMention, ...]) -> tuple[Keyword, ...]:
    """The words that tell something, the weightiest first: names, identifiers and numbers, long words, the rest."""
    named = {word for entity in entities for _, word in words(entity.name)}
    weights: dict[str, float] = {}
    for start, word in words(text):
        if word not in STOP_WORDS:
            weights.setdefault(word, _weight(word, text[start : start + len(word)], named))
    ranked = sorted(weights.items(), key=lambda item: -item[1])
    return tuple(Keyword(word, weight) for word, weight in ranked[:MAX_KEYWORDS])


def _weight(word: str, written: str, named: set[str]) -> float:
    if word in named:
        return 1.0
    if word in _ASKING:
        return 0.2
    if any(letter.isdigit() for letter in word) or "_" in word or written[1:] != written[1:].lower():
        return 0.9
    return 0.7 if len(word) >= 7 else 0.6 if len(word) >= 4 else 0.4


# --- plan ---------------------------------------------------------------------------------------------------------

_BETWEEN = re.compile(
    r"\b(?:between|compare|comparing) (.{2,120}?) (?:and|with|to|versus|vs\.?) ([^?,;]{2,120})", re.IGNORECASE
)
_CONNECTOR = re.compile(
    r",? (?:or|versus|vs\.?|than|over|against|rather than|as opposed to|instead of) ", re.IGNORECASE
)
_COMPARING = re.compile(
    rf"{_COMPARED}|versus|vs|compar\w+|differen\w+|contrast|pros|cons|prefer\w*|advantages",
    re.IGNORECASE,
)
_DESCRIPTION = re.compile(
    r"\b(?:the|an?|our|my) ((?:[\w-]+ ){1,3}?)"
    rf"((?:who|that|which|whose|where|{_PRONOUN}|behind|containing|holding|\w+ed by|\w+ing the|(?-i:[A-Z]\w+) \w+)\b"
    r" [^?,;]{2,200})",
    re.IGNORECASE,
)
_OF_ROLE = re.compile(
    rf"(\b{_ROLE} of (?:the |our |my )?[\w-]+|\w+'s [\w-]+(?='s )|\w+'s {_ROLE}\b|(?<= of )[\w-]+ of [^?,;]{{3,80}})",
    re.IGNORECASE,
)
_SECOND_QUESTION = re.compile(r",? and (?=(?:what|why|how|who|when|where|which|did|does|is|was)\b)", re.IGNORECASE)
_DO_SUPPORT = re.compile(r"\b(?:do|does|did|is|was|has|can|will) (?:the|an?|our|my) $", re.IGNORECASE)
_ASKED_BROADLY = re.compile(
    r"^(?:please )?(?:(?:list|show|give|tell|find|count|summari[sz]e|name)(?: (?:me|us))?"
    r"|how (?:many|often)|what (?:are|were)|which)\b(?: (?:all|every|of|the|an? (?:summary|list|overview) of))*",
    re.IGNORECASE,
)


def _plan(
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
        broad = _ASKED_BROADLY.sub("", whole).strip() or whole
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
    if found := _BETWEEN.search(text):
        sides = [found[1], found[2]]
        shared = f"{text[: found.start()]} {text[found.end() :]}"
    elif found := _CONNECTOR.search(text):
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
    about = " ".join(word for _, word in words(shared) if word not in STOP_WORDS and not _COMPARING.fullmatch(word))
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
    tokens = _tokens(part)
    kept: list[_Token] = []
    for token in reversed(tokens) if last else tokens:
        small = token.word.lower() in STOP_WORDS or _COMPARING.fullmatch(token.word)
        if kept and (small or len(kept) == 3 or not _adjoin(part, kept[-1], token)):
            break
        if not small:
            kept.append(token)
    return part[min(t.start for t in kept) : max(t.end for t in kept)] if kept else ""


def _adjoin(text: str, one: _Token, other: _Token) -> bool:
    """Whether nothing but a blank stands between the two."""
    return text[min(one.end, other.end) : max(one.start, other.start)] == " "


def _hops(text: str) -> tuple[str, str] | None:
    """(the inner description, the outer question) of a question that chains two facts."""
    if second := _SECOND_QUESTION.search(text):
        return text[: second.start()], text[second.end() :]
    if found := _DESCRIPTION.search(text):
        outer = text if _DO_SUPPORT.search(text[: found.start(1)]) else text[: found.end(1)] + text[found.end() :]
        return f"{found[1]}{found[2]}".strip(), " ".join(outer.split())
    if found := _OF_ROLE.search(text):
        return found[1], text
    return None
