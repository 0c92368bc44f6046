"""Measures how well a search finds the entries of a journal by their own titles.

A question is a title, the right answer its entry (known-item search). The questions are asked
of a copy of the journal in which no title, heading or link holds their words any more. A title
that two entries share is no question. The copy has no private passages and is deleted.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import ModelError, NotFound, check_range
from ..index.lookup import Index
from ..journal.disk import disk_errors, overwrite
from ..journal.journal import Journal
from ..language.lexicon import MONTHS, STOP_WORDS, WEEKDAYS
from ..language.words import words
from ..models import Entry, Filters, ParsedFile
from ..notes.blocks import MASK
from ..notes.privacy import mask
from ..search.search import ANY_PROJECT, search
from ..workspace.embed import Progress, embed_pending
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace

MAX_QUESTIONS = 300
TOO_FEW = 10
"""Fewer questions tell nothing."""
DEPTH = 20
"""Hits among which an entry must be to count as found."""
WORDS_LEFT = 10
"""An entry must have this many words besides those of its title. Chosen by eye."""
WAYS = {"words": "lexical", "meaning": "semantic", "default": "auto"}
"""The compared ways to search, and the strategy of each."""

_COMMON = """
    contents example examples further get getting introduction more next note notes overview
    reading readme related start started steps summary table template tips todo todos tricks
    untitled usage
