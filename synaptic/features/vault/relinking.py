"""Plans how links follow notes that move: each link that led to a note still leads to it, and
each other link where it led before.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from ...errors import NotFound, Sentence
from ...journal.folder import is_logseq_graph, is_note
from ...notes.blocks import LONE_CR, MASK
from ...notes.link_names import name_key
from ...notes.link_places import (
    LinkPlace,
    LinkTargets,
    NoteText,
    Splice,
    byte_offsets,
    find_link_places,
    find_titles,
    how_written,
    page_key,
    page_of_path,
    read_note_text,
)
from ...notes.marks import link_key
from ...notes.privacy import mask_private
from ...workspace.many_edits import (
    IN_CODE,
    IN_SOURCE,
    Changes,
    EditPlan,
    Notes,
    StayingLine,
    line_numbers,
    plan_edits,
)
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace

_WORD = re.compile(r"\w+")
_SWITCHED_OFF = re.compile(r"(?im)^synaptic:[ \t]*[\"']?(?:false|no|off)\b")


class Pages:
    """The names of the pages of a graph of Logseq, by their files; none of another folder."""

    def __init__(self, ws: Workspace, paths: Iterable[str]) -> None:
        self.in_graph = is_logseq_graph(ws.journal.root)
        self.names: dict[str, str] = {}
        for path in paths if self.in_graph else ():
            if path.startswith("pages/"):
                self.names[path] = page_of_path(path)
                with suppress(NotFound):
                    titles = find_titles(read_note_text(ws.journal.read(path)))
                    for title in titles[:1]:
                        self.names[path] = title.target


def list_files(ws: Workspace) -> set[str]:
    """The paths of all files of the journal's own folder, also of pictures; no hidden ones."""
    root = ws.journal.root
    paths = set()
    for folder, folders, names in os.walk(root):
        within = Path(folder).relative_to(root).as_posix()
        prefix = "" if within == "." else f"{within}/"
        folders[:] = [name for name in folders if name[0] != "."]
        folders[:] = [name for name in folders if prefix + name not in ws.journal.roots.apart]
        paths |= {prefix + name for name in names if name[0] != "."}
    return paths


