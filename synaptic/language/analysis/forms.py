"""The strategy of a query, and the parts of a smart search. Pure.

| form of the query                                            | strategy |
|--------------------------------------------------------------|----------|
| an identifier, a path, a quoted phrase, the text of an error | lexical  |
| nothing but signs: `🐛`                                      | lexical  |
| anything else, a question too                                | hybrid   |

| question                                   | parts                                       |
|--------------------------------------------|---------------------------------------------|
| Who leads the team and where does he live? | Who leads the team; where does he live      |
| Is Redis or Postgres better?               | none: one question asks for a choice        |
| Redis vs Postgres for queues               | Redis; Postgres for queues                  |
| What did we use before Postgres?           | What did we use; Postgres                   |
"""

import re

from ...models import Strategy, Texts
from ..lexicon import STOP_WORDS
from ..query import ParsedQuery
from ..words import is_sign, words

MAX_PARTS = 4
"""Parts into which a question is split, at most. By eye."""

_CONNECTOR = re.compile(r"(?i),?\s+(?:and|vs\.?|versus|before|after)\s+")  # `or` is a choice
_QUESTION = re.compile(
    r"(?i)[?？]\s*$|^\s*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does"
    r"|did|can|could|should|would|will|has|have|had)\s+\S"
)
_ERROR = re.compile(
    r"^\W*(?:[\w.]*(?:Error|Exception|Warning)\b|Traceback "
    r"\(|(?:error|fatal|panic|warning|err!?)\s*[:!\[(])"
    r"|\b(?:[Ee]rrno|[Ss]egmentation fault|panicked at|exit (?:code|status) \d|E[A-Z]{5,}\b)"
    r"|^\s*at \S+\(|^\s*File\s+\S+, line \d"
)
_FLAG = re.compile(r"--?[a-zA-Z][\w-]*(?:=.*)?")
_CODE = re.compile(
    r"""(?x)\w+_\w+ | \w*[a-z][A-Z]\w*             # snake_case, camelCase
    | .*(?:::|->|=>|==|\(\)|[{}<>=$;|`]).*     # signs of programs
    | [@\#]\w.* | [^@\s]+@[^@\s]+\.\w+       # @name, #tag, an address
    | \w+://.* | .*\w[/\\][\w.~-].* | [/~.\\].*[/\\].*   # a URL, a path
    | [\w-]+(?:\.[\w-]+)*\.[A-Za-z][\w-]*(?::\d+)*  # a.dotted.name, file.py:3
    | [A-Za-z]\w*(?:-\w+){2,}                         # a-dashed-name
    | [vV]?\d+(?:\.\d+)+\S* | \S*:\d{2,5}      # a version, an address, a port
    | (?=\w*\d)(?=\w*[a-f])[0-9a-f]{6,40} | 0x[0-9a-fA-F]+      # a hash
    | [A-Z][A-Z0-9]+-\d[\d-]*                 # a ticket
    """
)
_SIGN = r"""[`'"()?!.,:;]*"""
NAME_OF_CODE = re.compile(rf"(?<!\S){_SIGN}([A-Za-z0-9]+(?:_[A-Za-z0-9]+)+){_SIGN}(?!\S)")
"""A name of code in a question, which has no other wording: `TIMEOUT_S`."""


def strategy_by_form(parsed: ParsedQuery) -> Strategy:
    """Chooses the search strategy by the form of a query; its cost is not considered."""
    text = parsed.text
    if _ERROR.search(text) or is_of_signs(parsed):
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


def is_of_signs(parsed: ParsedQuery) -> bool:
    """True for a query of nothing but signs, which have no meaning for the model."""
    return bool(parsed.terms) and all(map(is_sign, parsed.terms))


def searchable_parts(text: str) -> Texts:
    """Splits a question into parts that can be searched alone; empty if it has only one."""
    parts = [part.strip(" ,?.!") for part in _CONNECTOR.split(text)]
    telling = [part for part in parts if {word for _, word in words(part)} - STOP_WORDS]
    if telling != parts or not 1 < len(parts) <= MAX_PARTS:
        return ()
    return tuple(dict.fromkeys(parts))