"""
_SAYS_LITTLE = {*_COMMON.split(), *MONTHS, *WEEKDAYS} | STOP_WORDS
_SEARCH_SYNTAX = re.compile(r'["“”*`]|:(?=\S)')
_LABEL = rb"""(?x)
    ( (?m: ^ (?: [#]{1,6} [ \t] | title: ) .*? | [\[|] ) )
    (?i: %b )
    (?= [ \t"'*_.:\xe2\x80\xa6]* (?: [#|\]\r\n] | \Z ) )
"""
"""A title in a heading, in front matter or as the words of a link."""
_BEGINNING = rb"(?i)\A[\s*_]*(?:%b)"


@dataclass(frozen=True, slots=True)
class Missed:
    """A question whose entry is not among the first hits of the default search."""

    question: str
    date: str | None
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Measurement:
    """The mean reciprocal rank, 0 to 1, of each of WAYS on a day."""

    date: str
    questions: int
    mrr: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Evaluation(Measurement):
    """`margin` is half of the 95 % interval of the last of `mrr`, by the normal approximation.
    `before` is the measurement that was saved last.
    """

    margin: float
    missed: tuple[Missed, ...]
    seconds: float
    before: Measurement | None
    notices: tuple[str, ...]


def evaluate(
    ws: Workspace,
    *,
    questions: int = MAX_QUESTIONS,
    save: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Measures each of WAYS on this journal. With `save` the next run shows this result too.

    Without a model only words are asked. Journal and index stay as they are.
    """
    check_range("questions", questions, 1, MAX_QUESTIONS)
    begun = time.perf_counter()
    ways, notices = list(WAYS), []
    try:
        ws.embedder.load()
    except ModelError as error:
        ways, notices = ways[:1], [f"{error} Only words were measured."]
    with TemporaryDirectory(prefix="synaptic-evaluate-") as folder:
        copy = _empty_copy(ws, Path(folder))
        asked = _fill(copy, ws, questions)
        with copy:
            in_step(copy, lambda _: None)
            embed_pending(copy, budget_s=None, progress=progress)
            ranks = {way: list(_ranks(copy, asked, way, progress)) for way in ways}
    if len(asked) < TOO_FEW:
        notices.append(
            f"Questions: {len(asked)}, too few to tell anything. Give more entries a title of "
            f"two telling words or more, with at least {WORDS_LEFT} words of text below, and "
            f"ask again."
        )
    last = ranks[ways[-1]]
    margin = 1.96 * statistics.stdev(last) / len(last) ** 0.5 if len(last) > 1 else 1.0
    mrr = {way: round(statistics.fmean(each), 4) for way, each in ranks.items() if each}
    today = Measurement(ws.clock().date().isoformat(), len(asked), mrr)
    saved = ws.config.state / "evaluation.json"
    before = _read_measurement(saved)
    if save and asked:
        with disk_errors(saved):
            overwrite(saved, json.dumps(asdict(today)).encode())
    return Evaluation(
        **asdict(today),
        margin=round(margin, 4),
        missed=tuple(
            Missed(old.title, old.date if old.dated else None, old.there.path, old.there.line)
            for (old, _), rank in zip(asked, last, strict=True)
            if not rank
        ),
        seconds=round(time.perf_counter() - begun, 1),
        before=before,
        notices=tuple(notices),
    )


def _empty_copy(ws: Workspace, folder: Path) -> Workspace:
    """A workspace in `folder` with a copy of the index and a journal without files."""
    config = replace(
        ws.config,
        home=folder,
        journal=folder / "journal",
        sources={name: folder / name for name in ws.config.roots if name},
        track_access=False,
        metrics=False,
    )
    for root in (config.state, *config.roots.values()):
        root.mkdir(exist_ok=True)
    ws.index.file.copy_to(config.state / "index.db")
    index = Index(config.state / "index.db", stemming=config.search.stemming)
    return replace(ws, config=config, journal=Journal(config), index=index)


def _fill(copy: Workspace, ws: Workspace, limit: int) -> list[tuple[Entry, Entry]]:
    """Writes the altered journal; returns the asked entries, each as it was and altered."""
    files = []
    for stamp in ws.journal.scan():
        with suppress(NotFound):
            data = mask(ws.journal.read(stamp.path)).replace(MASK, b" ")
            files.append((stamp, data, ws.journal.parse(stamp.path, data, stamp.mtime_ns)))
    entries = chain.from_iterable(parsed.entries for _, _, parsed in files)
    titles = _draw(list(entries), limit)
    spelled = _spelled(titles.values())
    pairs = []
    for stamp, data, parsed in files:
        altered = _without(titles, spelled, data, parsed)
        now = ws.journal.parse(stamp.path, altered, stamp.mtime_ns)
        if len(now.entries) == len(parsed.entries):
            data = altered
            both = zip(parsed.entries, now.entries, strict=True)
            pairs += [pair for pair in both if _key(pair[0].title) in titles]
        place = copy.journal.place(stamp.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        os.utime(place, ns=(stamp.mtime_ns, stamp.mtime_ns))
    return pairs


def _draw(entries: list[Entry], limit: int) -> dict[str, str]:
    """Titles to ask for, by their keys. A hash of the ids draws them: the same journal gives
    the same questions, and a new entry changes few.
    """
    uses = Counter(_key(entry.title) for entry in entries)
    replaced = set(chain.from_iterable(entry.supersedes for entry in entries))
    entries.sort(key=lambda entry: blake2b(entry.id.encode(), digest_size=8).digest())
    drawn: dict[str, str] = {}
    for entry in entries:
        key = _key(entry.title)
        own = key.split()
        telling = {word for word in own if word not in _SAYS_LITTLE and word.isalpha()}
        if uses[key] > 1 or entry.id in replaced or len(telling) < 2:
            continue
        left = [word for _, word in words(entry.content) if word not in own]
        if len(left) >= WORDS_LEFT:
            drawn[key] = entry.title.removesuffix("…")
        if len(drawn) == limit:
            break
    return drawn


def _spelled(titles: Iterable[str]) -> bytes:
    """A pattern of these titles, the longest first."""
    longest_first = sorted(titles, key=len, reverse=True)
    return b"|".join(
        rb"\s+".join(map(re.escape, title.encode().split())) for title in longest_first
    )


def _without(titles: Collection[str], spelled: bytes, data: bytes, parsed: ParsedFile) -> bytes:
    """A file in which no heading, link or beginning of an entry holds one of these titles."""
    beginning = re.compile(_BEGINNING % spelled)
    for entry in reversed(parsed.entries):
        if _key(entry.title) in titles:
            place = entry.there
            heading = data[place.start : place.body_start]
            if entry.whole_file:  # the name of its file may be its title
                heading = b"# Untitled\n\n" + heading
            body = beginning.sub(b"", data[place.body_start :])
            data = data[: place.start] + heading + body
    return re.sub(_LABEL % spelled, rb"\1", data)


def _key(text: str) -> str:
    """Two texts with the same key name the same thing."""
    return " ".join(word for _, word in words(text))


def _ranks(
    copy: Workspace, asked: list[tuple[Entry, Entry]], way: str, progress: Progress | None
) -> Iterator[float]:
    """For each question the reciprocal rank of its entry; 0 where it is not found."""
    alike = Filters(projects=(ANY_PROJECT,))
    for done, (old, new) in enumerate(asked, start=1):
        text = " ".join(_SEARCH_SYNTAX.sub(" ", old.title.removesuffix("…")).split())
        hits = search(copy, text, filters=alike, limit=DEPTH, strategy=WAYS[way]).hits
        places = [hit.entry.place for hit in hits]
        yield 1 / (1 + places.index(new.place)) if new.place in places else 0.0
        if progress:
            progress(f"asking {way}", done, len(asked))


def _read_measurement(saved: Path) -> Measurement | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads(saved.read_bytes())
        mrr = {way: float(mean) for way, mean in told["mrr"].items()}
        return Measurement(str(told["date"]), int(told["questions"]), mrr)
    return None
