"""Finds, for an entry that is saved, tags that fit, the earlier entries that it seems to
replace (`workspace/pairs`), and open issues that it may settle.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..filters import Filters
from ..index.rows import unit_vectors
from ..kinds import CLOSING_TAGS, KINDS, is_closed
from ..language.words import stems, words
from ..models import Entry, Near, Texts, Vector
from ..notes.blocks import project_key
from ..workspace.readback import read_entries
from ..workspace.workspace import Workspace

NAME = re.compile(r"(?<=[\w,;)] )[A-Z]\w*|\b\w*\d\w*(?:\.\d+\w*)*")
"""A word with a capital within a sentence, or with a digit."""

MOST = 2
"""The largest number of issues that a save names."""

READ_AT_ONCE = 32
"""The number of nearest issues that are read together, until MOST and one more are open."""

ALIKE, APART = 0.5, 0.2
"""The least cosine of an issue that may be settled, and how far it must exceed the cosine of
the next. Chosen on freshness.json and on the even cases of corrections.json in tests/data.
"""

MAX_SUGGESTED = 5
"""The largest number of suggested tags."""


def find_related_entries(ws: Workspace, new: Entry) -> tuple[Near, ...] | None:
    """The earlier entries that `new` seems to replace or repeat, and open issues of its project
    that it may settle; None while `new` has no vector. Raises Stale and IndexFailed.
    """
    own = ws.index.resolve(new.id).rowid
    vectors = ws.index.first_vectors([own])
    if not vectors:
        return None
    earlier = [] if new.supersedes else ws.index.earlier_entries(own)
    stored = ws.index.entries(earlier).values()
    near = [
        _near(old.entry)
        for old in stored
        if not (old.entry.pin or are_of_two_repositories(old.entry, new))
    ]
    issues = _find_settled_issues(ws, new, unit_vectors([vectors[own]])[0])
    return (*near, *(replace(_near(issue), settled=True) for issue in issues))


def are_of_two_repositories(one: Entry, other: Entry) -> bool:
    """True if two entries carry marks of different repositories, which may have one name on two
    machines.
    """
    if one.root and other.root:
        return one.root != other.root
    return bool(one.remote and other.remote) and one.remote != other.remote


def _near(entry: Entry) -> Near:
    return Near(entry.id, entry.date, entry.type, entry.title_in_lists)


def _find_settled_issues(ws: Workspace, new: Entry, vector: Vector) -> list[Entry]:
    """Up to MOST open issues of the project of `new` that stand out as near its vector, and of
    which it keeps the names.
    """
    if not KINDS[new.type].settles:
        return []
    key = new.project and project_key(new.project)
    filters = Filters(types=("issue",), projects=(key,) if key else ())
    issues = ws.index.list_entries(filters, order="oldest", limit=-1)[1]
    vectors = ws.index.first_vectors(issues)
    if not vectors:
        return []
    rows = list(vectors)
    cosines = ws.index.scale_cosines(unit_vectors(list(vectors.values())) @ vector)
    nearest: list[tuple[int, float]] = []
    by_cosine = cosines.argsort()[::-1].tolist()
    for start in range(0, len(rows), READ_AT_ONCE):
        some = by_cosine[start : start + READ_AT_ONCE]
        stored = ws.index.entries([rows[place] for place in some])
        for place in some:
            if rows[place] not in stored:  # a copy
                continue
            issue = stored[rows[place]].entry
            is_of_project = bool(issue.project) == bool(key)
            is_of_project = is_of_project and not are_of_two_repositories(issue, new)
            if is_open_issue(issue) and issue.at <= new.at and is_of_project and not issue.pin:
                nearest.append((rows[place], float(cosines[place])))
        if len(nearest) > MOST:
            break
    nearest = nearest[: MOST + 1]
    count = count_standing_out([cosine for _, cosine in nearest])
    read = read_entries(ws, [row for row, _ in nearest[:count]])
    return [issue for issue in read.values() if not lacks_a_name(issue, new, ws.index.stem)]


def count_standing_out(cosines: Sequence[float]) -> int:
    """The number of first cosines (descending) that are above ALIKE and exceed all later ones
    by APART; at most MOST.
    """
    falling = [*cosines, 0.0]
    for count in range(1, min(MOST, len(cosines)) + 1):
        if falling[count - 1] > max(ALIKE, falling[count] + APART):
            return count
    return 0


def lacks_a_name(issue: Entry, new: Entry, stem: Callable[[str], str | None]) -> bool:
    """True if the new entry lacks a name that the issue contains: then they are about different
    things, as Rome and Paris. Numbers are ignored.

    In a script without capitals every word may be a name.
    """
    text = f"{issue.title}\n{issue.content}"
    names = NAME.findall(text)
    names += [word for _, word in words(text) if word.upper() == word.lower()]
    sought = stems(" ".join(name for name in names if name.isalpha()), stem)
    return not sought <= stems(f"{new.title}\n{new.content}", stem)


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
