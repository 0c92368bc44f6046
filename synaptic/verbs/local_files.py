"""Attaches files of this machine to the note that a person writes: those that they name, and
those to which the text links that they typed.

| a link in the text                                     | becomes                      |
|--------------------------------------------------------|------------------------------|
| `![[gel.png]]`, the file lies in the person's folder   | `![gel.png](attachments/…)`  |
| `![](./gel.png)`, `![the list](/home/ida/list.csv)`    | the same with the new target |
| one that leads to an attachment of the journal         | is left alone                |
| one in code or in a private passage; `https:`, `data:` | is left alone                |
| one to a file that is not there, or not to be attached | is left alone and named      |
| `[the list](list.csv)`, the file lies there            | the same                     |

Only a link that embeds, with its exclamation mark, takes its file along: a project's own files
are linked to, and stay where they are. Who may have which file copied by a link is a `Reach`.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, Unpack

from ..errors import InvalidArgument, NotFound, Refused, SynapticError
from ..files import open_regular_file, real_path
from ..journal.disk import explain_errno
from ..journal.folder import is_note
from ..journal.shelf import ServableFiles, files_by_name, find_file, is_attachment, spellings_of
from ..models import Receipt, Texts, frozen, short_id
from ..notes.blocks import blank_out, without_code_and_comments
from ..notes.link_places import WrittenLink, find_written_links
from ..notes.privacy import mask_private, private_spans
from ..notes.reading import composed_form
from ..notes.redaction import redact
from ..notes.screening import visible_secrets
from ..workspace.workspace import Workspace
from .attaching import (
    FILE_BYTES,
    NewFiles,
    add_link,
    clean_file,
    link_to_file,
    new_files,
    target_of_file,
)
from .changing import open_for_edit, update
from .entry_marks import find_stored
from .linked import link_targets
from .saving import Marks, save

Reach = Literal["anywhere", "below", "nowhere"]
"""The files that a link may have copied: any for a person who typed the text at a terminal;
those below the folder of the command, without hidden ones, where nobody can tell who wrote the
text, as in a pipe; none for an agent.
"""
MOST_NAMED = 8
"""The most files that a notice names."""
ONLY_A_PERSON = "stays where it is, for only a person attaches files"
_SIZE = re.compile(r"\d{1,4}(?:x\d{1,4})?")


@frozen
class LocalFiles:
    """The files that may be attached to a note: those that are `named`, and by `reach` those to
    which its text links, from `folder` on, in which the command runs.
    """

    folder: Path
    reach: Reach
    named: Sequence[Path] = ()


class Attached(NamedTuple):
    """The receipt of a note, and the paths in the journal of the files attached to it."""

    receipt: Receipt
    paths: Texts = ()


def save_with_files(
    ws: Workspace, content: str, local: LocalFiles, **marks: Unpack[Marks]
) -> Attached:
    """Saves an entry as `save` does, with the local files that it names or links to.

    A link to a file that cannot be attached stays, and a notice says why. Raises NotFound and
    InvalidArgument for a file that is `named`, Refused for an agent's, and the errors of
    `save`; then no file stays.
    """
    if not _concerns_files(content, local):
        return Attached(save(ws, content, **marks))
    with new_files(ws, reuses_same=True) as files:
        linking = _Linking(files, local, "")
        if not (content.strip() or marks.get("title")):
            marks["title"] = ", ".join(file.name for file in local.named)
        receipt = save(ws, linking.link_all(content), **marks)
    return linking.finish(receipt)


def update_with_files(
    ws: Workspace, id: str, local: LocalFiles, changes: Mapping[str, Any], **who: Any
) -> Attached:
    """Changes an entry as `update` does, with the local files that the new text names or links
    to. Without a new text the links of the entry that wait for the `named` files lead to them;
    links to the others are appended. Raises as `save_with_files`.
    """
    part = "content" if "content" in changes else "append"
    text = changes.get(part)
    if not _concerns_files(text or "", local):
        return Attached(update(ws, id, **who, **changes))
    path = find_stored(ws, id).entry.path
    if ws.journal.roots.split_path(path)[0]:
        if local.named:
            raise Refused(
                f"{path} is not in the journal, and files are attached to its notes only.",
                "Save a new entry with the file, and link to this one.",
            )
        return Attached(update(ws, id, **who, **changes))
    with new_files(ws, reuses_same=True) as files:
        linking = _Linking(files, local, path)
        if text is None:
            receipt = _attach_to_entry(ws, id, linking, changes, who)
        else:
            changes = {**changes, part: linking.link_all(text)}
            receipt = update(ws, id, **who, **changes)
    return linking.finish(receipt)


def _attach_to_entry(
    ws: Workspace, id: str, linking: "_Linking", changes: Mapping[str, Any], who: Any
) -> Receipt:
    """Changes an entry whose text stays but for its links to the named files."""
    entry, seen = open_for_edit(ws, id)
    filled = linking.link_named(entry.content)
    # whoever gives the whole text of a preference puts it into force
    is_rule = "preference" in (entry.type, changes.get("type"))
    if filled != entry.content and not is_rule and not entry.whole_file:
        text = linking.append_named(filled)
        with suppress(Refused):  # it holds private text, to which words are only added
            return update(ws, id, seen=seen, content=text, **who, **changes)
    links = linking.append_named("", again=True)
    return update(ws, id, append=links, **who, **changes)


def _concerns_files(text: str, local: LocalFiles) -> bool:
    return bool(local.named) or any(map(_may_lead_to_file, _links_in(text)))


def _links_in(text: str) -> list[WrittenLink]:
    """The links of a text outside of code, comments and private passages."""
    return find_written_links(without_code_and_comments(blank_private(text)))


def _may_lead_to_file(link: WrittenLink) -> bool:
    name = _name_in(link)
    has_ending = bool(PurePosixPath(name).suffix)
    return is_attachment(name) or (link.embeds and has_ending and not is_note(name))


def _name_in(link: WrittenLink) -> str:
    """The name of the file to which a link leads, without a part of it such as `#page=3`."""
    names = spellings_of(link.target)[::-1]
    with_ending = [name for name in names if PurePosixPath(name).suffix]
    return next(filter(is_attachment, names), (with_ending or names)[0])


class _Linking:
    """Attaches local files, and writes the links to them, from the note at a path of the
    journal, or else from the journal's folder.
    """

    def __init__(self, files: NewFiles, local: LocalFiles, note: str) -> None:
        self._files = files
        self._ws = files.ws
        self._local = local
        self._note = note
        self._shelf = ServableFiles(self._ws.journal.roots, closed=(self._ws.config.home,))
        self._listing = cache(files_by_name)
        self._stored: dict[Path, str] = {}
        self._linked: set[Path] = set()
        """The named files to which a link leads."""
        self._left: dict[str, None] = {}
        """Why links were left as they are."""
        self._linked_beside: dict[str, None] = {}
        """The local files to which links lead that do not embed."""
        self._missing: dict[str, str] = {}
        """The targets of links to files that are not there, with the names of the files."""
        if local.named and local.reach == "nowhere":
            raise Refused(
                "Only a person attaches files, and this is an agent's shell.",
                "Save the text alone, and name the file: a person attaches it by `synaptic "
                "update ID --attach FILE`.",
            )

    def link_all(self, text: str) -> str:
        """The text with each link that leads to a local file leading to its copy, and with
        links to the named files that it did not link to.
        """
        return self.append_named(self._relink(text, self._attach_target))

    def link_named(self, text: str) -> str:
        """The text with its links that lead nowhere leading to the named files of their
        names.
        """
        return self._relink(text, self._attach_named_target)

    def append_named(self, text: str, *, again: bool = False) -> str:
        """The text with links to the named files; without `again` only to those to which no
        link leads yet.
        """
        for file in dict.fromkeys(self._local.named):
            if again or file not in self._linked:
                target = target_of_file(self._attach_named(file), self._note)
                text = add_link(text, link_to_file(file.name, target))
        return text

    def finish(self, receipt: Receipt) -> Attached:
        """The result, with notices about files that were attached, or were not."""
        notices = [*receipt.notices, *self._files.remarks]
        reasons = [*self._left, *self._reasons_of_missing()]
        if reasons:
            more = len(reasons) - MOST_NAMED
            sentence = "; ".join(reasons[:MOST_NAMED])
            sentence = redact(sentence, visible_secrets(sentence))
            sentence += f"; and {more} more" if more > 0 else ""
            is_only_one = len(reasons) == len(self._linked_beside) == 1
            file, what = "FILE", "a file"
            if is_only_one and not visible_secrets(*self._linked_beside):
                file, what = shlex.quote(*self._linked_beside), "it"
            command = f"synaptic update {short_id(receipt.id)} --attach {file}"
            notices.append(f"Not attached: {sentence}. `{command}` attaches {what}.")
        receipt = replace(receipt, notices=tuple(notices))
        return Attached(receipt, tuple(self._files.paths))

    def _relink(self, text: str, attach: Callable[[WrittenLink], str]) -> str:
        """The text with each link for which `attach` returns a target leading there."""
        new = ""
        at = 0
        for link in _links_in(text):
            target = attach(link) if link.start >= at else ""
            if target:
                new += text[at : link.start] + _with_target(link, target)
                at = link.end
        return new + text[at:]

    def _attach_target(self, link: WrittenLink) -> str:
        """The target for a link after the file to which it leads was attached; "" for a link
        that stays as it is.
        """
        file = self._find_named(link)
        if file:
            return self._target(link, self._attach_named(file))
        if not _may_lead_to_file(link):
            return ""
        path = self._find_local(link)
        is_there = path is not None and path.is_file() and self._may_read(path)
        if not (link.embeds or is_there):
            return ""
        inside = self._find_in_journal(link)
        if not link.embeds:
            if not inside:
                self._linked_beside[_name_in(link)] = None
                self._leave(f"`{_name_in(link)}`, to which the text only links")
            return ""
        if inside:
            if path and self._may_read(path) and not self._is_same(inside, path):
                self._leave(f"`{link.target}` leads to {inside} of the journal, not to {path}")
            return ""
        if path is None:
            if is_attachment(_name_in(link)):
                self._missing[link.target] = _name_in(link)
            return ""
        return self._target(link, self._attach_linked(link, path))

    def _attach_named_target(self, link: WrittenLink) -> str:
        file = self._find_named(link)
        if not file or self._find_in_journal(link):
            return ""
        return self._target(link, self._attach_named(file))

    def _target(self, link: WrittenLink, path: str) -> str:
        """The target that leads to a file of the journal, with the part of it that the link
        names, such as `#page=3`; "" for no path.
        """
        if not path:
            return ""
        name, sign, part = link.target.partition("#")
        return target_of_file(path, self._note, sign + part if is_attachment(name) else "")

    def _find_named(self, link: WrittenLink) -> Path | None:
        """The named file of the name to which a link leads; one without a link first."""
        if not (link.embeds or PurePosixPath(_name_in(link)).suffix):
            return None  # a link to a note
        names = {composed_form(PurePosixPath(name).name) for name in spellings_of(link.target)}
        fitting = [one for one in self._local.named if composed_form(one.name) in names]
        fitting.sort(key=self._linked.__contains__)
        return fitting[0] if fitting else None

    def _find_local(self, link: WrittenLink) -> Path | None:
        """The file of this machine, or what else stands there, to which a link leads; for a
        link that may embed a note, only a file.
        """
        for name in spellings_of(link.target):
            path = self._local.folder / name
            if self._local.reach == "anywhere":
                path = self._local.folder / _in_own_folder(name)
            path = _as_spelled_on_disk(path)
            if os.path.lexists(path) and (is_attachment(name) or path.is_file()):
                return path
        return None

    def _find_in_journal(self, link: WrittenLink) -> str:
        """The path of the attachment in the journal to which a link leads, or ""."""
        file = find_file(self._shelf, link.target, self._note, self._listing)
        if not file:
            return ""
        file[2].close()
        return file[0]

    def _is_same(self, inside: str, path: Path) -> bool:
        """True if a file of the journal is this local file, or may be a copy of it."""
        stored = self._ws.journal.place(inside)
        with suppress(OSError, SynapticError):
            if not path.is_file() or stored.samefile(path):
                return True
            data = _read(path, path.name)
            return stored.read_bytes() in (data, clean_file(path.name, data).data)
        return True

    def _leave(self, reason: str) -> None:
        self._left[reason.rstrip(".")] = None

    def _reasons_of_missing(self) -> list[str]:
        """A reason for each link whose file is not there, but for links to notes."""
        notes: Mapping[str, object] = {}
        if self._missing:
            with suppress(SynapticError):
                notes = link_targets(self._ws, list(self._missing), self._note)
        why = f"was not found in {self._local.folder}"
        if self._local.reach == "nowhere":
            why = ONLY_A_PERSON
        names = {name: None for target, name in self._missing.items() if target not in notes}
        return [f"`{name}` {why}" for name in names]

    def _attach_linked(self, link: WrittenLink, path: Path) -> str:
        """The path in the journal of a file to which a link leads; "" if it is not attached."""
        name = _name_in(link)
        if self._local.reach == "nowhere":
            self._leave(f"`{name}` {ONLY_A_PERSON}")
            return ""
        if not self._may_read(path):
            self._leave(
                f"`{name}` is not below {self._local.folder}, and only a person who types at a "
                "terminal has any other file copied by a link"
            )
            return ""
        try:
            return self._attach(path)
        except (InvalidArgument, Refused) as error:
            self._leave(error.message)
            return ""

    def _may_read(self, path: Path) -> bool:
        """True if a link may have this file copied."""
        if self._local.reach != "below":
            return self._local.reach == "anywhere"
        folder = real_path(self._local.folder)
        real = real_path(path)
        if not real.is_relative_to(folder):
            return False
        return not any(step.startswith(".") for step in real.relative_to(folder).parts)

    def _attach_named(self, file: Path) -> str:
        path = self._local.folder / _in_own_folder(str(file))
        try:
            if not os.path.lexists(path):
                message = f"There is no file {file} in {self._local.folder}."
                raise NotFound(message, "Give its path from the folder in which you stand.")
            stored = self._attach(path)
        except SynapticError as error:
            error.message += " Nothing was saved."
            raise
        self._linked.add(file)
        return stored

    def _attach(self, path: Path) -> str:
        """The path in the journal of a local file, which is stored there unless it lies there
        already. Raises InvalidArgument and Refused.
        """
        real = real_path(path)
        if real not in self._stored:
            self._stored[real] = self._path_in_journal(real) or self._files.add(
                path.name, _read(real, path.name)
            )
            self._files.note(self._stored[real])
        return self._stored[real]

    def _path_in_journal(self, real: Path) -> str:
        """The path in the journal of a file that lies there as an attachment; "" of another."""
        journal = real_path(self._ws.journal.roots.folders[""])
        if not real.is_relative_to(journal):
            return ""
        inside = real.relative_to(journal).as_posix()
        opened = self._shelf.open(inside)
        if not opened:
            return ""
        opened[1].close()
        return inside


def _as_spelled_on_disk(path: Path) -> Path:
    """The path of the file, whose name may be composed of other characters that look the same,
    as on a Mac.
    """
    if not os.path.lexists(path) and not path.name.isascii():
        with suppress(OSError, ValueError):
            for other in os.listdir(path.parent):  # noqa: PTH208
                if composed_form(other) == composed_form(path.name):
                    return path.with_name(other)
    return path


def _in_own_folder(name: str) -> Path:
    """The path of a file, of which `~/` is the person's own folder."""
    return Path(name).expanduser() if name.startswith("~/") else Path(name)


