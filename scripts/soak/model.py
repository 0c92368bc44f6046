"""A random user against a model: after each step every answer is compared with what the journal
should hold.

Steps are saves, updates, deletions, restores, edits by hand, moved and removed files, rebuilds
and kills in the middle of a save. Then `get`, `find` and `recent` are compared with the model,
and searches with the model and, hit by hit, with a second home on the same journal whose index
is made anew.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from attack import NOW, HashingEmbedder, attack, check, entries, open_home

from synaptic import (
    Filters,
    Workspace,
    delete,
    get,
    open_workspace,
    rebuild,
    recent,
    restore,
    save,
    search,
    update,
)
from synaptic.config import Config
from synaptic.models import TYPES, EntryType
from synaptic.workspace.embed import embed_pending

STEPS = 25
SEARCHES = 20
"""How many searches follow each step; each is compared twice."""
WORDS = (
    "amber basil cedar delta ember fjord grove hazel indigo jasper kelp lotus maple nectar "
    "olive"
).split()
TAGS = "db food home work".split()
SOURCES = ("lexical", "hybrid", "semantic")


@dataclass(frozen=True)
class Note:
    """What the model knows of an entry."""

    content: str
    type: EntryType
    tags: frozenset[str]
    at: datetime
    path: str


@dataclass
class Model:
    """The journal as it should be: entries by id, or by their text where they were typed; and
    the trash.
    """

    ws: Workspace
    choose: random.Random
    notes: dict[str, Note] = field(default_factory=dict)
    trash: dict[str, list[Note]] = field(default_factory=dict)
    count: int = 0

    def text(self) -> str:
        """Some common words and one that stands nowhere else."""
        self.count += 1
        some = self.choose.sample(WORDS, self.choose.randrange(1, 6))
        unique = f"unique{self.count}word"
        return self.choose.choice((" ", ".\n\n", "\n- ")).join([*some, unique])

    def saved(self) -> list[str]:
        return [key for key in self.notes if key[:8].isdigit()]

    # -- steps
    # ------------------------------------------------------------------------------------

    def step(self) -> str:
        """The name of the step that was taken."""
        kinds = (
            "save",
            "save",
            "save",
            "update",
            "tag",
            "delete",
            "restore",
            "typed",
            "retyped",
            "move",
            "remove",
            "rebuild",
            "killed",
        )
        kind = self.choose.choice(kinds)
        getattr(self, kind)()
        return kind

    def save(self) -> None:
        kind, tags = (
            self.choose.choice(TYPES),
            self.choose.sample(TAGS, self.choose.randrange(3)),
        )
        at = NOW.replace(hour=8) - timedelta(days=self.choose.randrange(30), minutes=self.count)
        text = self.text()
        receipt = save(self.ws, text, type=kind, tags=tags, at=at)
        self.notes[receipt.id] = Note(text, kind, frozenset(tags), at, receipt.path)

    def update(self) -> None:
        if ids := self.saved():
            id, text = self.choose.choice(ids), self.text()
            self.trash.setdefault(id, []).append(self.notes[id])
            update(self.ws, id, content=text)
            self.notes[id] = replace(self.notes[id], content=text)

    def tag(self) -> None:
        if ids := self.saved():
            id, tag = self.choose.choice(ids), self.choose.choice(TAGS)
            old = self.notes[id]
            update(self.ws, id, add_tags=[tag])
            if tag not in old.tags:
                self.trash.setdefault(id, []).append(old)
                self.notes[id] = replace(old, tags=old.tags | {tag})

    def delete(self) -> None:
        if ids := self.saved():
            id = self.choose.choice(ids)
            if self.choose.random() < 0.3:
                delete(self.ws, id, purge=True)
                del self.notes[id]
                self.trash.pop(id, None)
            else:
                delete(self.ws, id)
                self.trash.setdefault(id, []).append(self.notes.pop(id))

    def restore(self) -> None:
        if gone := [id for id in self.trash if id not in self.notes]:
            id = self.choose.choice(gone)
            receipt = restore(self.ws, id)
            self.notes[id] = replace(self.trash[id][-1], path=receipt.path)

    def typed(self) -> None:
        """Somebody types an entry below a day's last line."""
        text, at = (
            self.text(),
            NOW - timedelta(days=self.choose.randrange(30), minutes=self.count),
        )
        path = self.ws.config.journal / f"{at:%Y-%m-%d}.md"
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n## {at:%H:%M} Typed {self.count}\n\n{text}\n")
        self.notes[text] = Note(text, "note", frozenset(), at.replace(second=0), path.name)

    def retyped(self) -> None:
        """Somebody changes a word of an entry in an editor."""
        if self.notes:
            key = self.choose.choice(list(self.notes))
            old, new = self.notes[key].content, self.text()
            path = self.ws.config.journal / self.notes[key].path
            text = path.read_text()
            assert (
                text.count(f"\n{old}\n") + text.count(f" {old}\n") + text.count(f" {old} #")
                >= 1
            ), (old, text)
            if text.count(old) == 1 and f"\n{old}\n" in text:
                path.write_text(text.replace(old, new))
                note = replace(self.notes.pop(key), content=new)
                self.notes[key if key[:8].isdigit() else new] = note

    def move(self) -> None:
        """A day's file goes to another folder of the journal."""
        if paths := {note.path for note in self.notes.values()}:
            path = self.choose.choice(sorted(paths))
            folder = self.choose.choice(("old", "archive/2026", "."))
            to = Path(folder, Path(path).name)
            target = self.ws.config.journal / to
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                (self.ws.config.journal / path).rename(target)
                for key, note in self.notes.items():
                    if note.path == path:
                        self.notes[key] = replace(note, path=to.as_posix())

    def remove(self) -> None:
        """A file is deleted by hand."""
        if (
            paths := {note.path for note in self.notes.values()}
        ) and self.choose.random() < 0.3:
            path = self.choose.choice(sorted(paths))
            (self.ws.config.journal / path).unlink()
            self.notes = {key: note for key, note in self.notes.items() if note.path != path}

    def rebuild(self) -> None:
        rebuild(self.ws, fresh=self.choose.random() < 0.5)

    def killed(self) -> None:
        """Another process is killed while it saves: its entry is there, or not."""
        text, at = self.text(), NOW.replace(hour=8) - timedelta(minutes=self.count)
        if sys.platform == "win32":
            raise NotImplementedError
        child = os.fork()
        if child == 0:
            threading.Timer(
                self.choose.random() * 0.02, os.kill, (os.getpid(), signal.SIGKILL)
            ).start()
            with open_home(self.ws.config.home) as ws:
                save(ws, text, at=at)
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        for entry in entries(self.ws):
            if entry.content == text and entry.place:
                self.notes[entry.id] = Note(text, "note", frozenset(), at, entry.place.path)

    # -- answers
    # ----------------------------------------------------------------------------------

    def check_lists(self) -> None:
        """`find`, `recent` and `get` say what the model says."""
        found = entries(self.ws)
        said = {entry.content if entry.derived_id else entry.id: entry for entry in found}
        check(len(said) == len(found), "find lists an entry twice")
        check(
            said.keys() == self.notes.keys(),
            f"find lacks {self.notes.keys() - said.keys()}, adds "
            f"{said.keys() - self.notes.keys()}",
        )
        for key, note in self.notes.items():
            entry = said[key]
            assert entry.place
            now = Note(
                entry.content, entry.type, frozenset(entry.tags), entry.at, entry.place.path
            )
            check(now == note, f"An entry is {now}, not {note}")
        moments = [entry.at for entry in recent(self.ws, limit=10).entries]
        check(
            moments == sorted((note.at for note in self.notes.values()), reverse=True)[:10],
            "recent is out of order",
        )
        if found:
            one = self.choose.choice(found)
            check(
                get(self.ws, [one.id]).entries[0].content == one.content,
                "get says something else than find",
            )

    def check_searches(self, fresh: Workspace) -> int:
        """How many searches were compared with the model and with an index made anew."""
        for _ in range(SEARCHES):
            word = self.choose.choice(
                (*WORDS, f"unique{self.choose.randrange(self.count + 1)}word")
            )
            tag = self.choose.choice((None, None, *TAGS))
            filters = Filters(tags=(tag,)) if tag else None
            hits = search(self.ws, word, strategy="lexical", filters=filters, limit=100).hits
            found = {hit.entry.content for hit in hits}
            notes = self.notes.values()
            wanted = {
                n.content
                for n in notes
                if word in n.content.replace(".", " ").split() and (not tag or tag in n.tags)
            }
            allowed = {
                n.content for n in notes if not tag or tag in n.tags
            }  # a neighbour's word may find an entry
            check(wanted <= found, f"A search for {word!r} does not find {wanted - found}")
            check(found <= allowed, f"A search for {word!r} finds {found - allowed}")
            query, way = f"{word} {self.choose.choice(WORDS)}", self.choose.choice(SOURCES)
            mine, other = (_scores(ws, query, way, filters) for ws in (self.ws, fresh))
            unlike = [
                (id, mine.get(id), other.get(id))
                for id in mine | other
                if mine.get(id) != other.get(id)
            ]
            check(
                not unlike, f"An index made anew answers {query!r} ({way}) otherwise: {unlike}"
            )
        return 2 * SEARCHES


