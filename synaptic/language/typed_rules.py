"""Finds the sentences of a request in which a person says what shall hold from now on. Pure.

Only what the person typed counts: pasted text, quoted text and questions do not.
"""

import re

from .lexicon import Words

MOST_CHARS, LEAST_WORDS = 240, 3
"""A longer or shorter sentence is no rule that can be followed as it stands. By eye."""
MOST_LINES = 6
"""In a request of more lines all but the first may be pasted. By eye."""

_RULES = Words("rules")
_SIGNS_OF_RULES = (
    "never",
    "always",
    "ever",
    "from_now_on",
    "named",
    "not_here",
    "ask_first",
    "whenever",
    "remember",
    "practice",
)
"""The names of the patterns that each make a sentence a rule."""
_FENCE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)")
_QUOTE = re.compile(
    r"\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|„[^“”\n]{1,600}[“”]|«[^»\n]{1,600}»|`[^`\n]+`"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?!$)")
_SIGNS = re.compile(r"[^\w\s,.;:!?'’\"“”()/-]")
_PASTED = re.compile(r"^(?:\s{4}|\t|[>$#|\[{<*+]|\S+[:=]|\S+ \S+[:=]|\d)")
"""The beginning of a line of output, code, a list or a quoted message."""


def find_typed_rules(request: str) -> list[str]:
    """Returns the sentences of a request that state a rule, as they were typed.

    | request                                             | rules                             |
    |-----------------------------------------------------|-----------------------------------|
    | Thanks. Never use floats for money again.           | Never use floats for money again. |
    | ok never mind, how slow is it really                |                                   |
    | The guide says "never use floats".                  |                                   |
    """
    rules: list[str] = []
    before = -2
    for index, sentence in enumerate(_typed_sentences(request)):
        is_short = len(sentence.split()) < LEAST_WORDS
        if len(sentence) > MOST_CHARS or sentence.endswith("?") or not _is_rule(sentence):
            continue
        joined = f"{rules[-1]} {sentence}" if rules else ""
        if before == index - 1 and len(joined) <= MOST_CHARS:
            rules[-1] = joined
        elif is_short:
            continue
        else:
            rules.append(sentence)
        before = index
    return rules


def _typed_sentences(request: str) -> list[str]:
    """Returns the sentences of the lines that a person seems to have typed."""
    lines = _FENCE.sub("", request).strip().split("\n")
    typed = lines[:1]
    if len(lines) <= MOST_LINES:
        for line in lines[1:]:
            if typed[-1].rstrip().endswith(":"):  # what follows is shown, not said
                break
            if line.strip() and not _looks_pasted(line):
                typed.append(line)
    return [s.strip() for line in typed for s in _SENTENCE_END.split(line) if s.strip()]


def _looks_pasted(line: str) -> bool:
    """True for a line that is probably output, code, or part of a list."""
    signs = len(_SIGNS.findall(line))
    return (
        bool(_PASTED.match(line)) or signs * 12 > len(line) or len(line.split()) < LEAST_WORDS
    )


def _is_rule(sentence: str) -> bool:
    """True if the words of a rule stand in the sentence outside of quotation marks."""
    own_words = _QUOTE.sub("…", sentence)
    if _RULES.finder("of_a_program").search(own_words):
        return False
    return any(_RULES.finder(name).search(own_words) for name in _SIGNS_OF_RULES)
