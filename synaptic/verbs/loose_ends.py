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
| within a comment, `%% [[Ely]] %%`, or a formula, `$[[1,2]]$`  | not ours to judge |
| `[[Ely#Then]]`, `[[Ely#^k1]]` to a note without this part     | a missing heading |
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from urllib.parse import unquote

from ..filters import Filters
from ..journal.file_moves import former_paths
from ..journal.folder import is_logseq_graph
from ..journal.shelf import files_by_name, is_attachment
from ..journal.trash import TrashedText
from ..models import Entry, Link, frozen
from ..notes.blocks import without_code_and_comments
from ..notes.headings import blank_unshown, find_link_parts, leads_to_part
from ..notes.link_places import (
    Form,
    LinkTargets,
    WrittenLink,
    find_written_links,
    read_note_text,
)
from ..notes.marks import link_key, link_keys_of_entry, name_in_link, names_attachment
from ..workspace.readback import read_body_lines
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .link_ends import Ends
from .linked import names_of_target, unresolved_links

_ID = re.compile(r"[0-9]{8}-[0-9a-z]{8}")
_NOT_OURS = re.compile(r"[/~#]|[\w-]+(?:\.[\w-]+)+/|[a-zA-Z][\w+.-]*:|[^{}<>$*|]*[{}<>$*|]")
"""Matches targets from a root, of a host, with a scheme, and with a sign of placeholders."""
_NO_NAME = re.compile(r"[{}]|(?<!\w)\$\w|^(?::|<[^<>]*>)")
"""Matches the name in a wikilink that is a placeholder or code, as `$file` and `:space:`."""


@frozen
class LooseEnds:
    """The links that lead nowhere, by path and line: the broken ones, those to missing `files`
    beside notes, those to missing `headings` and blocks of notes, and those to notes that are
    not written yet.
    """

    links: tuple[Link, ...] = ()
    files: tuple[Link, ...] = ()
    headings: tuple[Link, ...] = ()
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
    files, headings = _missing_ends_in_texts(ws, folders)
    return LooseEnds(tuple(broken), tuple(files), tuple(headings), tuple(unwritten))


def _leads_nowhere(link: Link, form: Form, folders: _Folders) -> bool:
    """True if a link to no entry leads to no other file either, as far as that can be told."""
    name = name_in_link(link.text)
    if form == "markdown" and not folders.may_judge(form, name, link.path):
        return False
    if name.startswith("^") or _names_file(name):  # told by others
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


def _missing_ends_in_texts(ws: Workspace, folders: _Folders) -> tuple[list[Link], list[Link]]:
    """The links in texts to files that are no notes, and that are not there; those to headings
    and blocks that their notes do not have.
    """

    def run(_: object) -> tuple[list[Link], list[Link]]:
        rows = ws.index.list_rows(Filters(include_superseded=True), order="oldest", limit=-1)
        files: dict[Link, None] = {}
        parts: dict[Link, Sequence[str]] = {}
        for entry, text in read_body_lines(ws, rows).values():
            for written, link in _written_in(entry, text):
                if _leads_to_no_file(written, link, folders):
                    files[link] = None
                elif "#" in link.text and not folders.is_in_graph(link.path):
                    parts |= _names_of_linked_note(ws, written, link)
        named = ws.index.entries_by_name_key(
            {link_key(name_in_link(link.text)) for link in files}
        )
        missing = [link for link in files if link_key(name_in_link(link.text)) not in named]
        by_place = attrgetter("path", "line")
        return sorted(missing, key=by_place), sorted(_without_part(ws, parts), key=by_place)

    return in_step(ws, run)


def _written_in(entry: Entry, text: str) -> Iterator[tuple[WrittenLink, Link]]:
    """Yields the links in the body of an entry, each as it is written, and with its place."""
    if "[[" in text or "](" in text:
        plain = blank_unshown(without_code_and_comments(text))
        for link in find_written_links(plain):
            line = entry.there.body_line + plain.count("\n", 0, link.start)
            target = link.target
            written = text[link.start : link.end]
            if link.form == "wiki" and "`" in written:  # a heading may hold code
                target = written.lstrip("!").strip("[]").partition("|")[0].strip()
            yield link, Link(target, entry.path, line)


def _leads_to_no_file(written: WrittenLink, link: Link, folders: _Folders) -> bool:
    """True if a link names a file that is no note, and that is not there."""
    target = name_in_link(link.text)
    form = written.form
    if not _names_file(target) or not folders.may_judge(form, target, link.path):
        return False
    if form == "wiki" and not written.embeds and folders.is_in_graph(link.path):
        return False
    return not folders.holds(form, target, link.path)


def _names_of_linked_note(
    ws: Workspace, written: WrittenLink, link: Link
) -> dict[Link, Sequence[str]]:
    """The link with the names that its note may have, [] for its own note; {} for a link whose
    heading cannot be judged, as that of a page of the web.
    """
    name = name_in_link(link.text)
    if name and (
        _names_file(name)
        or _NO_NAME.search(name)
        or (written.form == "markdown" and not unquote(name).endswith(".md"))
    ):
        return {}
    folder = ws.journal.link_folder_of(link.path)
    return {link: names_of_target(link.text, folder) if name else []}


def _without_part(ws: Workspace, links: Mapping[Link, Sequence[str]]) -> Iterator[Link]:
    """Yields the links to a note, of these names, that has no such heading or block."""
    ends = Ends(ws, links.values())
    rows = {link: ends.find(names, link.path) for link, names in links.items()}
    entries = ws.index.entries(list({*chain.from_iterable(rows.values())}))
    parts: dict[str, set[str]] = {}
    for link, names in links.items():
        paths = {entries[row].entry.path for row in rows[link]} if names else {link.path}
        if names and ends.find([link.text], link.path):  # `C#` is its name
            continue
        for path, data in ws.journal.read_all(paths - parts.keys()).items():
            titles = [entry.title for entry in ws.journal.parse(path, data).entries]
            parts[path] = find_link_parts(read_note_text(data).raw, titles)
        in_files = [parts[path] for path in paths if path in parts]
        part = unquote(link.text.partition("#")[2])
        if in_files and not any(leads_to_part(part, here) for here in in_files):
            yield link
