"""Puts the entry that replaced another in its place among the candidates."""

from collections.abc import Mapping
from dataclasses import replace

from .evidence import Evidence
from .ranking import Ranked, Ranking, sort_by_score


def put_successors_in_place(ranked: Ranking, evidence: Evidence) -> Ranking:
    """The candidates without superseded ones of one passage; the last successor of each takes
    its place if that is higher than its own, and if it passes the filters. Else it stays where
    words are quoted, or where the filters end at a time: it held then.

    `replaced_by_row` of the evidence gains the rows of the superseded candidates, best first.
    """
    superseded = [r for r in ranked if r.standing.id in evidence.superseded_by]
    if not superseded:
        return ranked
    in_force = {r.rowid: r for r in ranked if r.standing.id not in evidence.superseded_by}
    if evidence.plan.strategy == "bounded":  # these stand in order of time
        return list(in_force.values())
    successors = _find_successors(evidence, superseded)
    hidden = evidence.index.with_one_passage([r.rowid for r in superseded])
    for r in sort_by_score(superseded):
        successor = successors.get(r.standing.id)
        if successor is None:
            if evidence.plan.filters.until or evidence.plan.parsed.phrases:
                in_force[r.rowid] = r
            continue
        in_place = in_force.setdefault(successor.rowid, successor)
        in_place.score = max(in_place.score, r.score)
        evidence.replaced_by_row.setdefault(in_place.rowid, []).append(r.rowid)
        if r.rowid not in hidden:
            in_force[r.rowid] = r
    return sort_by_score(in_force.values())


def _find_successors(evidence: Evidence, superseded: Ranking) -> Mapping[str, Ranked]:
    """Maps the id of each superseded candidate to its last successor, as a candidate with the
    signals of the superseded one.
    """
    index = evidence.index
    last = {r.standing.id: evidence.superseded_by[r.standing.id] for r in superseded}
    steps = dict(evidence.superseded_by)
    while True:
        steps |= index.superseded_by([id for id in last.values() if id not in steps])
        further = {id: steps.get(later, later) for id, later in last.items()}
        if further == last:
            break
        last = further
    rows = index.rows_of_ids(list(dict.fromkeys(last.values())))
    passing = index.filter_entries(evidence.plan.filters, list(rows.values()))
    facts = index.ranking_facts([row for row in rows.values() if row in passing])
    return {
        r.standing.id: replace(r, standing=facts[rows[last[r.standing.id]]])
        for r in superseded
        if rows.get(last[r.standing.id]) in facts
    }
