"""Says of each link that leads to no note whether it is broken, or its note is not written yet.

| a link that leads nowhere                                     | is                |
|---------------------------------------------------------------|-------------------|
| `[[Ely]]`, which had a note that was moved, deleted, retitled | broken            |
| `[[people/Ely]]`, while one note `Ely` stands elsewhere       | broken            |
| `[Ely](people/Ely.md)`, also as a wikilink with its ending    | broken            |
| `[[Ely.md]]` in a graph of Logseq, where it names a page      | not written yet   |
| `[[list.csv]]` there, which names a page, too                 | not ours to judge |
| `[[Ely]]`, `![[Ely]]` otherwise, also with a folder           | not written yet   |
| `![[gel.png]]`, `![](img/gel.png)`, `[list](list.csv)`        | a missing file    |
| any of them to a file that is there, but is no note           | in order          |
| out of the folder, from its root, of a host                   | not ours to judge |
| a placeholder, or code: `[[<name>]]`, `[[ "$x" = 1 ]]`        | not ours to judge |
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from itertools import chain
from operator import attrgetter
from urllib.parse import unquote

from ..filters import Filters
from ..journal.folder import is_logseq_graph
from ..journal.moves import former_paths
from ..journal.shelf import files_by_name, is_attachment
from ..journal.trash import TrashedText
from ..models import Entry, Link, frozen
from ..notes.blocks import without_code_and_comments
from ..notes.link_places import Form, LinkTargets, find_written_links
from ..notes.marks import link_key, link_keys_of_entry, name_in_link, names_attachment
from ..workspace.readback import read_body_lines
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .linked import unresolved_links

_ID = re.compile(r"[0-9]{8}-[0-9a-z]{8}")
_NOT_OURS = re.compile(r"[/~#]|[\w-]+(?:\.[\w-]+)+/|[a-zA-Z][\w+.-]*:|[^{}<>$*|]*[{}<>$*|]")
"""Matches targets from a root, of a host, with a scheme, and with a sign of placeholders."""
_NO_NAME = re.compile(r"[{}]|(?<!\w)\$\w|^(?::|<[^<>]*>)")
"""Matches the name in a wikilink that is a placeholder or code, as `$file` and `:space:`."""


@frozen
class LooseEnds:
    """The links that lead nowhere, by path and line: the broken ones, those to missing `files`
    beside notes, and those to notes that are not written yet.
    """

    links: tuple[Link, ...] = ()
    files: tuple[Link, ...] = ()
    unwritten: tuple[Link, ...] = ()


def find_loose_ends(ws: Workspace) -> LooseEnds:
    """The links of the journal and its sources that lead nowhere."""
    folders = _Folders(ws)
    forms = [(link, folders.form_of(link)) for link in unresolved_links(ws)]
    forms = [(link, form) for link, form in forms if _leads_nowhere(link, form, folders)]
    links = [link for link, _ in forms]
    former = _former_keys(ws, {link_key(name_in_link(link.text)) for link in links})
    former |= _keys_of_last_steps(ws, links)
    broken: list[Link] = []
    unwritten: list[Link] = []
    for link, form in forms:
        name = name_in_link(link.text)
        is_path = bool(_ID.fullmatch(name)) or form == "markdown"
        (broken if is_path or link_key(name) in former else unwritten).append(link)
    return LooseEnds(tuple(broken), tuple(_missing_files(ws, folders)), tuple(unwritten))


def _leads_nowhere(link: Link, form: Form, folders: _Folders) -> bool:
    """True if a link to no entry leads to no other file either, as far as that can be told."""
    name = name_in_link(link.text)
    if form == "markdown" and not folders.may_judge(form, name, link.path):
        return False
    if name.startswith("^") or _names_file(name):  # a block; or told by `_missing_files`
        return False
    if form == "wiki" and _NO_NAME.search(name):
        return False
    return not folders.holds(form, name, link.path)


def _names_file(target: str) -> bool:
    return names_attachment(target) or is_attachment(target)


def _former_keys(ws: Workspace, keys: Collection[int]) -> set[int]:
    """The keys of names that a note or an entry had here, and has no more."""
    former = set(chain.from_iterable(map(_keys_of_path, former_paths(ws.config.state))))
    for piece in ws.journal.trashed() if keys else ():
        is_file = piece.mode is not None
        candidates = {link_key(piece.title), *(_keys_of_path(piece.path) if is_file else ())}
        if not candidates.isdisjoint(keys):
            former |= _own_keys(ws, piece)
    return former


def _keys_of_path(path: str) -> set[int]:
    parts = path.split("/")
    return {link_key("/".join(parts[start:])) for start in range(len(parts))}


def _own_keys(ws: Workspace, piece: TrashedText) -> set[int]:
    """The keys of the names that the entry of a piece had; none of a section of a day."""
    is_file = piece.mode is not None
    keys: set[int] = set()
    for entry in ws.journal.parse(piece.path, piece.text, block=not is_file).entries[:1]:
        names = link_keys_of_entry(entry, "", of_file=is_file, first=False)
        keys.update(key for key, is_own in names.items() if is_own)
    return keys


def _keys_of_last_steps(ws: Workspace, links: Collection[Link]) -> set[int]:
    """The keys of names with a folder of which the last step is the name of one entry; none in
    a graph of Logseq, where the folder is a namespace.
    """
    if is_logseq_graph(ws.journal.root):
        return set()
    names = {name for link in links if "/" in (name := name_in_link(link.text))}
    last_keys = {name: link_key(posixpath.basename(name)) for name in names}
    entries = in_step(ws, lambda _: ws.index.entries_by_name_key(set(last_keys.values())))
    return {link_key(name) for name, key in last_keys.items() if len(entries.get(key, ())) == 1}


class _Folders:
    """The files of the journal and of its sources, also those that are no notes."""

    def __init__(self, ws: Workspace) -> None:
        self._journal = ws.journal
        self._roots = ws.journal.roots
        self._targets: dict[str, LinkTargets] = {}

    def form_of(self, link: Link) -> Form:
        """The form of a link to a note: that of a Markdown link where it names a path, also in
        a wikilink. In a graph of Logseq `[[tasks.md]]` names a page.
        """
        if not name_in_link(link.text).endswith(".md"):
            return "wiki"
        written = f"[[{link.text}".encode("utf-8", "surrogateescape")
        is_page = self.is_in_graph(link.path) and any(
            written in data for data in self._journal.read_all([link.path]).values()
        )
        return "wiki" if is_page else "markdown"

    def is_in_graph(self, path: str) -> bool:
        """True for a note in a graph of Logseq, where a wikilink names a page."""
        return is_logseq_graph(self._roots.split_path(path)[1])

    def may_judge(self, form: Form, target: str, path: str) -> bool:
        """True if the file that a link in the note at `path` names would stand in the folder of
        that note: not where it leads out, nor by name where the folder is a part of a vault.
        """
        if _NOT_OURS.match(target):
            return False
        root, folder, note = self._roots.split_path(path)
        if form == "markdown":
            return not _path_beside(note, target).startswith("../")
        is_part = any((parent / ".obsidian").is_dir() for parent in folder.parents)
        return not is_part and root not in self._roots.single

    def holds(self, form: Form, target: str, path: str) -> bool:
        """True if a link in the note at `path` leads to a file, perhaps a hidden one."""
        root, folder, note = self._roots.split_path(path)
        if root not in self._targets:
            is_single = root in self._roots.single
            names = {} if is_single else files_by_name(folder)
            self._targets[root] = LinkTargets(chain.from_iterable(names.values()))
        plain = target.replace("\\", "/")
        if self._targets[root].resolve(form, plain, note):
            return True
        beside = _path_beside(note, plain)
        return not beside.startswith("../") and (folder / beside).exists()


def _path_beside(note: str, target: str) -> str:
    plain = unquote(target).replace("\\", "/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(note), plain))


def _missing_files(ws: Workspace, folders: _Folders) -> list[Link]:
    """The links in texts to files that are no notes, and that are not there."""

    def run(_: object) -> list[Link]:
        rows = ws.index.list_rows(Filters(include_superseded=True), order="oldest", limit=-1)
        links: dict[Link, None] = {}
        for entry, text in read_body_lines(ws, rows).values():
            links |= dict.fromkeys(_links_to_files(entry, text, folders))
        named = ws.index.entries_by_name_key(
            {link_key(name_in_link(link.text)) for link in links}
        )
        missing = [link for link in links if link_key(name_in_link(link.text)) not in named]
        return sorted(missing, key=attrgetter("path", "line"))

    return in_step(ws, run)


def _links_to_files(entry: Entry, text: str, folders: _Folders) -> Iterator[Link]:
    """Yields the links in the body of an entry that name a file which is not there."""
    if "[[" not in text and "](" not in text:
        return
    plain = without_code_and_comments(text)
    for link in find_written_links(plain):
        target = name_in_link(link.target)
        if not _names_file(target) or not folders.may_judge(link.form, target, entry.path):
            continue
        if link.form == "wiki" and not link.embeds and folders.is_in_graph(entry.path):
            continue
        if not folders.holds(link.form, target, entry.path):
            line = entry.there.body_line + plain.count("\n", 0, link.start)
            yield Link(link.target, entry.path, line)