def _scores(
    ws: Workspace, query: str, way: str, filters: Filters | None
) -> dict[str, tuple[object, ...]]:
    """What each hit says and how near it is to the query; ranks may differ, for equal hits have
    no order.
    """
    hits = search(ws, query, strategy=way, filters=filters, limit=100, explain=True).hits
    signals = {hit.entry.id: hit.why.signals for hit in hits if hit.why}
    return {
        hit.entry.id: (
            hit.entry.content,
            *(round(signals[hit.entry.id][n] or 0.0, 6) for n in (0, 1)),
        )
        for hit in hits
    }


def trial(_: int, choose: random.Random, folder: Path) -> int:
    """One user's steps; the number of searches that were compared."""
    checked = 0
    with open_home(folder / "home", clock=lambda: NOW) as ws:
        model = Model(ws, choose)
        steps: list[str] = []
        for _ in range(STEPS):
            try:
                steps.append(model.step())
                model.check_lists()
                second = folder / "fresh"
                shutil.rmtree(second, ignore_errors=True)
                config = Config(home=second, journal=ws.config.journal, project="soak")
                with open_workspace(
                    config, embedder=HashingEmbedder(), clock=lambda: NOW
                ) as fresh:
                    rebuild(fresh)
                    embed_pending(ws, budget_s=None)
                    checked += model.check_searches(fresh)
            except Exception as error:
                error.args = (f"{error} [after {', '.join(steps[-4:])}]",)
                raise
    return checked


if __name__ == "__main__":
    os.environ["XDG_STATE_HOME"] = os.devnull  # homes that share a journal are not to be noted
    sys.exit(attack(trial, trials=49_187, unit="searches"))
