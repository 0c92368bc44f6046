"""The journal as its own benchmark: is an entry found by its title, once the index no longer
holds that title?

A question is a title, a heading in an entry, or the words of a link to it; the answer is that
entry (a known-item search). It is asked of a copy of the index in which no title, heading or
link says these words any more. Words that name two entries are no question: the other entry,
which still says them, would answer.
"""

from __future__ import annotations

import json
import posixpath
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import unquote

from ..config import Config
from ..errors import ModelError, NotFound, check_range
from ..index.lookup import Index
from ..journal.disk import disk_errors, overwrite
from ..journal.journal import Journal
from ..language.lexicon import MONTHS, STOP_WORDS, WEEKDAYS
from ..language.words import words
from ..models import Entry, Filters, Proof, Stamp
from ..notes.blocks import LINK, WIKI_LINK, scan
from ..search.search import ANY_PROJECT, search
from ..workspace.embed import Progress, embed_pending
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace

MOST, TOO_FEW, DEPTH = 300, 10, 20
"""Questions at most; the number below which they tell nothing; hits among which the entry must
be to count as found.
"""

WORDS_LEFT = 10
"""Words that an entry must have without those of the question, so that there is something to
find. By eye.
"""

PLACES = 3
"""Words that more entries say are no question: each of these entries would have to be embedded
anew.
"""

WAYS = {"words": "lexical", "meaning": "semantic", "default": "auto"}
"""What is compared, and the strategy of each."""

