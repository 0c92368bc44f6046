"""Finds, for an entry that is saved, tags that fit and the earlier entries that are near it;
for one that replaces another, the entries that may lean on the replaced one.

It judges nothing: which of them the new entry replaces is known to the one who saves it.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ..filters import Filters
from ..index.rows import Stored, unit_vectors
from ..kinds import CLOSING_TAGS, is_closed
from ..language.lexicon import STOP_WORDS
from ..language.words import fts5_expression, stems, words
from ..models import Entry, Near, Texts
from ..notes.blocks import project_key
from ..workspace.readback import read_entries
from ..workspace.workspace import Workspace
from .ranking import OF_NOTES, mix_with_usual

NAME = re.compile(r"(?<=[\w,;)] )[A-Z]\w*|\b\w*\d\w*(?:\.\d+\w*)*")
"""A word with a capital within a sentence, or with a digit."""

ANY_NAME = re.compile(rf"[^\W\d]\w*(?:[-_/.:]\w+)+|{NAME.pattern}")
"""A NAME, or a word of several parts, which counts as one: `gw-mira`, `orders_db`, `TX-58`."""
SHORT_NUMBER = re.compile(r"\d{1,2}")
"""A number that is no name: a day, an hour, an amount."""

MOST_NEAR, LOOKED_AT = 5, 8
"""The largest number of entries that a save names, and of entries that are read at a time."""

LEAST_OF_NEAREST, LEAST_OF_OTHERS = 1.0, 2.0
"""The nearest entry is near if its cosine is this many standard deviations above the mean of
the project; another one, if its own is as many as the second number.

Chosen on holds_dev.json and holds_small_dev.json of tests/data, with 33 and 35 notes that
replace another one: 31 and 28 name it, with 2.4 and 1.4 names a save.
"""

LEAST_OF_PAIRS = 2.5
"""The same of two entries that are named together where nobody is writing one: in a review and
at a session's start. By eye.
"""

MOST_TERMS = 24
LEAST_SHARE = 0.08
"""While an entry has no vector, an entry is near that reaches this share of its own BM25, by as
many of its rarest words.

Chosen on tests/data/holds_dev.json: of 33 notes that replace another one, 29 name it so, with
2.8 names a save; with a share of .1 26, with .3 and 12 words 10.
"""

MOST_LEANING, SHARED, RARE = 2, 2, 5
"""The most entries that may lean on a replaced one; the rare names that each shares with it;
the most passages of the journal that hold a rare name.

