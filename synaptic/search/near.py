"""Finds, for an entry that is saved, tags that fit, older entries that it may replace, and open
issues that it may settle.

`scripts/bench.py near` measures what is near. Words alone tell nothing: they find none of the
held corrections.
"""

import re
from collections.abc import Callable, Sequence

from ..filters import Filters
from ..index.rows import unit_vectors
from ..kinds import CLOSING_TAGS, KINDS, is_closed
from ..language.words import stems, words
from ..models import Entry, Near, Texts
from ..notes.blocks import project_key
from ..workspace.readback import read_entries
from ..workspace.workspace import Workspace

NAME = re.compile(r"(?<=[\w,;)] )[A-Z]\w*|\b\w*\d\w*(?:\.\d+\w*)*")
"""A word with a capital within a sentence, or with a digit."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")

REJECTED = re.compile(
    r"""(?ix) \brejected\b [\ \t:*_]* (?:\n+[\ \t]*[-*+]\ .*)+  # Rejected:, and a list of them
    | \brejected\b (?: [^.\n] | \.(?=\w) )*  # Rejected: Kafka, Node.js (too slow)
    | \b(?:instead\ of|rather\ than|over)\b  # Chose Argon2id over bcrypt for the portal
      (?: (?!\b(?:for|in|on|at|because|since|as|to)\b | [,;:(\n] | \.\s) . )*
    """
)
"""Finds the words in which an entry says what it did not choose. A later entry need not name
it: of 20 pairs with such words (tests/data/replaced.json) 9 of 10 corrections are named instead
of 4, and no more where nothing is replaced.
"""

COMPARED, MOST = 40, 2
"""The number of nearest passages that are compared, and the largest number of entries that are
returned.
"""

ALIKE, APART = 0.5, 0.2
"""The least cosine of an entry that may be replaced, and how far it must exceed the cosine of
the next. Chosen on freshness.json and on the even cases of corrections.json in tests/data.
"""

MAX_SUGGESTED = 5
"""The largest number of suggested tags."""


def find_replaceable_entries(ws: Workspace, new: Entry) -> tuple[Near, ...] | None:
    """Up to MOST older entries of the same project that `new` may replace or settle; None while
    `new` has no vector.

    It may replace entries of its own type, unless it already supersedes one, and settle open
    issues if its type can. Raises Stale and IndexFailed.
    """
    index = ws.index
    own = index.resolve(new.id).rowid
    vectors = list(index.first_vectors([own]).values())
    if not vectors:
        return None
    key = new.project and project_key(new.project)
    passing = index.passing_chunks(Filters(projects=(key,) if key else ()), None, ())
    cosines: dict[int, float] = {}
    for hit in index.semantic(unit_vectors(vectors)[0], passing, limit=COMPARED):
        cosines.setdefault(hit.entry_rowid, hit.score)  # of its nearest passage
    candidates = index.entries(list(cosines))
    replaced = index.superseded_by([stored.entry.id for stored in candidates.values()])
    alike = []
    issues = []
    for row in cosines:
        old = candidates[row].entry
        is_older = row != own and old.at <= new.at and not old.pin
        if not is_older or old.id in replaced or bool(old.project) != bool(key):
            continue
        if old.type == new.type and KINDS[new.type].is_replaced and not new.supersedes:
            alike.append(row)
        elif is_open_issue(old) and KINDS[new.type].settles:
            issues.append(row)
    near = []
    for rows in (alike, issues):
        count = count_standing_out([cosines[row] for row in rows])
        # another process may have taken one away
        for old in read_entries(ws, rows[:count]).values():
            if not lacks_a_name(old, new, index.stem):
                settled = old.type != new.type
                near.append(
                    Near(old.id, old.date, old.type, old.title_in_lists, settled=settled)
                )
    return tuple(near[:MOST])


def count_standing_out(cosines: Sequence[float]) -> int:
    """The number of first cosines (descending) that are above ALIKE and exceed all later ones
    by APART; at most MOST.
    """
    falling = [*cosines, 0.0]
    for count in range(1, min(MOST, len(cosines)) + 1):
        if falling[count - 1] > max(ALIKE, falling[count] + APART):
            return count
    return 0


def lacks_a_name(old: Entry, new: Entry, stem: Callable[[str], str | None]) -> bool:
    """True if the new entry lacks a name that the old one contains: then they are about
    different things, as Rome and Paris. Numbers are ignored, because they are what changes.

    Names in what the old entry rejected do not count. In a script without capitals every word
    may be a name.
    """
    text = REJECTED.sub(" ", f"{old.title}\n{old.content}")
    names = NAME.findall(text)
    names += [word for _, word in words(text) if word.upper() == word.lower()]
    sought = stems(" ".join(name for name in names if name.isalpha()), stem)
    return not sought <= stems(f"{new.title}\n{new.content}", stem)


def numbers_in_entry(entry: Entry) -> set[str]:
    """The numbers in an entry's title and content. If they differ in two similar entries, the
    later replaces the earlier.
    """
    return set(_NUMBER.findall(f"{entry.title}\n{entry.content}"))


def is_open_issue(entry: Entry) -> bool:
    """True for an issue without a tag that closes it."""
    return entry.type == "issue" and not is_closed(entry.type, entry.tags)


def suggest_tags(ws: Workspace, text: str, own: Sequence[str] = ()) -> Texts:
    """Up to MAX_SUGGESTED tags of the journal whose words the text contains, the most used
    first, without the tags in `own`.

    Tags that close an entry are never suggested: the text "not done" contains the word `done`.
    """
    text_stems = stems(text, ws.index.stem)
    uses = ws.index.vocabulary().tags
    fitting = []
    for tag in sorted(uses, key=lambda tag: (-uses[tag], tag)):
        name = tag.rpartition("/")[2]
        sought = [ws.index.stem(part) for part in re.split("[-_]", name) if part]
        is_said = bool(sought) and text_stems.issuperset(sought)
        if is_said and uses[tag] > 1 and tag not in own and name not in CLOSING_TAGS:
            fitting.append(tag)
    return tuple(fitting[:MAX_SUGGESTED])
