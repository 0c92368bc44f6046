"""The journals of the panel, each with questions and the entries that answer them.

| set | a journal of | from |
|---|---|---|
| LoCoMo | short turns of a talk | --locomo |
| BEAM | long chats with an assistant | --beam |
| notes | a developer's notes, each sought by its title | --notes |
| logseq, obsidian | two vaults | --vaults, tests/data/panel |
| project | one project's commits, decisions and hand-offs | tests/data/panel |
| german, chinese, japanese | home and work in other languages | tests/data/panel |
| beliefs | five small journals of short notes | tests/data/panel |

Sets whose files are not at hand are left out.

With --unseen there are fifteen others instead, on which no rule was chosen, all from tests/data/panel:
what a companion remembers of its user, meetings, a life log in English and in Chinese, articles in
English, in twelve languages, and asked in another language than their own; decision records, code
documentation, exact spans of long passages, odd ways of asking, and journals in Spanish, Turkish,
Arabic and Thai. Half of the questions may be looked at (`look`); the other half is for reports alone (`held`).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import Said, indexed, markdown_in, read, write_days

from synaptic import Workspace, find
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.models import Entry

WRITTEN = ("project", "german", "chinese", "japanese")
UNSEEN = (
    "companion",
    "meetings",
    "lifelog",
    "lifelog_zh",
    "articles_en",
    "articles_own",
    "articles_across",
    "decisions",
    "codedocs",
    "passages",
    "asked",
    "spanish",
    "turkish",
    "arabic",
    "thai",
)

Asked = tuple[str, Iterable[str]]
"""A question, and the set's ids of the entries that answer it."""


class CachedEmbedder(FastEmbedder):
    """A model that remembers the vectors of questions, because each variant asks the same."""

    def __init__(self, cache: Path, model: str = DEFAULT_MODEL) -> None:
        super().__init__(model, cache=cache)
        self._queries: dict[str, Any] = {}

    def embed_query(self, text: str) -> Any:
        if text not in self._queries:
            self._queries[text] = super().embed_query(text)
        return self._queries[text]


@dataclass(frozen=True)
class Question:
    text: str
    wanted: frozenset[str]