class LinkMoves:
    """Notes that get other paths (`moves`) and other names of pages in a graph of Logseq
    (`pages`, by the old paths).
    """

    def __init__(
        self, ws: Workspace, moves: Mapping[str, str], pages: Mapping[str, str] | None = None
    ) -> None:
        self._ws = ws
        self._moves = moves
        self._back = back = {new_path: old_path for old_path, new_path in moves.items()}
        now = list_files(ws)
        self._files = now
        self._is_done = not (moves.keys() & now)
        before = {back.get(path, path) for path in now} if self._is_done else now
        after = {moves.get(path, path) for path in before}
        names = Pages(ws, sorted(path for path in now if is_note(path)))
        self._in_graph = names.in_graph
        old_pages = {back.get(path, path) for path in names.names} if self._is_done else ()
        pages_before = dict(names.names)
        if self._is_done:
            pages_before = {back.get(path, path): page for path, page in names.names.items()}
            for old_path in old_pages & moves.keys():
                pages_before[old_path] = page_of_path(old_path)
        named = pages or {}
        pages_after = {
            moves.get(path, path): named.get(path, page) for path, page in pages_before.items()
        }
        self.before = LinkTargets(before, pages_before)
        self.after = LinkTargets(after, pages_after)
        self._needles = _by_rarest_word(self._words_of_names())
        self._notes = Notes(ws)
        self._stays: list[StayingLine] = []

    def _words_of_names(self) -> set[str]:
        """The last step of each old and new name, by which files are chosen that may hold a
        link to it.
        """
        words = set()
        for path in (*self._moves, *self._moves.values()):
            words.add(name_key(posixpath.splitext(posixpath.basename(path))[0]))
        for targets, paths in ((self.before, self._moves), (self.after, self._moves.values())):
            for path in paths:
                page = targets.pages.get(path)
                if page:
                    words.add(page_key(page).rpartition("/")[2])
        return words - {""}

    def plan(self, kind: str, *, confirms: bool, only: Sequence[str] | None = None) -> EditPlan:
        """The plan of all edits, in the files `only` if given. Raises Refused where a
        preference in force would change, and nobody confirms it.
        """
        splices = {}
        for path in self._notes.paths if only is None else only:
            pieces = self._find_splices(path)
            if pieces:
                splices[path] = pieces
        if only is None:
            self._report_other_files()
        moves = {} if self._is_done else self._moves
        changes = Changes(kind, splices, moves)
        plan = plan_edits(self._ws, self._notes, changes, self._stays, confirms=confirms)
        return replace(plan, again=partial(self._plan_again, kind, confirms))

    def _plan_again(self, kind: str, confirms: bool, path: str) -> EditPlan:
        """The plan of the edits of one file, after the notes moved."""
        self._is_done = True
        self._notes = Notes(self._ws)
        self._stays = []
        return self.plan(kind, confirms=confirms, only=[path])

    def _path_before(self, path: str) -> str:
        """The path that a file had before the notes moved."""
        return self._back.get(path, path) if self._is_done else path

    def _may_name(self, data: bytes) -> bool:
        """True if a text may hold a link that changes."""
        if b"[" not in data and not self._in_graph:
            return False
        text = data.decode("utf-8", "surrogateescape")
        text = name_key(unquote(text, errors="surrogateescape") if "%" in text else text)
        text = text.replace("___", "/")
        keys = {"", *_WORD.findall(text)} & self._needles.keys()
        return any(name in text for key in keys for name in self._needles[key])

    def _find_splices(self, path: str) -> list[Splice]:
        """The changes of one file, apart from the ids in it; notes what stays."""
        if not is_note(path):
            return []
        data = self._notes.read(path)
        is_moved = self._path_before(path) in self._moves
        if not (is_moved or self._may_name(data)):
            return []
        text = read_note_text(data)
        if not self._notes.is_own(path):
            self._report_source(path, text)
            return []
        if text.body and _SWITCHED_OFF.search(text.raw, 0, text.body):
            if not is_moved:
                self._report_links(path, text, "`synaptic: false`: the note is left out")
            return []
        self._report_unread(path, data, text)
        return self._splices(path, text)

    def _changes(
        self, path: str, links: Sequence[LinkPlace]
    ) -> Iterator[tuple[LinkPlace, str]]:
        """Yields each of these links of a file that has to change, with its new target."""
        source = self._path_before(path)
        there = self._moves.get(source, source)
        named = self._named_by_entries([link.target for link in links if link.behind])
        for link in links:
            old_path = self.before.resolve(link.form, link.target, source)
            if old_path is None and link.behind:
                if link_key(link.target) in named:
                    continue
                link = link.behind
                old_path = self.before.resolve("wiki", link.target, source)
            if old_path is None:
                continue
            wanted = self._moves.get(old_path, old_path)
            leads_there = self.after.resolve(link.form, link.target, there) == wanted
            if link.form == "markdown" and self.before.find_beside(link.target, source):
                leads_there = self.after.find_beside(link.target, there) == wanted
            if leads_there:
                continue
            written = how_written(link, old_path, source, self.before)
            yield link, self.after.write_target(link, wanted, there, written)

    def _named_by_entries(self, targets: Sequence[str]) -> Collection[int]:
        """The keys of these targets that are names of entries: a link leads to such an entry,
        and not to the name behind its bar.
        """
        if not targets:
            return ()
        keys = set(map(link_key, targets))
        return in_step(self._ws, lambda _: self._ws.index.entries_by_name_key(keys))

    def _splices(self, path: str, text: NoteText) -> list[Splice]:
        links = find_link_places(text.plain, in_graph=self._in_graph)
        changes = list(self._changes(path, links))
        source = self._path_before(path)
        if self._in_graph and source in self._moves:
            page = self.before.pages.get(source, "")
            new = self.after.pages.get(self._moves[source], "")
            titles = [title for title in find_titles(text) if title.target != new]
            own = [title for title in titles if page_key(title.target) == page_key(page)]
            changes += [(title, new) for title in own]
        offsets = byte_offsets(text.raw, [link.start for link, _ in changes])
        splices = []
        for link, target in changes:
            if link.start < text.body and _is_single_quoted(text.raw, link.start):
                target = target.replace("'", "''")
            written = text.raw[link.start : link.end]
            splices.append(Splice(offsets[link.start], written, target))
        return splices

    # -- what stays

    def _stay(self, path: str, line: int, why: str) -> None:
        self._stays.append(StayingLine(path, line, why))

    def _report_unread(self, path: str, data: bytes, text: NoteText) -> None:
        """Notes the links of a file that stand in private passages, in code and in comments,
        and will break.
        """
        whole = LONE_CR.sub("\n", data.decode("utf-8", "surrogateescape"))
        if whole == text.plain:  # it has none of these
            return
        masked = mask_private(data)
        links = find_link_places(whole)
        active = find_link_places(text.plain)
        read = set(byte_offsets(text.raw, [link.start for link in active]).values())
        offsets = byte_offsets(whole, [link.start for link in links])
        others = [link for link in links if offsets[link.start] not in read]
        for link, _ in self._changes(path, others):
            at = offsets[link.start]
            is_private = masked[at : at + 1] == MASK
            why = Sentence("in a private passage") if is_private else IN_CODE
            self._stay(path, line_numbers(data, [at])[0], why)

    def _report_links(self, path: str, text: NoteText, why: str) -> None:
        """Notes the links of a file that is not changed, and that will break."""
        for link, _ in self._changes(path, find_link_places(text.plain)):
            self._stay(path, text.raw.count("\n", 0, link.start) + 1, why)

    def _report_other_files(self) -> None:
        """Notes the links that will break in notes that `exclude` leaves out, and in canvases
        of Obsidian.
        """
        for path in sorted(self._files - set(self._notes.paths)):
            if not is_note(path) and not path.endswith(".canvas"):
                continue
            data = b""
            with suppress(OSError):
                data = self._ws.journal.place(path).read_bytes()
            if is_note(path) and self._may_name(data):
                why = Sentence("in a note that `exclude` leaves out")
                self._report_links(path, read_note_text(data), why)
            for old_path in self._moves if not is_note(path) else ():
                at = data.find(json.dumps(old_path, ensure_ascii=False).encode())
                if at >= 0:
                    self._stay(path, line_numbers(data, [at])[0], Sentence("in a canvas"))

    def _report_source(self, path: str, text: NoteText) -> None:
        """Notes the links of a source, which is only read, that will break."""
        old_keys: set[int] = set()
        new_keys: set[int] = set()
        for before, after in self._moves.items():
            for keys, name in ((old_keys, before), (new_keys, after)):
                parts = posixpath.splitext(name)[0].split("/")
                keys.update(link_key("/".join(parts[start:])) for start in range(len(parts)))
        for link in find_link_places(text.plain):
            key = link_key(unquote(link.target))
            if key in old_keys - new_keys and self._paths_called(key) <= self._moves.keys():
                line = text.raw.count("\n", 0, link.start) + 1
                self._stay(path, line, IN_SOURCE)

    def _paths_called(self, key: int) -> set[str]:
        """The paths of the notes of which this is the key of a name."""

        def run(_: object) -> set[str]:
            rows = self._ws.index.entries_by_name_key([key]).get(key, [])
            return {one.entry.path for one in self._ws.index.entries(rows).values()}

        return in_step(self._ws, run)


def _by_rarest_word(names: Collection[str]) -> dict[str, list[str]]:
    """These names by that of their words which the fewest of them have; "" for no word. A text
    that holds a name as a link does holds its words.
    """
    words = {name: set(_WORD.findall(name)) for name in names}
    counts = Counter(chain.from_iterable(words.values()))
    by_word: dict[str, list[str]] = {}
    for name in sorted(names):
        rarest = min(sorted(words[name]), key=lambda word: counts[word], default="")
        by_word.setdefault(rarest, []).append(name)
    return by_word


def _is_single_quoted(text: str, at: int) -> bool:
    """True if this offset stands in single quotes of YAML, in its line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    quotes = re.sub(r'"[^"]*"', "", line).replace("''", "")
    return quotes.count("'") % 2 == 1 and '"' not in quotes.partition("'")[0]
