"""Treats hits with the same text: puts conflict copies of files behind their originals, and
merges equal passages.
"""

from functools import cache

from ..notes.copies import find_original
from .evidence import Evidence
from .ranking import Ranked, Ranking


def put_copies_behind(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Moves entries of a conflict copy of a file (a copy that syncing two machines left) behind
    the same entries of the original file.
    """
    places = {(r.standing.path, r.standing.title): place for place, r in enumerate(ranked)}
    paths = {path for path, _ in places}
    read = cache(evidence.ws.journal.read)
    order = {}
    for place, r in enumerate(ranked):
        original = find_original(r.standing.path, paths, read)
        title = r.standing.title
        order[r.rowid] = float(place)
        for name in (title, title[:-2]):  # a title may be made of the file's name
            if original and places.get((original, name), -1) > place:
                order[r.rowid] = places[original, name] + 0.5
    return sorted(ranked, key=lambda r: order[r.rowid])


def merge_equal_hits(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Removes entries whose title, passage and tags are the same as an earlier entry's; their
    rows are added to the earlier one's `also`.

    A changed letter or number makes another passage. The same words of another project or
    another time are another fact: "Paid the rent."
    """
    chunks = {r.rowid: evidence.chunk(r.rowid) for r in ranked}
    passages = evidence.index.passages(list(chunks.values()))
    first: dict[tuple[object, ...], Ranked] = {}
    for r in ranked:
        standing = r.standing
        written_at = None if standing.date_source in ("git", "mtime") else standing.at
        passage = passages.get(chunks[r.rowid])
        text = passage.hash if passage else standing.id
        best = first.setdefault((text, standing.project, written_at), r)
        if best is not r:
            best.also += (r.rowid,)
    return list(first.values())
