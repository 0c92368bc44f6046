"""Real vaults, and Obsidian's rule for links as its documentation and its behaviour give it. It
shares nothing with the program.
"""

from __future__ import annotations

import os
import re
import tarfile
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

_ARCHIVE = Path(__file__).parents[1] / "data" / "vaults.tar.gz"
_LINK = re.compile(
    r"\[\[([^\[\]\n]+?)\]\]"
    r"|\]\(\s*(?:<([^<>\n]*)>|([^()\s]+(?:\([^()\s]*\)[^()\s]*)*))(?:\s+\"[^\"\n]*\")?\s*\)"
)
_CODE = (
    r"(?ms)^[ \t>]*(?:[-*+][ \t]+)*(```+|~~~+).*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)",
    r"(?s)<!--.*?-->",
    r"(?<!`)(`+)(?!`)(?:(?!\n\s*\n)[\s\S])+?(?<!`)\1(?!`)",
)
_PROPERTIES = re.compile(r"(?:[ \t]*(?:-[ \t]+)?[^\n:]{1,60}::[^\n]*\n)+")


def unpack(name: str, to: Path) -> Path:
    """The vault `logseq` or `obsidian`, unpacked into a folder."""
    with tarfile.open(_ARCHIVE) as archive:
        # Python 3.11.4 and later have the filter
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(to)
    return to / name


def files_of(root: Path) -> dict[str, bytes]:
    """All files below a folder by their paths, and its empty folders."""
    found = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[f"{name}/"] = b""
    return found


def ends_of_links(files: Mapping[str, bytes], *, logseq: bool) -> dict[str, list[str | None]]:
    """For each note the files to which its links lead, in order; None for a broken link."""
    rule = _Rule(files, logseq=logseq)
    ends = {}
    for path, data in files.items():
        if path.lower().endswith(".md"):
            targets = _targets(data.decode("utf-8", "replace"))
            ends[path] = [rule.find(*target, path) for target in targets]
    return ends


def _targets(text: str) -> list[tuple[str, bool]]:
    """(target, True for a Markdown link) of each link in a text."""
    for pattern in _CODE:
        text = re.sub(pattern, lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    targets = []
    for link in _LINK.finditer(text):
        if link[1] is not None:
            name = link[1].partition("|")[0].partition("#")[0].rstrip("\\ ").strip()
            targets.append((name, False))
            continue
        url = link[3] if link[2] is None else link[2]
        if not re.match(r"[a-zA-Z][\w+.-]*:", url):
            targets.append((unquote(url.partition("#")[0]), True))
    return [target for target in targets if target[0]]


def _low(name: str) -> str:
    return unicodedata.normalize("NFC", name).lower()


class _Rule:
    def __init__(self, files: Mapping[str, bytes], *, logseq: bool) -> None:
        self._paths = {_low(path): path for path in sorted(files, reverse=True)}
        self._named: dict[str, list[str]] = {}
        for path in sorted(files):
            self._named.setdefault(_low(path).rpartition("/")[2], []).append(path)
        self._pages: dict[str, str] = {}
        for path in sorted(files):
            if logseq and path.startswith("pages/"):
                self._pages.setdefault(_low(_page(path, files[path])).strip("/ "), path)

    def find(self, target: str, is_markdown: bool, source: str) -> str | None:
        low = _low(target)
        folder = _low(source.rpartition("/")[0])
        if not is_markdown and low.strip("/ ") in self._pages:
            return self._pages[low.strip("/ ")]
        if is_markdown or low.startswith(("./", "../")):
            beside = os.path.normpath(f"{folder}/{low}".lstrip("/"))
            for name in (beside, f"{beside}.md"):
                if name in self._paths:
                    return self._paths[name]
            if low.startswith(("./", "../")):
                return None
        for name in (low.lstrip("/"), f"{low.lstrip('/')}.md"):
            if name in self._paths:
                return self._paths[name]
            last = name.rpartition("/")[2]
            ends = [one for one in self._named.get(last, []) if _low(one).endswith(f"/{name}")]
            near = [one for one in ends if folder and _low(one).startswith(f"{folder}/")]
            if ends:
                return min(near or ends, key=len)
        return None


def _page(path: str, data: bytes) -> str:
    """The name that Logseq gives to a page."""
    properties = _PROPERTIES.match(data.decode("utf-8", "replace"))
    title = re.search(
        r"(?m)^[ \t]*(?:-[ \t]+)?title:: *(.*)$", properties[0] if properties else ""
    )
    name = path.rpartition("/")[2].removesuffix(".md").replace("___", "/")
    return title[1].strip() if title else unquote(name)
