"""Whether "it" means nothing, or may as well mean something that has no name."""

from __future__ import annotations

import re

from ..lexicon import DAY_NAMES, NUMBERS
from ..patterns import compiled
from .grammar_words import ADVERBS, DETERMINERS, HARMLESS, OPENS_CLAUSE, PEOPLE_WORDS, PREPOSITIONS, VERBS
from .note import Note
from .people_words import GROUPS, SOMEBODY

_NO_RIVALS = SOMEBODY | GROUPS
_DUMMY = rf"""(?:['’]s|['’]ll|['’]d|\s+(?:is|was|will|would|may|might|can|could|should|did|does|has|had|must|be|been|
    being|just|also|often|usually|only|still|really|then|always|never|now|all|probably|already|not|n['’]t|isn['’]t|wasn['’]t|doesn['’]t|
    didn['’]t|won['’]t)\b){{0,4}}\s+(?:
      (?:rain|snow|pour|thunder|hail|drizzl|freez)(?:s|ed|ing|e|es|y)?\b
    | (?:seem|appear|happen|matter|depend|occur|turn|remain|follow|bother|surpris|dawn|hurt|annoy|worr)
        (?:s|es|ed|red|e|y|ies|ied)?\b
    | (?:takes?|took|taken|taking|(?:looks?|looked|sounds?|feels?|felt)\s+(?:like|as)|means?|meant|pays?|
        helps?|helped|hit|struck)\b
    | (?:makes?|made)\s+(?:sense|no|more|me|us|everyone|a\s+difference)\b
    | (?:goes|went|comes|came)\s+(?:without|down|to|as)\b
    | (?:gets|got|getting|become|becomes|became|grew)\s+(?:late|dark|cold|hot|warm|light)\b
    | (?:(?:so|too|very|quite|pretty|rather|much|more|most|getting|about|almost|nearly|really|only|already|
        still|not)\s+){{0,3}}(?:
        (?:late|early|dark|cold|hot|warm|sunny|windy|cloudy|foggy|rainy|humid|noon|midnight|lunchtime|time|winter|summer|spring|
        autumn|{"|".join(DAY_NAMES)}|weekend|worth|me|us|him|them|my|your|our|his|her|their|
        up\s+to|because|when|then|why|what|how|where|after|before|since|as|about\s+time|who)\b
      | \d | (?:{"|".join(NUMBERS)})\b
      | (?:clear|unclear|obvious|known|unknown|likely|unlikely|true|said|thought|believed|agreed|decided|
        expected|hoped|assumed)\b
      | (?:[\w-]+\s+){{1,2}}(?:that|to|whether|if|for\s+\w+\s+to)\b
        (?<!able\sto)(?<!used\sto)(?<!ready\sto)(?<!going\sto)(?<!set\sto)
      | (?:a|an|the)\s+(?:[\w-]+\s+){{0,3}}(?:day|days|week|morning|night|evening|afternoon|month|year|meeting|call|
        shame|pity|relief|pleasure|idea|mistake|decision|surprise|weekend|fault|turn|case|first|last|time|trip|drive)\b
      | the\s+(?!\w+est\b)\w | (?:[A-Z]\w+|an?\s+\w+)\s+(?:who|that|which)\b
      )
    )"""
_DUMMY_BEFORE = (
    r"\b(?:call|called|make|made|take|believe|that['’]s|this\s+is|that\s+is|that\s+was|worth|as|find|found|think|thought|"
    r"finds|considers?|considered|keep|when)\s+\Z"
)


def is_dummy(note: Note, i: int) -> bool:
    """Whether "it" means nothing: "it rained", "it takes a day", "it is clear that"."""
    token = note.tokens[i]
    if token.lower == "its":
        return False
    before = note.shown[max(0, token.start - 30) : token.start].lower()
    after = note.shown[token.end : token.end + 100]
    return bool(compiled(_DUMMY, re.VERBOSE | re.IGNORECASE).match(after) or compiled(_DUMMY_BEFORE).search(before))


def has_rival(note: Note, first: int, end: int, places: set[int], *, own: bool) -> bool:
    """Whether "it" may as well mean what the sentence `first:end` speaks of. `places`: where the thing is named."""
    subject = _subject(note, first, end)
    if subject is None:
        return not own
    if _is_rival_subject(note, subject, end, places):
        return True
    is_subject = subject in places or subject + 1 in places or note.lower(subject) in ("it", "its")
    for k in range(subject + 1, end):
        if note.lower(k) not in ("the", "a", "an", "our", "my", "this", "another") or k + 1 >= end:
            continue
        before = note.lower(k - 1)
        opens_clause = before in OPENS_CLAUSE
        may_be = opens_clause or (not is_subject and before not in PREPOSITIONS)
        if may_be and not _is_harmless(note, k, end, places):
            return True
    return False


def _is_harmless(note: Note, k: int, end: int, places: set[int]) -> bool:
    if k + 1 in places:
        return True
    words = [note.lower(j) for j in range(k + 1, min(k + 4, end))]
    return words[0] in HARMLESS or any(word in _NO_RIVALS for word in words[:2])


def _subject(note: Note, first: int, end: int) -> int | None:
    """Where the subject of the main clause starts, skipping "After the upgrade,"."""
    i = first
    while i < end and (note.lower(i) in ADVERBS or note.tokens[i].word[0].isdigit()):
        i += 1
    if i < end and note.lower(i) in PREPOSITIONS:
        i = next((k for k in range(i + 1, end) if "," in note.gap(k)), end)
        while i < end and note.lower(i) in ADVERBS:
            i += 1
    return i if i < end else None


def _is_rival_subject(note: Note, i: int, end: int, places: set[int]) -> bool:
    lower = note.lower(i)
    owned = note.is_owner(i)
    if lower in ("it", "its"):
        return i not in note.replaced or lower == "its"
    if lower in PEOPLE_WORDS or i in places:
        return bool(owned and i in places)
    if i in note.taken:
        return owned
    if lower in DETERMINERS:
        words = [note.lower(k) for k in range(i + 1, min(i + 4, end))]
        is_thing = i + 1 in places or (i + 2 in places and note.tokens[i + 2].joined)  # the script `x`
        return not (is_thing or i + 1 in note.taken or any(word in _NO_RIVALS for word in words))
    if lower.endswith("ing"):
        return note.lower(i + 1) in ("is", "was", "of")
    return not (lower in VERBS or lower.endswith("ed"))
