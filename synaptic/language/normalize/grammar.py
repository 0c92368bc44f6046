"""What the grammar around a pronoun allows it to mean."""

from __future__ import annotations

from .grammar_words import AFTER_OBJECT, AUX, CLAUSE_WORDS, GIVES, LETS, OWNING, PRONOUNS
from .note import Note
from .people_words import KINSHIP


def is_plain(note: Note, i: int) -> bool:
    """Whether the pronoun is no part of something else: "he/she", "he or she", "IT", "it-self"."""
    token = note.tokens[i]
    if token.word[1:] != token.word[1:].lower() or i in note.taken:
        return False
    around = note.shown[max(0, token.start - 1) : token.start] + note.shown[token.end : token.end + 1]
    if any(sign in "/\\_-@#=+$" for sign in around):
        return False
    if any(note.lower(i + step) == "or" and note.lower(i + 2 * step) in PRONOUNS for step in (-1, 1)):
        return False
    return not (token.word[0].isupper() and not token.opens and token.joined and note.is_capital(i - 1))


def may_name(note: Note, i: int, nearest: int) -> bool:
    """Whether grammar lets the pronoun mean what was named: in "Anna met her", "her" is not Anna.

    `nearest` is the token after the last place where it was named, or after the last pronoun that meant it.
    """
    lower = note.lower(i)
    if lower == "it":
        after, rest = note.joined(i + 1), note.shown[note.tokens[i].end :][:1]
        is_object = after not in AUX and not after.endswith(("s", "ed")) and rest not in ("'", "’")
    else:
        is_object = lower in ("him", "them") or (lower == "her" and not is_owning(note, i))
    if not is_object:
        return True
    if note.tokens[nearest - 1].sentence != note.tokens[i].sentence:
        return True
    return any(
        note.lower(k) in CLAUSE_WORDS
        or any(sign in note.gap(k) for sign in ",;:—–(")
        or (note.lower(k) == "to" and k + 1 < i)
        for k in range(nearest, i)
    )


def is_owning(note: Note, i: int) -> bool | None:
    """Whether the pronoun reads "Anna's" rather than "Anna"; None where "her" could be either."""
    lower = note.lower(i)
    if lower != "her":
        return lower in OWNING
    after, before = note.joined(i + 1), note.lower(i - 1)
    if not after or after in AFTER_OBJECT or after.isdigit():
        return False
    if before in LETS:
        return None if before in ("had", "have", "saw", "see", "made", "make") else False
    if before in GIVES:
        return True if after in KINSHIP else None
    return None if after.endswith("ly") else True
