"""Finds the entries around one: the sentences that link to it, its neighbours in two steps, and
those that are near it.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from typing import NamedTuple

from ..config import DEFAULT_MODEL
from ..index.links import linked_neighbours
from ..models import Entry, Link, Near, Receipt
from ..search.near import find_near_entries
from ..workspace.readback import read_body_lines
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .link_ends import title_with_day
from .linked import ends_of_links
from .receipts import index_now

MOST = (8, 12)
"""Neighbours that a graph shows at one step, and at two. By eye."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class Graph(NamedTuple):
    """`columns`: the rows of the entry, of its neighbours, and of theirs. `titles` are those of
    `title_with_day`. `pairs`: rows that a link joins.
    """

    columns: list[list[int]]
    entries: dict[int, Entry]
    titles: dict[int, str]
    pairs: set[frozenset[int]]


def _is_joined(pair: frozenset[int], ends: Mapping[int, set[int]]) -> bool:
    """True if a link leads from one of these two entries to the other."""
    one, other = pair
    return other in ends[one] or one in ends[other]


def linking_sentences(ws: Workspace, links: Sequence[Link]) -> dict[Link, str]:
    """The sentence around each of these links, in the entry at its other end; of a link in a
    title none.
    """

    def run(_: object) -> dict[Link, str]:
        rows = {link: ws.index.resolve(link.id).rowid for link in links if link.id}
        texts = read_body_lines(ws, list(rows.values()))
        around = {}
        for link, rowid in rows.items():
            entry, text = texts[rowid]
            number = link.line - entry.there.body_line
            line = text.split("\n")[number].strip() if number >= 0 else ""
            parts = _SENTENCE_END.split(line)
            around[link] = next((part for part in parts if link.text in part), line)
        return around

    return in_step(ws, run)


def link_graph(ws: Workspace, id: str) -> Graph:
    """The entries that link to this entry or that it links to, and the same for each of
    them: a graph of two steps.
    """

    def run(_: object) -> Graph:
        rows = [[ws.index.resolve(id).rowid]]
        pairs = set()
        for most in MOST:
            seen = set(chain(*rows))
            column: list[int] = []
            for near in rows[-1]:
                for end in linked_neighbours(ws.index, near, most):
                    if end not in seen and end not in column and len(column) < most:
                        column.append(end)
                    if end in seen or end in column:
                        pairs.add(frozenset((near, end)))
            rows.append(column)
        ends = ends_of_links(ws, [*chain(*rows)])
        pairs = {pair for pair in pairs if _is_joined(pair, ends)}
        # an entry that only shares a name with the end of a link is no neighbour
        for before, after in pairwise(rows):
            at_border = [pair for pair in pairs if not pair.isdisjoint(before)]
            joined = set(chain(*at_border))
            after[:] = [rowid for rowid in after if rowid in joined]
        stored = ws.index.entries(list(chain(*rows)))
        entries = {rowid: one.entry for rowid, one in stored.items()}
        titles = {rowid: title_with_day(ws, entry) for rowid, entry in entries.items()}
        return Graph(rows, entries, titles, pairs)

    return in_step(ws, run)


def compare_saved(ws: Workspace, receipt: Receipt) -> tuple[Near, ...]:
    """The entries that are near a saved one by meaning. Loads the model, but downloads none;
    without it, the entries that are near by words.
    """
    with suppress(Exception):  # whatever fails here, the entry is safe in the journal
        entry = ws.journal.find(receipt.path, receipt.id)[1]
        if ws.config.model == DEFAULT_MODEL or ws.index.meta("model"):
            with suppress(Exception):
                ws.embedder.load()
                index_now(ws, receipt.path)
        return find_near_entries(ws, entry)
    return ()