Chosen on tests/data/holds_dev.json and helps_dev.json, whose 50 replaced notes have no entry
that leans on them: with two names none is named, with one name 23.
"""

MAX_SUGGESTED = 5
"""The largest number of suggested tags."""


def find_near_entries(
    ws: Workspace, new: Entry, *, besides: Collection[str] = ()
) -> tuple[Near, ...]:
    """The earlier entries of the project of `new` that are near it, the nearest first: by
    meaning, or by words while it has no vector. The ids `besides` are left out, and entries
    that are replaced already. Empty if `new` says itself what it supersedes.

    Raises Stale and IndexFailed.
    """
    if new.supersedes:
        return ()
    own = ws.index.resolve(new.id)
    rows = [row for row, _ in find_near_rows(ws, own)]
    if not (rows or ws.index.first_vectors([own.rowid])):
        rows = _rows_with_same_words(ws, own, new)
    earlier: list[Entry] = []
    for begin in range(0, len(rows), LOOKED_AT):
        stored = ws.index.entries(rows[begin : begin + LOOKED_AT]).values()
        some = [one.entry for one in stored if _may_be_replaced(one, own, new)]
        hidden = {*ws.index.superseded_by([entry.id for entry in some]), *besides}
        earlier += [entry for entry in some if entry.id not in hidden]
        if len(earlier) >= MOST_NEAR:
            break
    return tuple(map(to_near, earlier[:MOST_NEAR]))


def to_near(entry: Entry) -> Near:
    """The entry as it is named beside another."""
    is_open = is_open_issue(entry)
    return Near(entry.id, entry.date, entry.type, entry.title_in_lists, is_open)


def find_near_rows(ws: Workspace, own: Stored) -> list[tuple[int, float]]:
    """(entry, closeness) of the entries of its project that are near an entry by meaning, the
    nearest first; the closeness is in standard deviations above the mean of the project. Empty
    while the entry has no vector.
    """
    vectors = ws.index.first_vectors([own.rowid])
    if not vectors:
        return []
    key = own.entry.project and project_key(own.entry.project)
    [vector] = unit_vectors([vectors[own.rowid]])
    rows, units = ws.index.sample_of_project(key)
    others = [place for place, row in enumerate(rows) if row != own.rowid]
    usual = ws.index.scale_cosines((units @ vector)[others])
    mean, deviation = mix_with_usual(usual, OF_NOTES)
    near: dict[int, float] = {}
    for hit in ws.index.nearest_of_project(vector, key):
        closeness = (hit.score - mean) / deviation
        least = LEAST_OF_OTHERS if near else LEAST_OF_NEAREST
        if closeness >= least and hit.entry_rowid != own.rowid:
            near.setdefault(hit.entry_rowid, closeness)
    return list(near.items())


def are_of_two_repositories(one: Entry, other: Entry) -> bool:
    """True if two entries carry marks of different repositories, which may have one name on two
    machines.
    """
    if one.root and other.root:
        return one.root != other.root
    return bool(one.remote and other.remote) and one.remote != other.remote


def pair_nearest_entries(ws: Workspace, entries: Mapping[int, Entry]) -> dict[str, str]:
    """The id of the later of each two entries that are nearest to each other among these, by
    meaning, by the id of the earlier one; `entries` are by row. No entry is in two pairs.

    Their vectors are read once, and all are compared: about 20 ms for 200.
    """
    rows_of_time = [row for row, entry in entries.items() if entry.dated]
    vectors = ws.index.first_vectors(rows_of_time)
    if len(vectors) < 2:
        return {}
    rows = list(vectors)
    matrix = unit_vectors(list(vectors.values()))
    nearest = {}
    for place, cosines in enumerate(ws.index.scale_cosines(matrix @ matrix.T)):
        cosines[place] = -1.0
        best = int(cosines.argmax())
        usual = cosines[cosines > -1.0]
        mean, deviation = mix_with_usual(usual, OF_NOTES)
        if cosines[best] >= mean + LEAST_OF_PAIRS * deviation:
            nearest[rows[place]] = rows[best]
    return {
        entries[row].id: entries[other].id
        for row, other in nearest.items()
        if nearest.get(other) == row and entries[row].at < entries[other].at
    }


def _rows_with_same_words(ws: Workspace, own: Stored, new: Entry) -> list[int]:
    """The entries of the project that hold the rarest words of `new`, the best first."""
    every_word = dict.fromkeys(word for _, word in words(f"{new.title}\n{new.content}"))
    own_words = [word for word in every_word if word not in STOP_WORDS]
    counts = ws.index.document_counts(own_words)[1]
    rarest = sorted(
        (word for word in own_words if counts[word] > 1), key=lambda word: counts[word]
    )
    terms = [fts5_expression(word) for word in rarest[:MOST_TERMS]]
    if not terms:
        return []
    key = new.project and project_key(new.project)
    hits = ws.index.lexical_of_project(terms, key)
    best = min((hit.score for hit in hits if hit.entry_rowid == own.rowid), default=0.0)
    rows = [hit.entry_rowid for hit in hits if hit.score <= LEAST_SHARE * best < 0]
    return list(dict.fromkeys(rows))


def _may_be_replaced(one: Stored, own: Stored, new: Entry) -> bool:
    """True for an earlier dated entry that is neither pinned, nor a whole file, nor the parent
    of `new`, nor of another repository.
    """
    entry = one.entry
    is_kept = entry.pin or entry.there.whole_file or not entry.dated
    is_earlier = one.rowid != own.rowid and entry.at <= new.at
    is_other = entry.id == new.parent or are_of_two_repositories(entry, new)
    return is_earlier and not (is_kept or is_other)


def find_leaning_entries(
    ws: Workspace, new: Entry, replaced: Collection[str]
) -> tuple[Near, ...]:
    """Up to MOST_LEANING entries that may lean on the `replaced` ones, and so may be untrue now
    that `new` stands: they name such an entry by a link or its id, continue it, or share
    SHARED of its rare names and were saved while it held.

    Raises Stale and IndexFailed.
    """
    leaning: list[int] = []
    for id in replaced:
        former = ws.index.resolve(id)
        naming = [row for row, _ in ws.index.incoming_links([former.rowid])]
        naming += ws.index.list_rows(Filters(parent=id), order="oldest", limit=-1)
        naming += _rows_holding(ws, former.entry.short_id)
        sharing = _rows_sharing_names(ws, former)
        entries = ws.index.entries([*naming, *sharing])
        for row in dict.fromkeys(row for row in (*naming, *sharing) if row in entries):
            entry = entries[row].entry
            is_between = former.entry.at < entry.at < new.at
            is_sharing = is_between and entry.project == former.entry.project
            if (row in naming or is_sharing) and id not in entry.supersedes:
                leaning.append(row)
    stored = ws.index.entries(leaning)
    entries_by_id = {one.entry.id: one.entry for one in stored.values()}
    hidden = {new.id, *replaced, *ws.index.superseded_by(list(entries_by_id))}
    result = [entry for id, entry in entries_by_id.items() if id not in hidden]
    return tuple(map(to_near, result[:MOST_LEANING]))


def _rows_sharing_names(ws: Workspace, earlier: Stored) -> list[int]:
    """The entries that hold at least SHARED of the rare names of an entry, the most first."""
    entry = read_entries(ws, [earlier.rowid])[earlier.rowid]
    text = f"{entry.title}\n{entry.content}"
    written = {name.lower() for name in ANY_NAME.findall(text)}
    names = {name for name in written if not SHORT_NUMBER.fullmatch(name)}
    counts = ws.index.document_counts(names)[1]
    shared: Counter[int] = Counter()
    for name in sorted(name for name in names if 1 < counts[name] <= RARE):
        shared.update(set(_rows_holding(ws, name)))
    return [row for row, count in shared.most_common() if count >= SHARED]


def _rows_holding(ws: Workspace, name: str) -> list[int]:
    """The entries with a name that few passages hold."""
    hits = ws.index.lexical([fts5_expression(name)], None, limit=2 * RARE)
    return [hit.entry_rowid for hit in hits]


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
