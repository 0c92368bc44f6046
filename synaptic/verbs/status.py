"""Counts what a journal and its index hold, and names what could not be read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..filters import Filters
from ..journal.backups import LastBackup, read_last_backup
from ..journal.left_out import find_left_out
from ..journal.losses import find_missing_saves
from ..journal.names import LeftOut, left_out_sentences
from ..models import Counts, Facets, Json, ParseIssue, Texts, frozen
from ..search.budget import Costs, times_by_stage
from ..search.search import measure_recent_costs
from ..workspace.proposals import read_proposals
from ..workspace.rule_changes import waiting_preferences
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace

LEFT_OUT_SHOWN = 5
"""Notes that `status` names of those that are left out for one reason; `doctor` names more."""


@frozen
class Status:
    """`facets` count what lists show: of the `entries` those that no later one replaced.
    `months`: entries of each month. `figures`: of each verb the number of the last `calls`,
    and for each of its `stages` the milliseconds within which half of them (`p50`) and 95 %
    (`p95`) stayed; `total` is the whole call.

    `costs`: by strategy and layer, the milliseconds within which 95 % of the last searches
    stayed; `auto` chooses by them. `roots`: by name (`@vault`), the `folder` and the number of
    `files` of each root beside the journal. `left_out`: notes and folders that are not read.
    """

    home: Path
    journal: Path
    files: int
    entries: int
    chunks: int
    pending_vectors: int
    model: str
    index_bytes: int
    issues: tuple[ParseIssue, ...]
    facets: Facets
    months: Counts
    figures: dict[str, Json]
    costs: Costs
    roots: dict[str, Json]
    left_out: tuple[LeftOut, ...] = ()
    queued: int = 0
    backup: LastBackup | None = None
    notices: Texts = ()


def status(ws: Workspace) -> Status:
    """The counts of the journal and its index, and the pieces that could not be read."""

    def run(_: SyncReport) -> Status:
        counts = ws.index.counts()
        facets = ws.index.facets(Filters())
        files = Counter(ws.journal.roots.split_path(path)[0] for path in ws.index.signatures())
        calls: dict[str, list[dict[str, float]]] = {}
        for call in ws.index.counters.calls():
            calls.setdefault(call.verb, []).append(call.stages)
        left_out = [] if ws.access.is_published else find_left_out(ws.journal.roots)
        texts = left_out_sentences(left_out, LEFT_OUT_SHOWN).values()
        notices = [*ws.config.notices, *ws.journal.absent()]
        notices += [" ".join(parts) for parts in texts]
        saved = ws.journal.saved.ids()
        missing = find_missing_saves(ws.journal, ws.index.own_ids(saved).values())
        if missing:
            notices.append(
                f"Saved, and gone from their files: {len(missing):,}. `synaptic doctor` names "
                f"them; `synaptic doctor --restore {missing[0]}` brings this one back."
            )
        waiting = len(waiting_preferences(ws)) + len(read_proposals(ws.config.state))
        if waiting:
            notices.append(
                f"Preferences that wait: {waiting:,}; `synaptic confirm` asks about each, on a "
                "terminal."
            )
        roots = {}
        for name, folder in ws.config.roots.items():
            if name:
                roots[name] = {"folder": folder, "files": files[name]}
        return Status(
            home=ws.config.home,
            journal=ws.config.journal,
            files=counts.files,
            entries=counts.entries,
            chunks=counts.chunks,
            pending_vectors=counts.pending_passages,
            model=ws.embedder.name,
            index_bytes=counts.bytes,
            issues=ws.index.issues(),
            facets=facets,
            months=facets.months,
            figures={verb: _latency_figures(stages) for verb, stages in calls.items()},
            costs=measure_recent_costs(ws),
            roots=roots,
            left_out=tuple(left_out),
            backup=read_last_backup(ws.config.state),
            notices=tuple(notices),
        )

    return in_step(ws, run)


def _latency_figures(calls: Sequence[Mapping[str, float]]) -> Json:
    """The number of calls, and for each stage the milliseconds within which 50 % (`p50`) and
    95 % (`p95`) of them stayed, the slowest stage first.
    """
    latencies = {}
    for stage, each in times_by_stage(calls):
        half = each[len(each) // 2]
        most = each[len(each) * 95 // 100]
        latencies[stage] = {"p50": round(half, 1), "p95": round(most, 1)}
    slowest_first = sorted(latencies, key=lambda stage: -latencies[stage]["p50"])
    return {"calls": len(calls), "stages": {one: latencies[one] for one in slowest_first}}
