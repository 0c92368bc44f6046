"""Nothing grows with what it does not touch: a call on a journal of 8,000 entries does the work
of one on a journal of 1,000, but for the rows of GROWS, each with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from counted import Work, counted, scans_entries
from homes import open_home

from synaptic import Workspace, models
from synaptic.filters import Filters, Scope
from synaptic.search.search import search
from synaptic.verbs.brief import brief
from synaptic.verbs.browse import find, get
from synaptic.verbs.changing import update
from synaptic.verbs.day_lists import entries_of_days
from synaptic.verbs.newest import recent
from synaptic.verbs.saving import save
from synaptic.workspace.sync import in_step, rebuild

SMALL, LARGE = 1_020, 8_010
OWN = 480
"""A quarter of so many of the newest entries, and of the oldest, are of the project that is asked
about, in both journals.
"""
TODAY = date(2026, 11, 20)
KINDS = ("decision: ", "issue: ", "progress: ", "insight: ", "")
ROOT = "0123456789abcdef"
REPOSITORY = Scope("garden", frozenset([ROOT]), frozenset(["a" * 16]), frozenset(["b" * 16]))
FIRST = f"{TODAY:%Y%m%d}-00000000"


def entry_text(number: int, count: int, day: date) -> str:
    """An entry of the journal, the newest has the number 0. Some supersede, link, are closed,
    hold a task, or are digests of sessions.
    """
    is_own = number % 4 == 0 and not OWN <= number < count // 60 * 60 - OWN
    id = f"{day:%Y%m%d}-{number:08d}"
    marks = ["project=garden" if is_own else f"project=other{number % 7}"]
    if is_own and number % 8 == 4:
        marks.append(f"root={ROOT}")
    kind = KINDS[number % len(KINDS)]
    if is_own and number % 40 == 12:
        kind = "handoff: " if number % 80 == 12 else "preference: "
    tags = f" #tag{number % 40}" + (" #done" if number % 10 == 1 else "")
    before = number + 3
    if number % 25 == 2 and before < count and before // 30 == number // 30:
        marks.append(f"supersedes={day:%Y%m%d}-{before:08d}")
    if not is_own and number % 50 == 9:
        kind = "progress: "
        marks.append("via=import:codex")
    minute = 20 * (29 - number % 30)
    body = f"Row {number} about {'apples' if number < 50 else 'stones'} and plot{number % 100}."
    if number % 15 == 4:
        body += f" See [[{date(2020, 1, 1)}]]."
    if number % 20 == 6:
        body += "\n\n- [ ] water it"
    heading = f"## {minute // 60:02}:{minute % 60:02} {kind}Entry {number}{tags}"
    return f"{heading}\n<!-- syn:{id} {' '.join(marks)} -->\n\n{body}\n"


def write_journal(home: Path, count: int) -> None:
    """Day files of 30 entries each, the newest day last."""
    journal = home / "journal"
    journal.mkdir(parents=True)
    for start in range(0, count, 30):
        day = TODAY - timedelta(start // 30)
        numbers = reversed(range(start, min(start + 30, count)))
        entries = [entry_text(number, count, day) for number in numbers]
        (journal / f"{day}.md").write_text("\n".join([f"# {day}\n", *entries]))


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Path]]:
    """Homes of both sizes. The stamp of a file counts at once: for two seconds after a change a
    call would look at the file again, so that its work would depend on the time.
    """
    folder = tmp_path_factory.mktemp("growth")
    homes = {count: folder / str(count) for count in (SMALL, LARGE)}
    for count, home in homes.items():
        write_journal(home, count)
    make_repository(folder / "shed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "RACY_NS", 0)
        for home in homes.values():
            with open_home(home) as ws:
                rebuild(ws)
        yield homes


def make_repository(folder: Path) -> None:
    """A repository without a commit, in which commands are run."""
    for part in ("objects", "refs/heads"):
        (folder / ".git" / part).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(
        '[remote "origin"]\n\turl = https://a.example/b/c\n'
    )


def list_repository(ws: Workspace) -> Any:
    """The lists of a briefing in a repository, whose entries are known by its marks."""
    some = ("issue", "decision")
    filters = [Filters(scope=REPOSITORY), Filters(scope=REPOSITORY, types=some)]
    return in_step(
        ws,
        lambda _: (
            [
                ws.index.list_rows(one, order=order, limit=20)
                for one in filters
                for order in ("newest", "importance")
            ]
            + [ws.index.project_names(REPOSITORY)]
        ),
    )


def list_worthiest(ws: Workspace) -> Any:
    """The lists of a briefing outside of any project: what was saved, and digests."""
    wanted = Filters(types=("decision", "insight"))
    digests = Filters(types=("progress", "insight"), sessions=True)

    def ask(_: object) -> list[list[int]]:
        return [
            ws.index.list_rows(filters, order="importance", limit=20)
            for filters in (wanted, digests)
        ]

    return in_step(ws, ask)


class Call(NamedTuple):
    """A call that is measured twice: the first one in a process, as of a command, and the next,
    as of a server. `statements` and `looked_at` are the most that either may take, whatever the
    journal holds.
    """

    run: Callable[[Workspace, int], Any]
    statements: int
    looked_at: int


CALLS = {
    "save": Call(
        lambda ws, n: save(ws, f"Bought seeds for plot{n}.", project="garden"), 110, 160
    ),
    "save, replacing": Call(
        lambda ws, n: save(
            ws, f"Sold seeds of plot{n}.", project="garden", supersedes=[FIRST], parent=FIRST
        ),
        160,
        165,
    ),
    "search": Call(lambda ws, n: search(ws, "apples", filters=Filters()), 75, 60),
    "recent": Call(lambda ws, n: recent(ws), 30, 60),
    "recent, query": Call(lambda ws, n: recent(ws, "apples"), 86, 120),
    "recent, project": Call(lambda ws, n: recent(ws, project="garden"), 30, 60),
    "find": Call(lambda ws, n: find(ws, filters=Filters(types=("issue",))), 25, 60),
    "find, tag": Call(lambda ws, n: find(ws, filters=Filters(tags=("tag3",))), 27, 60),
    "find, parent": Call(lambda ws, n: find(ws, filters=Filters(parent=FIRST)), 30, 60),
    "find, short id": Call(lambda ws, n: find(ws, around=FIRST[9:], limit=10), 34, 60),
    "get": Call(lambda ws, n: get(ws, [FIRST]), 38, 60),
    "brief": Call(lambda ws, n: brief(ws, None, project="garden"), 98, 62),
    "in no repository": Call(lambda ws, n: list_worthiest(ws), 30, 20),
    "in a repository": Call(lambda ws, n: list_repository(ws), 98, 20),
    "day": Call(lambda ws, n: entries_of_days(ws, str(TODAY)), 30, 60),
    "update": Call(lambda ws, n: update(ws, FIRST, add_tags=[f"seen{n}"]), 95, 95),
}

GROWS = (
    (
        "SELECT path, settled, mtime_ns",
        "an edit may stand in any file: the stamp of each is compared before an answer",
    ),
    ("SELECT count(*) FROM entry e", "a total counts all that passes the filters"),
    ("(SELECT count(DISTINCT old.rowid)", "a total leaves out all that is superseded"),
    ("FROM entry e NOT INDEXED CROSS JOIN", "the entries with a tag are sorted"),
    (
        "SELECT rowid FROM entry WHERE due <= ?",
        "a task may be due in any entry with an open one",
    ),
    ("FROM chunk ORDER BY hash, rowid LIMIT ?", "a sample: of 2,048 passages at most"),
    ("ORDER BY c.hash, c.rowid LIMIT ?", "the project, where the sample has too few of it"),
    ("SELECT c.rowid, c.crc, r.chunk_id", "the candidates of a large journal are compared"),
    ("FROM chunk_vec_chunks c JOIN", "a search by meaning reads all vectors once a process"),
    ("SELECT count(*) FROM chunk_fts", "how rare a word is: the passages with it are counted"),
    ("SELECT pgno FROM 'main'.'chunk_fts_idx'", "FTS5 keeps more segments, to be merged"),
    ("SELECT rowid, crc FROM chunk", "and compares them with their checksums"),
)
"""A part of a statement that may take more steps in a larger journal, and the reason."""


class Measure(NamedTuple):
    """A call's work, and the entries' tables that one of its statements scans."""

    work: Work
    scanned: set[str]


def measure(home: Path, call: Call) -> dict[str, Measure]:
    """The work of the first call in a new workspace, and of the next."""
    measures = {}
    with open_home(home, project="garden") as ws:
        for number, turn in enumerate(("first", "next")):
            with counted(ws, home.parent) as work:
                call.run(ws, number)
            scanned = {text for text in work.steps if scans_entries(ws, text)}
            measures[turn] = Measure(work, scanned)
    return measures


def list_breaches(call: Call, small: Measure, large: Measure) -> list[str]:
    """Sentences on all that the call does more of in the larger journal."""
    breaches = [f"scans all entries or passages: {text}" for text in large.scanned]
    for text, steps in large.work.steps.items():
        before = small.work.steps[text]
        is_known = any(part in text for part, _ in GROWS)
        if steps > 1.25 * before + 100 and not is_known:
            breaches.append(f"{before} steps become {steps}: {text}")
    for what, number in large.work.files.items():
        before = small.work.files[what]
        if number > before + 5:
            breaches.append(f"files {what}: {before} become {number}")
    number = large.work.statements.total()
    if number > call.statements:
        breaches.append(f"{number} statements, at most {call.statements}")
    number = large.work.files["looked at"]
    if number > call.looked_at:
        breaches.append(f"files looked at {number} times, at most {call.looked_at}")
    return breaches


def test_no_call_grows_with_what_it_does_not_touch(
    homes: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Journals of 1,000 and of 8,000 entries: the steps of each statement, the files, and no
    scan of all entries or passages.
    """
    monkeypatch.chdir(homes[SMALL].parent / "shed")
    breaches = []
    for name, call in CALLS.items():
        small = measure(homes[SMALL], call)
        large = measure(homes[LARGE], call)
        for turn in large:
            found = list_breaches(call, small[turn], large[turn])
            breaches += [f"{name}, {turn}: {breach}" for breach in found]
    assert breaches == []