@dataclass(frozen=True)
class Corpus:
    name: str
    workspace: Workspace
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Maker:
    """Makes the journals of the sets below `scratch`."""

    arguments: argparse.Namespace
    scratch: Path
    embedder: FastEmbedder

    def sets(self) -> Iterator[tuple[str, Iterator[Corpus]]]:
        """(name, journals) of every set whose file is at hand."""
        if self.arguments.unseen:
            for name in UNSEEN:
                yield name, iter([self.half_of(self.written(name))])
            return
        if self.arguments.locomo:
            yield "LoCoMo", self.locomo()
        if self.arguments.beam:
            yield "BEAM", self.beam()
        if self.arguments.notes:
            yield "notes", iter([self.notes_by_title()])
        if self.arguments.vaults:
            yield "logseq", iter([self.vault("logseq")])
            yield "obsidian", iter([self.vault("obsidian")])
        for name in WRITTEN:
            yield name, iter([self.written(name)])
        yield "beliefs", self.beliefs()

    def locomo(self) -> Iterator[Corpus]:
        """One journal a conversation, one entry a turn, asked an hour after the last."""
        conversations = json.loads(self.arguments.locomo.read_text(encoding="utf-8"))
        first, _, last = self.arguments.split.partition("-")
        for number in range(int(first), int(last or first) + 1):
            sample = conversations[number - 1]
            turns = sorted(turns_of(sample["conversation"]), key=lambda said: said[1])
            asked = [
                (qa["question"], qa.get("evidence", ()))
                for qa in sample["qa"]
                if qa["category"] != 5
            ]
            yield self.journal(f"locomo-{number}", turns, asked, timedelta(hours=1))

    def beam(self) -> Iterator[Corpus]:
        """One journal a chat, one entry a message."""
        with gzip.open(self.arguments.beam) as file:
            chats = json.load(file)
        for number, chat in enumerate(chats, start=1):
            turns = [
                (id, datetime.fromisoformat(at), {"text": f"{role}: {text}"})
                for id, at, role, text in chat["turns"]
            ]
            asked = [(question, answers) for question, answers, _ in chat["questions"]]
            yield self.journal(f"beam-{number}", turns, asked, timedelta(hours=1))

    def written(self, name: str) -> Corpus:
        """A journal that was written for the panel."""
        return self.told(name, read(f"panel/{name}.json"))

    def half_of(self, corpus: Corpus) -> Corpus:
        """The corpus with the half of its questions that --unseen names."""
        wants_held = self.arguments.unseen == "held"
        asked = [one for one in corpus.questions if is_held(one.text) == wants_held]
        return replace(corpus, questions=tuple(asked))

    def beliefs(self) -> Iterator[Corpus]:
        for told in read("panel/beliefs.json")["journals"]:
            yield self.told(told["name"], told)

    def told(self, name: str, told: dict[str, Any]) -> Corpus:
        """The journal of these entries and questions, asked at its `now`, else 30 days after
        its last entry.
        """
        said = [(one["id"], datetime.fromisoformat(one["at"]), one) for one in told["entries"]]
        asked = [(one["question"], one["answers"]) for one in told["questions"]]
        last = said[-1][1]
        now = datetime.fromisoformat(told.get("now", f"{last + timedelta(days=30)}"))
        return self.journal(name, said, asked, now - last)

    def journal(
        self, name: str, said: Sequence[Said[str]], asked: Iterable[Asked], later: timedelta
    ) -> Corpus:
        """Writes the entries into day files and indexes them.

        The clock stands `later` than the last entry. A question that no entry answers is left
        out.
        """
        home = self.scratch / name
        ids = write_days(home, said)
        workspace = indexed(home, self.embedder, said[-1][1] + later)
        return Corpus(name, workspace, questions(asked, {id: {ids[id]} for id in ids}))

    def notes_by_title(self) -> Corpus:
        """Each note is sought by its title, which is taken out of what is indexed."""
        home = self.scratch / "notes"
        asked: list[Asked] = []
        (home / "journal").mkdir(parents=True)
        for note, data in markdown_in(self.arguments.notes):
            title, _, body = data.decode("utf-8", "replace").partition("\n")
            if title.startswith("# ") and body.strip() and "README" not in note:
                name = f"n{len(asked):04d}.md"
                (home / "journal" / name).write_text(f"{body.strip()}\n", encoding="utf-8")
                asked.append((title[2:].strip(), [name]))
        workspace = indexed(home, self.embedder, datetime.now())
        return Corpus("notes", workspace, questions(asked, by_path(workspace)))

    def vault(self, name: str) -> Corpus:
        """A vault as it is; any entry of a file that answers is right."""
        told = read("panel/vaults.json")[name]
        home = self.scratch / name
        with tarfile.open(self.arguments.vaults) as opened:
            opened.extractall(self.scratch / "vaults", filter="data")
        shutil.copytree(self.scratch / "vaults" / told["root"], home / "journal")
        workspace = indexed(home, self.embedder, datetime.now())
        asked = [(one["question"], one["answers"]) for one in told["questions"]]
        return Corpus(name, workspace, questions(asked, by_path(workspace)))


def is_held(question: str) -> bool:
    """True for the half of all questions on which nothing is chosen."""
    return bool(hashlib.sha1(question.encode()).digest()[-1] % 2)


def turns_of(conversation: dict[str, Any]) -> Iterator[Said[str]]:
    """The turns of a conversation of LoCoMo, 20 seconds apart."""
    for key, session in conversation.items():
        if not key.startswith("session_") or not isinstance(session, list):
            continue
        begun = datetime.strptime(conversation[f"{key}_date_time"], "%I:%M %p on %d %B, %Y")
        for place, turn in enumerate(session):
            text = f"{turn['speaker']}: {turn['text']}"
            if turn.get("blip_caption"):
                text += f" [{turn['blip_caption']}]"
            yield turn["dia_id"], begun + timedelta(seconds=20 * place), {"text": text}


def questions(asked: Iterable[Asked], known: dict[str, set[str]]) -> tuple[Question, ...]:
    """The questions that an entry answers; `known` has the entries' ids by those of the set."""
    found = []
    for text, answers in asked:
        wanted = frozenset().union(*(known.get(answer, ()) for answer in answers))
        if wanted:
            found.append(Question(text, wanted))
    return tuple(found)


def by_path(workspace: Workspace) -> dict[str, set[str]]:
    """The ids of the entries of each file."""
    found: dict[str, set[str]] = {}
    for entry in entries(workspace):
        if entry.place:
            found.setdefault(entry.place.path, set()).add(entry.id)
    return found


def entries(workspace: Workspace) -> Iterator[Entry]:
    """All entries, newest first."""
    cursor = None
    while True:
        page = find(workspace, limit=100, cursor=cursor)
        yield from page.entries
        cursor = page.cursor
        if cursor is None:
            return
