"""Rewrites the links of an imported text: a picture or file comes along, and a link to another
text of the same import names that entry.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from posixpath import basename, dirname, join, normpath, splitext
from urllib.parse import unquote

from ....files import PICTURE_FOLDER, real_path
from ....journal.shelf import is_attachment
from ....notes.picture_kinds import is_picture_name
from .archive import Export, ExportedFile, file_on_disk

_LINK = re.compile(
    r"(!?)\[([^\]]{0,300})\]\((?:<([^<>\n]{1,500})>|((?:[^()\s<>]|\([^()\s]*\))+))"
    r"(?: \"[^\"]*\")?\)"
    r"|(!?)\[\[([^\[\]|#\n]{1,300})((?:#[^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?)\]\]"
)
"""`[words](target)` and `[[target#heading|words]]`, and both with `!` in front."""
_INLINE = re.compile(
    rb"data:image/(\w{1,10})[^,\s\"'()]{0,100};base64,([A-Za-z0-9+/=\r\n\t]*+)"
)
_NO_WORD = re.compile(r"[^\w.-]+")
_NAME_CHARS = 60
"""The most characters of a file's name that stand in the journal."""
_NOT_TAKEN = (".txt", ".htm", ".html", ".docx", ".json", ".zip", ".svg")
_UNLINKED = re.compile(r" [0-9a-f]{32}$|[\[\]|#]")
"""Matches text that cannot stand in a link."""


@dataclass
class PageLinks:
    """The links of the text in the file `name`, and the pictures and files that come along with
    it.

    `key` makes the names of its pictures its own; without it they are named by their bytes.
    `title_of` returns the title of the entry that another file becomes, "" if it becomes none.
    `missing` are pictures that it shows and that were not found.
    """

    name: str
    files: Export
    key: str
    title_of: Callable[[str], str]
    pictures: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def rewrite(self, text: str) -> str:
        """The text with its links rewritten."""
        return _LINK.sub(self._rewrite_link, text)

    def set_inline_aside(self, data: bytes) -> bytes:
        """The bytes of the file with paths in place of the pictures that stand in it."""
        return _INLINE.sub(self._set_aside, data)

    def pictures_in(self, text: str) -> tuple[tuple[str, Callable[[], bytes]], ...]:
        """The pictures that this text shows, as a Record has them."""
        return tuple(item for item in self.pictures.items() if item[0] in text)

    def _set_aside(self, picture: re.Match[bytes]) -> bytes:
        read = partial(_read_inline, self.files[self.name], *picture.span(2))
        digest = sha256(picture[2]).hexdigest()
        return self._register(digest, f".{picture[1].decode()}", read).encode()

    def _rewrite_link(self, link: re.Match[str]) -> str:
        """A link as the entry has it: `[[Title]]` for a page, a path in the journal for a
        picture.
        """
        is_picture, words, bracketed, plain, is_embed, name, rest = link.groups()
        if name:
            return self._rewrite_wikilink(link[0], name.strip(), rest, is_embed)
        target = bracketed or plain
        path = normpath(join(dirname(self.name), unquote(target)))
        title = self.title_of(path)
        if title:
            return f"[[{title}]]"
        if path not in self.files:
            is_placed = basename(path) in self.pictures
            if is_picture and not is_placed and is_picture_name(path) and ":" not in target:
                self.missing.append(target)
            return link[0]
        if is_picture and is_picture_name(path):
            return self._show(path, words)
        if is_linked_file(path):
            return f"[{words or basename(path)}]({self._register_path(path, has_name=True)})"
        is_named = basename(path) in words  # the file stays in the export
        return words if is_named else f"{words} ({unquote(target)})".strip()

    def _rewrite_wikilink(self, link: str, name: str, rest: str, mark: str) -> str:
        """`[[name]]` with the title of the entry; `![[gel.png]]` as a picture of the journal,
        which lies beside the text or, as in Obsidian, has that name anywhere.
        """
        if is_picture_name(name):
            path = normpath(join(dirname(self.name), name))
            if path not in self.files:
                places = [one for one in self.files if basename(one) == basename(name)]
                path = places[0] if len(places) == 1 else ""
            if not path and mark:
                self.missing.append(name)
            words = rest.rpartition("|")[2] if "|" in rest else ""
            return self._show(path, words) if path and mark else link
        title = self.title_of(name)
        if not title or title.casefold() == name.casefold():
            return link
        words = rest.rpartition("|")[2] if "|" in rest else name
        return f"{mark}[[{title}|{words}]]"

    def _show(self, path: str, words: str) -> str:
        """A picture with the words that describe it; the 300 of `![[gel.png|300]]` is none."""
        alt = "" if words.replace("x", "").isdecimal() else words
        return f"![{alt}]({self._register_path(path)})"

    def _register_path(self, path: str, *, has_name: bool = False) -> str:
        """Registers a file of the export and returns its path in the journal, in which its name
        stands if it `has_name`.
        """
        read = self.files.picture(path)
        identity = f"{self.key} {path}" if self.key else sha256(read()).hexdigest()
        stem, suffix = splitext(basename(path))
        return self._register(identity, suffix, read, stem if has_name else None)

    def _register(
        self, identity: str, suffix: str, read: Callable[[], bytes], stem: str | None = None
    ) -> str:
        """Registers a picture or file and returns its path in the journal. `read` returns its
        bytes.
        """
        name = sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        if stem is not None:
            name = f"{plain_name(stem)}-{name[:8]}"
        name += suffix.lower()
        self.pictures[name] = read
        return f"{PICTURE_FOLDER}/{name}"


def plain_name(stem: str) -> str:
    """The name of a file, without its ending, as it stands in the journal."""
    return _NO_WORD.sub("-", stem)[:_NAME_CHARS].strip("-.") or "file"


def is_linked_file(name: str) -> bool:
    """True for a file that comes along with the text that links to it: one that a page may
    show, and that is neither a text to be imported itself nor data of a program nor SVG.
    """
    return is_attachment(name) and not name.lower().endswith(_NOT_TAKEN)


def pictures_of_file(path: Path, text: str) -> dict[str, ExportedFile]:
    """Maps the paths of the pictures and files that a single text shows or links to, and that
    lie below its folder, to their files.
    """
    pictures = {}
    folder = real_path(path.parent)
    for link in _LINK.finditer(text):
        target = link[6] or unquote(link[3] or link[4])
        file = path.parent / normpath(target)
        is_within = real_path(file).is_relative_to(folder)
        is_taken = is_picture_name(target) or (not link[6] and is_linked_file(target))
        if is_taken and ":" not in target and is_within and file.is_file():
            pictures[normpath(target)] = file_on_disk(file)
    return pictures


def linkable(title: str) -> str:
    """The title without what cannot stand in a link."""
    return _UNLINKED.sub("", title).strip()


def _read_inline(page: ExportedFile, start: int, end: int) -> bytes:
    """Reads the inline picture between the byte offsets `start` and `end` of a page again,
    because a plan may hold thousands.
    """
    return b64decode(page.read()[start:end])
