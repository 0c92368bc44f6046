"""The people that a note names, and those it speaks of without a name."""

from __future__ import annotations

from ..lexicon import TOOLS
from ..patterns import compiled
from .grammar_words import ADVERBS, AUX, COMMON_END, DETERMINERS, FUNCTION, NO_NAMES, PRONOUNS, VERBS
from .mentions import Mention, mentions
from .note import Note
from .people_words import (
    ABOUT_PERSON,
    ALSO_WORDS,
    ATE_WITH,
    DOES,
    GENDERS,
    GROUPS,
    MET_WITH,
    ROLES,
    SAYS,
    SOMEBODY,
    TITLES,
    TO_PERSON,
    TO_PERSON_ONLY,
    WITH_PERSON,
)
from .shown import HIDDEN
from .thing_words import COMPANIES, DEPARTMENTS, PLACES, TOOLS_LIKE_NAMES

_NO_SURNAME = TOOLS | NO_NAMES | FUNCTION | PLACES | PRONOUNS.keys()
_NO_STRANGER = _NO_SURNAME | COMPANIES | DEPARTMENTS | VERBS | ADVERBS | ROLES | GROUPS
_FOLLOWS_A_ROLE = FUNCTION | AUX | DOES
_HIDDEN_RUN = f"{HIDDEN}+"
_CAPITAL = r"\b[A-Z][a-z]+"


def people(note: Note) -> list[Mention]:
    """The people named, in order."""
    found = list(mentions(note, _person_at))
    if not found and any(PRONOUNS.get(token.lower) in ("he", "she") for token in note.tokens):
        return _the_only_possible(note)
    return found


def _person_at(note: Note, i: int) -> Mention | None:
    token = note.tokens[i]
    if not note.is_spelled_as_name(i):
        return None
    title = TITLES.get(token.lower)
    following = i + 1 < len(note.tokens) and note.gap(i + 1) in (" ", ". ") and note.is_spelled_as_name(i + 1)
    if title and following:
        last = _surname_end(note, i + 1)
        gender = GENDERS.get(note.lower(i + 1)) if title == "any" and last > i + 2 else title
        return Mention(i, last, note.written(i, last), gender or title)
    gender = GENDERS.get(token.lower)
    needs_proof = gender is None or token.lower in ALSO_WORDS or token.lower in TOOLS_LIKE_NAMES
    if token.lower in PLACES and note.lower(i - 1) in ("in", "to", "from", "at", "near", "via"):
        return None
    if gender is None and _is_no_stranger(note, i):
        return None
    if needs_proof and not _acts_as_person(note, i):
        return None
    last = _surname_end(note, i)
    return Mention(i, last, note.written(i, last), gender or "any")


def _surname_end(note: Note, i: int) -> int:
    last = i + 1
    while last < min(i + 3, len(note.tokens)) and note.tokens[last].joined and note.is_spelled_as_name(last):
        lower = note.tokens[last].lower
        if lower in _NO_SURNAME:
            break
        last += 1
    return last


def _is_no_stranger(note: Note, i: int) -> bool:
    lower = note.tokens[i].lower
    if lower in _NO_STRANGER or not note.tokens[i].word[1:].islower():
        return True
    if note.before(i) in DETERMINERS or note.joined(i + 1) in GROUPS:
        return True
    return note.tokens[i].opens and (lower.endswith("s") or compiled(COMMON_END).search(lower) is not None)


def _acts_as_person(note: Note, i: int) -> bool:
    before, after = note.before(i), note.joined(i + 1)
    is_known = note.tokens[i].lower in GENDERS  # a company too is emailed, or called
    if after in SAYS or before in (TO_PERSON if is_known else TO_PERSON_ONLY):
        return True
    if before in WITH_PERSON and note.before(i - 1) in (MET_WITH if is_known else ATE_WITH):
        return True
    if after in ("is", "was") and note.joined(i + 2) in ABOUT_PERSON:
        return True
    if note.lower(i + 1) in DETERMINERS and note.gap(i + 1) in (", ", " ("):
        return any(note.lower(k) in ROLES for k in range(i + 2, i + 5))
    if note.tokens[i].lower not in ALSO_WORDS or note.tokens[i].opens:
        return before in ROLES and is_known
    next_is_name = bool(after) and note.is_spelled_as_name(i + 1) and after not in NO_NAMES
    return next_is_name or note.is_owner(i) or before in ("with", "by")


def _the_only_possible(note: Note) -> list[Mention]:
    """The one unknown name that does what people do, where "she" says that there is a person."""
    names: dict[str, list[int]] = {}
    for i, token in enumerate(note.tokens):
        if note.is_spelled_as_name(i) and not _is_no_stranger(note, i) and token.lower not in GENDERS:
            names.setdefault(token.word, []).append(i)
    if len(names) != 1:
        return []
    (places,) = names.values()
    if not any(note.tokens[i].opens and note.joined(i + 1) in DOES for i in places):
        return []
    return [Mention(i, i + 1, note.tokens[i].word, "any") for i in places]


def roles(note: Note) -> list[int]:
    """Where people without a name are spoken of, who are not the named ones."""
    return [i for i, token in enumerate(note.tokens) if token.lower in SOMEBODY and _is_role(note, i)]


def _is_role(note: Note, i: int) -> bool:
    if i in note.taken:
        return False
    if i + 1 in note.taken and note.tokens[i + 1].joined:
        return False  # our designer Anna
    after = note.joined(i + 1)
    if after and not after.endswith(("s", "ed")) and after not in _FOLLOWS_A_ROLE:
        return False  # customer data
    first = i
    while first and note.tokens[first].joined and first > i - 4 and note.lower(first) not in DETERMINERS:
        first -= 1
    before = note.lower(first - 1)
    named_before = first - 1 in note.taken and note.gap(first).strip() in (",", "(")
    return not (before in ("is", "was", "as", "became", "be", "named", "being", "am", "are") or named_before)


def quoted_names(note: Note) -> dict[str, int]:
    """Where the first name is quoted or linked that fits each pronoun."""
    first: dict[str, int] = {}
    for quoted in compiled(_HIDDEN_RUN).finditer(note.shown):
        for word in compiled(_CAPITAL).finditer(note.text, *quoted.span()):
            gender = GENDERS.get(word[0].lower())
            if gender and word[0].lower() not in ALSO_WORDS:
                for fits in ("he", "she") if gender == "any" else (gender,):
                    first.setdefault(fits, quoted.start())
    return first
