"""Measures how well a search finds the entries of a journal by their own titles.

A question is a title, the right answer its entry (known-item search). The questions are asked
of a copy of the journal that holds dots in the place of these titles, in each heading, link,
text and name of a file. A title that two entries share is not asked. The copy has no private
passages and is deleted.
"""

import re
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import check_range
from ...filters import ANY_PROJECT, Filters
from ...index.copying import copy_index
from ...language.lexicon import STOP_WORDS
from ...language.words import words
from ...models import Entry, Texts, frozen
from ...notes.blocks import MASK
from ...notes.privacy import mask_private
from ...search.search import search
from ...verbs.exports import export
from ...workspace.embed import Progress, embed_pending
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace, open_workspace

MAX_QUESTIONS = 300
TOO_FEW = 10
"""With fewer queries than this, the figures mean nothing."""
FEW = (
    "Questions: {}, too few to tell anything. Give more entries a title of two telling words "
    "or more, with at least ten words of text below, and ask again."
)
ASKED_FEW = "Questions: {}, too few to tell anything. Ask for more: `--questions {}`."
DEPTH = 20
"""An entry counts as found if it is among this many first hits."""
WORDS_LEFT = 10
"""An entry is only searched for if its text has this many words besides those of its title.
Chosen by eye.
"""
WAYS = {"words": "lexical", "meaning": "semantic", "default": "auto"}
"""The search methods that are compared, each with its strategy."""

_WORD = re.compile(r"[^\W_]+")


@frozen
class MissedQuery:
    """A query whose entry was not among the first DEPTH hits of the default search."""

    question: str
    date: str | None
    path: str
    line: int


@frozen
class Evaluation:
    """The result of `evaluate`: `mrr` is the mean reciprocal rank, 0 to 1, for each of WAYS;
    `margin` is half of the 95 % interval of the last of them, by the normal approximation.
    """

    date: str
    questions: int
    mrr: dict[str, float]
    margin: float
    missed: tuple[MissedQuery, ...]
    seconds: float
    notices: Texts


def evaluate(
    ws: Workspace, *, questions: int = MAX_QUESTIONS, progress: Progress | None = None
) -> Evaluation:
    """Measures how well each of WAYS finds entries of this journal by their titles.

    Raises ModelError without a model. Journal and index stay as they are.
    """
    check_range("questions", questions, 1, MAX_QUESTIONS)
    begun = time.perf_counter()
    ws.embedder.load()
    asked = _pick_askable_entries(export(ws, Filters()))[:questions]
    ranks = _measure_ranks(ws, asked, progress)
    *_, last = ranks.values()
    missed = []
    for entry, rank in zip(asked, last, strict=True):
        if not rank:
            date = entry.date if entry.dated else None
            place = entry.there
            missed.append(MissedQuery(entry.title, date, place.path, place.line))
    return Evaluation(
        date=ws.today.isoformat(),
        questions=len(asked),
        mrr={way: round(statistics.fmean(each), 4) for way, each in ranks.items() if each},
        margin=round(1.96 * statistics.pstdev(last or [0.0]) / max(len(last), 1) ** 0.5, 4),
        missed=tuple(missed),
        seconds=round(time.perf_counter() - begun, 1),
        notices=_few_questions_notice(len(asked), questions),
    )


def _few_questions_notice(asked: int, questions: int) -> Texts:
    """Returns a notice if fewer than TOO_FEW queries were possible; () otherwise. `questions`
    is the number that the person asked for.
    """
    if asked >= TOO_FEW:
        return ()
    if asked == questions:
        return (ASKED_FEW.format(asked, MAX_QUESTIONS),)
    return (FEW.format(asked),)


def _measure_ranks(
    ws: Workspace, asked: Sequence[Entry], progress: Progress | None
) -> dict[str, list[float]]:
    """Searches for the title of each entry; returns for each of WAYS the reciprocal ranks of
    the entries, 0 for an entry that was not found.
    """
    ranks: dict[str, list[float]] = {way: [] for way in WAYS}
    everywhere = Filters(projects=(ANY_PROJECT,))
    with TemporaryDirectory(prefix="synaptic-evaluate-") as folder:
        home = Path(folder)
        config = replace(ws.config, home=home, journal=home / "journal", sources={})
        with open_workspace(config, embedder=ws.embedder, clock=ws.clock) as copy:
            paths = _write_journal_without_titles(asked, ws, config.journal)
            copy_index(ws.index.file, copy.index.file.path)  # only what is new is embedded
            in_step(copy, lambda _: None)
            embed_pending(copy, budget_s=None, progress=progress)
            for (way, strategy), entry in product(WAYS.items(), asked):
                result = search(
                    copy,
                    " ".join(_WORD.findall(entry.title)),
                    filters=everywhere,
                    limit=DEPTH,
                    strategy=strategy,
                )
                hits = [(hit.entry.path, hit.entry.there.start) for hit in result.hits]
                right = paths[entry.path], entry.there.start
                ranks[way].append(1 / (1 + hits.index(right)) if right in hits else 0.0)
    return ranks


def _write_journal_without_titles(
    asked: Sequence[Entry], ws: Workspace, folder: Path
) -> dict[str, str]:
    """Writes a copy of the journal to `folder` with dots in place of the titles; maps old paths
    to new ones.
    """
    titles = sorted((_WORD.findall(entry.title) for entry in asked), reverse=True)
    patterns = [rb"[\W_]+".join(map(str.encode, title)) for title in titles]
    titles_pattern = re.compile(rb"(?i)(?<!\w)(?:%b)(?!\w)" % b"|".join(patterns or [b"(?!)"]))
    paths = {}
    for number, stamp in enumerate(ws.journal.scan()):
        data = mask_private(ws.journal.read(stamp.path)).replace(MASK, b" ")
        path = (
            titles_pattern.sub(b"untitled %d" % number, stamp.path.encode())
            .decode()
            .replace("@", "")
        )
        paths[stamp.path] = path
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(titles_pattern.sub(lambda title: b"." * len(title[0]), data))
    return paths


def _pick_askable_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Picks the entries whose titles can be searched for, in a pseudo-random order by the end
    of their ids: the same journal gives the same queries.
    """
    uses: dict[str, list[Entry]] = {}
    for entry in entries:
        uses.setdefault(" ".join(word for _, word in words(entry.title)), []).append(entry)
    drawn = []
    for title, (entry, *others) in uses.items():
        own = set(title.split())
        telling = {word for word in own if word.isalpha()} - STOP_WORDS
        left = [word for _, word in words(entry.content) if word not in own]
        if not others and len(telling) > 1 and len(left) >= WORDS_LEFT:
            drawn.append(entry)
    return sorted(drawn, key=lambda entry: entry.id[::-1])
