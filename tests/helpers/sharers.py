"""Machines on which people change one journal at random, where no two changes of a round touch
each other: what then must stand in it after a sync is known word by word. With `disputes` they
also move, rename and delete the same things: then a rule decides, and each word that is kept
stands once.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

from homes import Clock, open_home
from hubs import git

from synaptic import delete, save, update
from synaptic.config import load_config
from synaptic.features.sharing.syncing import init_sync, sync
from synaptic.features.vault.renaming import plan_note_rename
from synaptic.features.vault.retagging import plan_tag_rename
from synaptic.workspace.many_edits import make_edits
from synaptic.workspace.workspace import Workspace

FIRST_DAY = date(2026, 11, 1)
STEMS = [
    a + b for a in "ba ke li mo nu ra se ti vo zu".split() for b in "dan fel gor hib".split()
]
_WORD = re.compile(r"w\d{5}x")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_ENTRIES = re.compile(r"(?m)^(?=## )")


def share_entry(
    folder: Path, text: str, at: str, notes: dict[str, str] | None = None
) -> tuple[Workspace, Workspace, str]:
    """Two machines with one entry and these notes, and the id of the entry."""
    git(folder, "init", "-q", "--bare", "-b", "main", "hub.git")
    desk, laptop = (open_home(folder / name) for name in ("desk", "laptop"))
    id = save(desk, text, at=at).id
    for name, content in (notes or {}).items():
        (desk.config.journal / name).write_text(content)
    for ws in (desk, laptop):
        init_sync(load_config(ws.config.home), str(folder / "hub.git"), lambda _: True)
    machines = [
        open_home(ws.config.home, sync=load_config(ws.config.home).sync)
        for ws in (desk, laptop)
    ]
    return machines[0], machines[1], id


class Sharers:
    """Machines with one journal, and the words that must stand in it: each once."""

    def __init__(
        self, folder: Path, choose: random.Random, machines: int, *, disputes: bool = False
    ) -> None:
        self.choose = choose
        self.disputes = disputes
        self.doubtful: set[str] = set()
        self.count = 0
        self.words: set[str] = set()
        self.days: dict[str, set[str]] = {}
        self.holders: dict[tuple[str, str], int] = {}
        self.done = Counter[str]()
        self.clock = Clock()
        git(folder, "init", "-q", "--bare", "-b", "main", "hub.git")
        self.machines = [
            open_home(folder / f"machine {number}", clock=self.clock)
            for number in range(machines)
        ]
        self.hub = str(folder / "hub.git")

    def begin(self, notes: int, entries: int) -> None:
        """Fills the journal of the first machine, and shares it."""
        ws = self.machines[0]
        names = [f"Person {number}" for number in range(notes)]
        for name in names:
            lines = [self.line(names) for _ in range(self.choose.randrange(3, 12))]
            text = f"---\ntags: [home]\n---\n# {self.word()}\n\n" + "\n".join(lines) + "\n"
            (ws.config.journal / f"{name}.md").write_text(text)
        for _ in range(entries):
            self.add_entry(0)
        for number, ws in enumerate(self.machines):
            home = ws.config.home
            init_sync(load_config(home), self.hub, lambda _: True)
            ws.close()  # it knows of no sync
            shared = open_home(home, clock=self.clock, sync=load_config(home).sync)
            self.machines[number] = shared
        self.holders.clear()

    def close(self) -> None:
        for ws in self.machines:
            ws.close()

    def word(self) -> str:
        self.count += 1
        word = f"w{self.count:05d}x"
        self.words.add(word)
        return word

    def line(self, names: Sequence[str] = ()) -> str:
        """A line with words by which it is known again when it was edited, as people write
        them.
        """
        link = f" with [[{self.choose.choice(names)}]]" if names else ""
        tag = self.choose.choice((" #town", ""))
        words = " ".join(self.choose.choices(STEMS, k=5))
        return f"- {words} {self.word()}{link}{tag}"

    def may(self, machine: int, *things: tuple[str, str]) -> bool:
        """True if no other machine changes these things in this round, which this one now
        does.
        """
        is_free = all(self.holders.get(thing, machine) == machine for thing in things)
        if is_free:
            self.holders |= dict.fromkeys(things, machine)
        return is_free

    # -- changes

    def change(self, machine: int) -> None:
        """One change on a machine."""
        kinds: dict[Callable[[int], bool], int] = {
            self.edit_line: 10,
            self.add_line: 6,
            self.drop_line: 3,
            self.append_line: 5,
            self.add_entry: 3,
            self.append_to_entry: 4,
            self.mark_entry: 3,
            self.move_entry: 3,
            self.drop_entry: 1,
            self.rename_note: 2,
            self.rename_tag: 1,
            self.turn_entries: 1,
        }
        self.clock.forward(seconds=7)
        change = self.choose.choices([*kinds], [*kinds.values()])[0]
        if change(machine):
            self.done[change.__name__] += 1

    def texts(self, machine: int) -> dict[Path, str]:
        journal = self.machines[machine].config.journal
        return {path: path.read_text() for path in sorted(journal.glob("*.md"))}

    def pick_line(self, machine: int) -> tuple[Path, str, list[str], int]:
        """A file, its text and lines, and the number of one with a word of its own."""
        texts = self.texts(machine)
        places = [(path, text) for path, text in texts.items() if "\n- " in text]
        path, text = self.choose.choice(places)
        lines = text.split("\n")
        return (
            path,
            text,
            lines,
            self.choose.choice([at for at, line in enumerate(lines) if line.startswith("- ")]),
        )

    def edit_line(self, machine: int) -> bool:
        path, text, _, at = self.pick_line(machine)
        [old] = _WORD.findall(text.split("\n")[at])
        if not self.may(machine, ("line", old)):
            return False
        new = self.word()
        self.words.discard(old)
        self.holders["line", new] = machine
        path.write_text(text.replace(old, new))
        return True

    def add_line(self, machine: int) -> bool:
        path, _, lines, at = self.pick_line(machine)
        [above] = _WORD.findall(lines[at])
        if not self.may(machine, ("below", above)):
            return False
        lines.insert(at + 1, self.line())
        path.write_text("\n".join(lines))
        return True

    def drop_line(self, machine: int) -> bool:
        path, _, lines, at = self.pick_line(machine)
        [old] = _WORD.findall(lines[at])
        if not self.may(machine, ("line", old)):
            return False
        self.words.discard(old)
        del lines[at]
        path.write_text("\n".join(lines))
        return True

    def append_line(self, machine: int) -> bool:
        """Below a note, where others may append, too."""
        notes = [path for path in self.texts(machine) if path.stem.startswith("Person")]
        path = self.choose.choice(notes)
        path.write_text(f"{path.read_text()}{self.line()}\n")
        return True

    def add_entry(self, machine: int) -> bool:
        ws = self.machines[machine]
        word = self.word()
        kind = self.choose.choice(("sentence", "list", "typed"))
        if kind == "typed":
            path = ws.config.journal / ws.journal.day_path(self.clock.now)
            with path.open("a") as file:
                file.write(f"\n## {self.clock.now:%H:%M:%S} Typed {word}\n\n{self.line()}\n")
            return True
        text = f"Saw {word}."
        if kind == "list":
            text = "\n".join(self.line() for _ in range(4))
        title = f"Title {word}" if kind == "list" else None
        id = save(ws, text, title=title, force=True).id
        self.days[id] = {f"{self.clock.now:%Y-%m-%d}"}
        return True

    def pick_entry(self, machine: int) -> tuple[str, str]:
        """An entry that the machine has, and its block."""
        blocks = [block for text in self.texts(machine).values() for block in _blocks(text)]
        block = self.choose.choice(blocks)
        return re.findall(r"(?m)^<!-- syn:(\S+)", block)[0], block

    def append_to_entry(self, machine: int) -> bool:
        """Below a list, where others may append, too; below a sentence that no other changes."""
        id, block = self.pick_entry(machine)
        if "\n- " in block or self.may(machine, ("sentence", id)):
            update(self.machines[machine], id, append=self.line())
            return True
        return False

    def mark_entry(self, machine: int) -> bool:
        id, _ = self.pick_entry(machine)
        if not self.may(machine, ("mark", id)):
            return False
        marks = self.choose.choice(
            (
                {"importance": 8},
                {"type": "insight"},
                {"due": "2026-12-01"},
                {"add_tags": ["new"]},
            )
        )
        update(self.machines[machine], id, **marks)
        return True

    def move_entry(self, machine: int) -> bool:
        id, _ = self.pick_entry(machine)
        is_own = self.may(machine, ("place", id))
        if not is_own and not self.disputes:
            return False
        day = f"{FIRST_DAY + timedelta(days=self.choose.randrange(20))}"
        update(self.machines[machine], id, at=day)
        is_alone = is_own and not self.disputes
        self.days[id] = {day} if is_alone else {*self.days[id], day}
        return True

    def drop_entry(self, machine: int) -> bool:
        id, block = self.pick_entry(machine)
        words = _WORD.findall(block)
        things = [(kind, word) for word in words for kind in ("line", "below")]
        things += [("sentence", id), ("place", id), ("mark", id)]
        is_own = self.may(machine, *things)
        if "\n- " in block or not (is_own or self.disputes):
            return False
        delete(self.machines[machine], id)
        if self.disputes:  # another machine may change it in this round
            self.doubtful |= {id, *words}
            return True
        self.words -= {*words}
        del self.days[id]
        return True

    def rename_note(self, machine: int) -> bool:
        """Renames a note, which writes the links to it anew in all files."""
        ws = self.machines[machine]
        notes = [path.stem for path in self.texts(machine) if path.stem.startswith("Person")]
        old = self.choose.choice(notes)
        if not self.may(machine, ("name", old)) and not self.disputes:
            return False
        self.count += 1
        new = f"Person of {self.count}"
        self.holders["name", new] = machine
        make_edits(ws, plan_note_rename(ws, f"{old}.md", new, confirms=True))
        return True

    def rename_tag(self, machine: int) -> bool:
        ws = self.machines[machine]
        if not self.may(machine, ("tag", "town")):
            return False
        tags = ("town", "city")
        has_old = any("#town" in text for text in self.texts(machine).values())
        make_edits(ws, plan_tag_rename(ws, *(tags if has_old else tags[::-1]), confirms=True))
        return True

    def turn_entries(self, machine: int) -> bool:
        """Puts the last entry of a day first."""
        texts = self.texts(machine)
        path = self.choose.choice([path for path in texts if path.stem[0].isdigit()])
        if not self.may(machine, ("order", path.name)):
            return False
        head, *blocks = _ENTRIES.split(texts[path])
        if len(blocks) > 1:
            parts = [head, blocks[-1].rstrip("\n") + "\n\n", *blocks[:-1]]
            path.write_text("".join(parts).rstrip("\n") + "\n")
        return True

    # -- a round

    @contextmanager
    def round(self) -> Iterator[None]:
        """Lets all machines change the journal while the block runs, and syncs them."""
        self.holders.clear()
        self.clock.forward(minutes=5)
        yield
        machines = [*self.machines]
        self.choose.shuffle(machines)
        for ws in [*machines, *machines[:-1]]:
            sync(load_config(ws.config.home))

    def sync(self, machine: int) -> None:
        sync(load_config(self.machines[machine].config.home))

    def faults(self) -> list[str]:
        """What is not as it must be in the journals of the machines; empty if all is well."""
        journals = [
            {path.name: text for path, text in self.texts(number).items()}
            for number in range(len(self.machines))
        ]
        faults = ["the journals differ"] if any(one != journals[0] for one in journals) else []
        text = "\n".join(journals[0].values())
        marks = text.count("\n<<<<<<< ")
        faults += [
            f"a false mark in {name}"
            for name, one in journals[0].items()
            for _ in range(one.count("<<<<<<< "))
        ]
        counts = Counter(_WORD.findall(text))
        kept = self.words - self.doubtful
        faults += [f"{word} is missing" for word in sorted(kept - {*counts})]
        if not marks:
            faults += [f"{word} is back" for word in sorted({*counts} - self.words)]
            faults += [f"{word} stands twice" for word, count in counts.items() if count > 1]
        for name, one in journals[0].items():
            for id in re.findall(r"(?m)^<!-- syn:(\S+)", one):
                if name[:-3] not in self.days.get(id, ()):
                    faults.append(f"{id} stands in {name}, not on {self.days.get(id)}")
        names = {name[:-3] for name in journals[0]}
        faults += [f"[[{name}]] leads nowhere" for name in {*_LINK.findall(text)} - names]
        ids = Counter(re.findall(r"(?m)^<!-- syn:(\S+)", text))
        faults += [f"{id} is missing" for id in self.days.keys() - ids - self.doubtful]
        for name, one in journals[0].items():
            days = re.findall(r"(?m)^<!-- syn:\S+ at=(\S{10})", one)
            faults += [f"{day} stands in {name}" for day in days if day != name[:-3]]
            if name[0].isdigit() and "\n## " not in one:
                faults.append(f"{name} is an empty day")
        self.days = {id: self.present_day(id, journals[0]) for id in ids}
        if self.disputes:
            self.words &= {*counts}
            self.doubtful.clear()
        return faults + [f"{id} stands twice" for id, count in ids.items() if count > 1]

    def present_day(self, id: str, files: dict[str, str]) -> set[str]:
        """The day on which an entry stands, from which the next round begins."""
        return {name[:-3] for name, text in files.items() if f"<!-- syn:{id} " in text}


def _blocks(text: str) -> list[str]:
    """The blocks of saved entries."""
    return [block for block in _ENTRIES.split(text) if "\n<!-- syn:" in block]