_KINDS = ("title", "heading", "link")
_COMMON = """
    contents example examples further get getting introduction more next note notes overview reading readme related
    start started steps summary table template tips todo todos tricks untitled usage
"""
_SAYS_LITTLE = {*_COMMON.split(), *MONTHS, *WEEKDAYS} | STOP_WORDS
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S[^\n]*?)[ \t#]*$", re.MULTILINE)
_NOT_ASKED = re.compile(r'["“”*`]|:(?=\S)')  # what a search would read as a phrase or a filter

At = tuple[str, int]
"""An entry: the path of its file, and its number in it."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A question that the default search does not answer among its first 20, and the entry that
    it asks for.
    """

    question: str
    title: str
    date: str | None
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A measurement of a day: the mean reciprocal rank, 0 to 1, of each of WAYS over this
    number of questions.
    """

    date: str
    questions: int
    mrr: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Evaluation(Kept):
    """`kinds` counts the questions by what they are. `margin` is half of the 95 % interval of
    the last of `mrr`, by the
    normal approximation. `before` is the run that was kept last."""

    kinds: Mapping[str, int]
    margin: float
    missed: tuple[Missed, ...]
    seconds: float
    before: Kept | None
    notices: tuple[str, ...]


class _Question(NamedTuple):
    """Words that name the entry `about`; `places` are the entries that say them so, each as it
    spells them.
    """

    text: str
    kind: str
    about: At
    places: tuple[tuple[At, str], ...]


class _Page(NamedTuple):
    stamp: Stamp
    data: bytes
    entries: tuple[Entry, ...]


def evaluate(
    ws: Workspace,
    *,
    questions: int = MOST,
    save: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """How well each of WAYS finds entries of this journal. With `save` the next run compares
    itself with this one.

    Steps: read the journal into memory, draw questions and take their words out, bring a copy
    of the index in step with that, ask. Without a model only words are asked. The copy is
    deleted; journal and index stay as they are.
    """
    check_range("questions", questions, 1, MOST)
    begun, kept = time.perf_counter(), ws.config.state / "evaluation.json"
    ways, notices = tuple(WAYS), []
    try:
        ws.embedder.load()
    except ModelError as error:
        ways, notices = ways[:1], [f"{error} Only words were measured."]
    with TemporaryDirectory(prefix="synaptic-evaluate-") as folder:
        config = replace(
            ws.config,
            home=Path(folder),
            sources=ws.config.roots,
            track_access=False,
            metrics=False,
        )
        config.state.mkdir()
        ws.index.file.copy_to(config.state / "index.db")
        journal = _Altered(config)
        original = journal.all()
        asked = list(journal.ask(questions))
        index = Index(config.state / "index.db", stemming=config.search.stemming)
        with replace(ws, config=config, journal=journal, index=index) as copy:
            in_step(copy, lambda _: None)
            embed_pending(copy, budget_s=None, progress=progress)
            scores = {way: list(_scores(copy, journal, asked, way, progress)) for way in ways}
    if len(asked) < TOO_FEW:
        notices.append(
            f"Questions: {len(asked)}, too few to tell anything. Give more entries a title "
            f"or headings of two telling "
            f"words or more, with at least {WORDS_LEFT} words of text below, and ask again."
        )
    last = scores[ways[-1]]
    found = Evaluation(
        date=ws.clock().date().isoformat(),
        questions=len(asked),
        mrr={
            way: round(statistics.fmean(values), 4) for way, values in scores.items() if values
        },
        kinds={
            kind: count
            for kind in _KINDS
            if (count := sum(question.kind == kind for question in asked))
        },
        margin=round(1.96 * statistics.stdev(last) / len(last) ** 0.5, 4)
        if len(last) > 1
        else 1.0,
        missed=tuple(
            _missed(asked[n], original[asked[n].about])
            for n, score in enumerate(last)
            if not score
        ),
        seconds=round(time.perf_counter() - begun, 1),
        before=_read(kept),
        notices=tuple(notices),
    )
    if save and asked:
        with disk_errors(kept):
            overwrite(
                kept,
                json.dumps(
                    {"date": found.date, "questions": found.questions, "mrr": found.mrr}
                ).encode(),
            )
    return found


class _Altered(Journal):
    """The journal in memory, where words are taken out of it; nobody else changes it."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.pages: dict[str, _Page] = {}
        for stamp in self.scan():
            with suppress(NotFound):
                self.pages[stamp.path] = self._page(stamp, super().read(stamp.path))

    def _page(self, stamp: Stamp, data: bytes) -> _Page:
        return _Page(stamp, data, self.parse(stamp.path, data, stamp.mtime_ns).entries)

    def read(self, path: str) -> bytes:
        return self.pages[path].data

    def compare(self, known: Mapping[str, Proof | None]) -> tuple[list[Stamp], list[str]]:
        changed = [
            page.stamp
            for path, page in self.pages.items()
            if page.stamp.proof != known.get(path)
        ]
        return sorted(changed), sorted(known.keys() - self.pages.keys())

    def all(self) -> dict[At, Entry]:
        return {
            (path, n): entry
            for path, page in self.pages.items()
            for n, entry in enumerate(page.entries)
        }

    def entry(self, at: At) -> Entry:
        return self.pages[at[0]].entries[at[1]]

    def ask(self, limit: int) -> list[_Question]:
        """The questions, one for an entry, whose words are now taken out.

        A hash of ids and words draws them: the same journal gives the same questions, and a new
        entry changes few.
        """
        entries, asked, blocks = self.all(), dict[At, _Question](), dict[At, _Page]()

        def drawn(
            question: _Question,
        ) -> tuple[bytes, ...]:  # entries, then their kinds, then their wordings
            words = (
                f"{entries[question.about].id}{part}"
                for part in ("", question.kind, question.text)
            )
            return tuple(blake2b(word.encode(), digest_size=8).digest() for word in words)

        for question in sorted(_questions(entries), key=drawn):
            if len(asked) == limit:
                break
            about, tried = question.about, dict(blocks)
            if about not in asked and all(
                self._take_out(tried, at, spelled) for at, spelled in question.places
            ):
                left = tried[about].entries[0] if about in tried else entries[about]
                if len(words(left.content)) >= WORDS_LEFT:
                    asked[about], blocks = question, tried
        altered = {path: self._altered(path, blocks) for path in {path for path, _ in blocks}}
        self.pages |= {
            path: page
            for path, page in altered.items()
            if len(page.entries) == len(self.pages[path].entries)
        }
        return [
            q
            for q in asked.values()
            if all(self.pages[at[0]] is altered[at[0]] for at, _ in q.places)
        ]

    def _take_out(self, blocks: dict[At, _Page], at: At, spelled: str) -> bool:
        """Whether the entry, whose altered block is put into `blocks`, no longer says these
        words as a title, heading, alias or link.

        They are cut from headings, links and front matter, and as the first sentence of the
        text. A page whose title is the name of its file gets another title.
        """
        stamp, data, _ = self.pages[at[0]]
        block = blocks.get(at) or self._page(stamp, data[self._span(at)])
        if len(block.entries) != 1:
            return False
        said = (
            rb"\s+".join(re.escape(word.encode()) for word in spelled.split())
            + rb"(?:\xe2\x80\xa6)?"
        )
        ends = rb"(?:\]\([^()\n]*\)|(?=[ \t\"'*_.:]*(?:[#|\]\r\n]|\Z)))"
        label = rb"((?im:^(?:#{1,6}[ \t]|title:)[^\n]*?|[\[|]))(?i:%b)%b" % (said, ends)
        body = block.entries[0].there.body_start
        text = re.sub(rb"(?i)(\A\W*)%b" % said, rb"\1", block.data[body:], count=1)
        block = self._page(stamp, re.sub(label, rb"\1", block.data[:body] + text))
        if block.entries and _key(block.entries[0].title) == _key(spelled):
            start = block.entries[0].there.start
            block = self._page(
                stamp, block.data[:start] + b"# Untitled\n\n" + block.data[start:]
            )
        blocks[at] = block
        aliases = (
            alias
            for entry in block.entries
            for _, value in entry.extra
            for alias in value.split(", ")
        )
        labels = (label for entry in block.entries for _, label, _ in _named(entry, at, {}))
        return len(block.entries) == 1 and _key(spelled) not in map(_key, (*aliases, *labels))

    def _span(self, at: At) -> slice:
        """Where the entry stands in its file; the front matter is the first entry's."""
        place = self.entry(at).there
        return slice(place.start if at[1] else 0, place.end)

    def _altered(self, path: str, blocks: Mapping[At, _Page]) -> _Page:
        stamp, data, _ = self.pages[path]
        for at in sorted((at for at in blocks if at[0] == path), reverse=True):
            span = self._span(at)
            data = data[: span.start] + blocks[at].data + data[span.stop :]
        return self._page(stamp._replace(size=-1), data)


def _questions(entries: Mapping[At, Entry]) -> Iterator[_Question]:
    """Every question that the journal has, one for each wording."""
    several = {path for path, n in entries if n}
    files = {
        path.removesuffix(".md").casefold(): (path, n)
        for path, n in entries
        if path not in several
    }
    stems = Counter(posixpath.basename(name) for name in files)
    files |= {
        stem: at for name, at in files.items() if stems[stem := posixpath.basename(name)] == 1
    }
    gone = {
        id for entry in entries.values() for id in entry.supersedes
    }  # no search shows these
    uses: dict[str, dict[tuple[At, str, str], At]] = {}
    for at, entry in entries.items():
        for kind, spelled, about in _named(entry, at, files):
            uses.setdefault(_key(spelled), {})[at, kind, spelled] = about
    for key, named in uses.items():
        telling = [
            word
            for word in key.split()
            if word not in _SAYS_LITTLE and not any(map(str.isdigit, word))
        ]
        [about, *others] = set(named.values())
        if (
            len(set(telling)) < 2
            or others
            or entries[about].id in gone
            or len({at for at, _, _ in named}) > PLACES
        ):
            continue
        kind, spelled = min(
            ((kind, spelled) for _, kind, spelled in named),
            key=lambda use: _KINDS.index(use[0]),
        )
        text = LINK.sub(r"\1", WIKI_LINK.sub(lambda link: link[2] or link[1], spelled))
        places = dict.fromkeys((at, spelled) for at, _, spelled in named)
        yield _Question(" ".join(_NOT_ASKED.sub(" ", text).split()), kind, about, tuple(places))


def _named(entry: Entry, at: At, files: Mapping[str, At]) -> Iterator[tuple[str, str, At]]:
    """(kind, words, the entry that they name) of each title, heading and link of an entry."""
    text = entry.content
    yield "title", entry.title.removesuffix("…"), at
    fences = scan(text).opaque
    for heading in _HEADING.finditer(text):
        if not any(start <= heading.start() < end for start, end in fences):
            yield "heading", heading[1], at
    for pattern, shown, target in ((WIKI_LINK, 1, 1), (WIKI_LINK, 2, 1), (LINK, 1, 2)):
        for link in pattern.finditer(text):
            name = (
                unquote(link[target]).partition("#")[0].strip().removesuffix(".md").casefold()
            )
            beside = posixpath.normpath(
                posixpath.join(posixpath.dirname(at[0]).casefold(), name)
            )
            about = files.get(beside) or files.get(name) or files.get(posixpath.basename(name))
            if about and about != at and "://" not in name and link[0][0] != "!":
                yield "link", link[shown], about


def _key(text: str) -> str:
    """Two texts with the same key name the same thing."""
    return " ".join(word for _, word in words(text))


def _scores(
    ws: Workspace,
    journal: _Altered,
    asked: Sequence[_Question],
    way: str,
    progress: Progress | None,
) -> Iterator[float]:
    """For each question the reciprocal rank of its entry; 0 where that is not among the first
    hits.
    """
    alike = Filters(projects=(ANY_PROJECT,))  # wherever it is run
    for done, question in enumerate(asked, start=1):
        place = journal.entry(question.about).place
        hits = search(ws, question.text, filters=alike, limit=DEPTH, strategy=WAYS[way]).hits
        yield next(
            (1 / rank for rank, hit in enumerate(hits, start=1) if hit.entry.place == place),
            0.0,
        )
        if progress:
            progress(f"asking {way}", done, len(asked))


def _missed(question: _Question, entry: Entry) -> Missed:
    day = entry.date if entry.dated else None
    return Missed(question.text, entry.title, day, entry.there.path, entry.there.line)


def _read(kept: Path) -> Kept | None:
    """The run that was kept last; None without one that can be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        said = json.loads(kept.read_bytes())
        return Kept(
            str(said["date"]),
            int(said["questions"]),
            {way: float(said["mrr"][way]) for way in said["mrr"]},
        )
    return None