def _with_target(link: WrittenLink, target: str) -> str:
    """A link as it is written in Markdown with this target."""
    if link.form != "wiki":
        return target
    words = link.words.strip()
    if not words or _SIZE.fullmatch(words):
        name = PurePosixPath(_name_in(link)).name
        words = f"{name}|{words}" if words else name
    written = link_to_file(words, target)
    return written if link.embeds else written.removeprefix("!")


def _read(path: Path, name: str) -> bytes:
    """The bytes of a local file that was called by this name, or its first ones if there are
    too many. Raises InvalidArgument for a folder, and for what cannot be read.
    """
    if path.is_dir():
        raise InvalidArgument(f"`{name}` is a folder.", "Name the files in it.")
    try:
        with open_regular_file(path) as file:
            return file.read(FILE_BYTES + 1) or b""
    except OSError as error:
        reason, hint = explain_errno(error.errno or 0, error.strerror or str(error))
        raise InvalidArgument(f"`{name}` cannot be read: {reason}.", hint) from error


def blank_private(text: str) -> str:
    """The text with a blank in place of each character of a private passage, also of one that
    is never closed; lines and offsets do not change.
    """
    data = text.encode("utf-8", "surrogatepass")
    spans = []
    for ends in private_spans(mask_private(data)):
        start, end = (len(data[:at].decode("utf-8", "surrogatepass")) for at in ends)
        spans.append((start, end))
    return blank_out(text, spans)
