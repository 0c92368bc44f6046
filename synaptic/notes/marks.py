"""Finds fields, links and tasks in the text of an entry. This module knows no files.

| written                                        | is                                       |
|------------------------------------------------|------------------------------------------|
| `author:: Zelazny`, also behind `- `           | the field `author` (Logseq, Dataview)    |
| `read [author:: Zelazny] again`                | the same                                 |
| `[[Zelazny]]`, `[[Zelazny#Amber\\|him]]`        | a link to the page `Zelazny`             |
| `[him](../people/Roger%20Zelazny.md)`          | a link to that file                      |
| `[[him\\|people.zelazny]]`                      | the same, as Dendron writes it, where    |
|                                                | nothing is called `him`                  |
| `[[tag:sf]]`                                   | a link to the tag `sf`, and to no note   |
| `- [ ] call`, `- [x] call`, `- TODO call`      | a task; `[-]` and `CANCELED` are done    |

Within fences, code spans, expressions (`${...}`) and comments nothing counts.
"""

import hashlib
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from urllib.parse import unquote

from ..models import Entry, Link, Pairs, Task, Texts
from .blocks import LINK, LIST_ITEM, LOGSEQ_OWN, WIKI_LINK, find_tags, tag_of_link, without_code
from .dates import date_in_name
from .due_marks import cut_block, find_due_mark, remove_due_date
from .header import derive_title

MAX_FIELDS, MAX_FIELD = 100, 500
"""The largest number of fields of an entry, and the most characters of a field's value."""

_NAME = r"[^\W\d_][\w./-]{0,40}(?: [\w./-]{1,40}){0,2}"
_PROPERTY = re.compile(rf"(?m)^[ \t>]*(?:[-*+][ \t]+)?\**({_NAME})\**::\**[ \t]+(\S[^\n]*)")
_INLINE_FIELD = re.compile(rf"\[({_NAME})::[ \t]*((?:\[\[[^\[\]\n]*\]\]|[^\[\]\n])*)\]")
PAGE_PROPERTIES = re.compile(r"(?:[ \t]*(?:-[ \t]+)?[^\n:]{1,60}::(?:[ \t][^\n]*)?(?:\n|\Z))+")
"""The lines of properties at the beginning of a page, which describe the page itself."""
_SAID_ELSEWHERE = (
    "title tag tags alias aliases date created synaptic template template-including-parent"
).split()
_LOGSEQ_OWN = re.compile(LOGSEQ_OWN)
_BLOCK_NAMES = re.compile(r"(?m)^[ \t]*(?:[-*][ \t]+)?id::[ \t]+([0-9a-f-]{36})[ \t]*$")
_WORDS = re.compile(r"\w+|[^\w\s]+")

_FILES = (
    "avif|bmp|gif|hei[cf]|jpe?g|png|svg|tiff?|webp|aac|flac|m4a|mp3|og[agv]|opus|wav|webm|3gp|avi"
    "|m4v|mkv|mov|mp[4g]|pdf|base|canvas|edn|csv|docx?|drawio|epub|od[pst]|pptx?|rtf|xlsx?|zip"
)
_ATTACHMENT = re.compile(rf"(?i)\.(?:{_FILES})\Z")
_LINK_TO_FILE = re.compile(  # `[[todo.txt]]` may be a page, `[it](todo.txt)` is none
    rf"(?i)\[\[[^\[\]|\n#]*\.(?:{_FILES})[ \t]*[]|#\\]"
    r"|\]\([ \t]*+<?(?!(?!file:)[a-z][a-z0-9+.-]*:)(?:[^()<>\n\"#]|\([^()\n]*\))*"
    rf"\.(?:{_FILES}|[jt]?ps|html?|txt|log|pages|xml|(?:geo)?json|gpx|ics|kml|tsv|vcf|eml|djvu"
    r"|7z|bin|bz2|t?gz|tar|xz)[ \t]*[)>#\"']"
)
_ID = re.compile(r"[0-9]{8}-([0-9a-z]{8})")
_OPEN = "TODO|DOING|NOW|LATER|WAITING|WAIT|IN-PROGRESS"
_DONE = "DONE|CANCELL?ED"
_TASK = re.compile(
    rf"(?m)^[ \t>]*(?:[-*+]|[0-9]{{1,9}}[.)])[ \t]+(?:#{{1,6}}[ \t]+)?"
    rf"(?:\[(?P<box>[ xX/-])\]|(?P<open>{_OPEN})|(?P<done>{_DONE}))[ \t]+(?P<text>\S[^\n]*)"
)
_BEHIND_LABEL = re.compile(r"[ \t]*(?:dendron://[^\s/|#]+/)?([^\s\[\]|#]+)(?:#\S*)?[ \t]*")


def read_fields(front_matter: Iterable[tuple[str, str]], text: str) -> Pairs:
    """(name, value) of each field: those of the front matter, then the properties in `text`.

    The title, the tags, the date and the state of an editor do not count as fields.
    """
    fields: dict[tuple[str, str], None] = {}
    for written, text_of_value in (*front_matter, *read_properties(text)):
        name = field_name(written)
        value = " ".join(text_of_value.replace("\0", " ").split())[:MAX_FIELD]
        is_own = name in _SAID_ELSEWHERE or _LOGSEQ_OWN.fullmatch(name)
        if name and value and not is_own:
            fields[name, value] = None
    return tuple(fields)[:MAX_FIELDS]


def fields_of_front_matter(entry: Entry) -> list[tuple[str, str]]:
    """The fields of an entry that its text does not contain: they come from front matter."""
    text = entry.content.lower()
    return [field for field in entry.fields if f"{field[0]}::" not in text]


def read_title_and_aliases(text: str) -> tuple[str | None, Texts]:
    """(title, aliases) from the lines of properties at the beginning of a page."""
    title = None
    aliases: list[str] = []
    for written, value in read_properties(text):
        name = field_name(written)
        if name == "title" and title is None:
            title = value.strip()
        elif name in ("alias", "aliases"):
            aliases += chain.from_iterable(LIST_ITEM.findall(value))
    return title, tuple(filter(None, map(str.strip, aliases)))


def read_properties(text: str) -> Iterator[tuple[str, str]]:
    if "::" not in text:
        return
    plain = without_code(text)
    for pattern in (_PROPERTY, _INLINE_FIELD):
        for match in pattern.finditer(plain):
            yield match[1], text[match.start(2) : match.end(2)]


def field_name(name: str) -> str:
    """The form of a field's name in which names are stored and compared."""
    words = " ".join(name.replace("\0", " ").split())
    return unicodedata.normalize("NFC", words).lower()[:MAX_FIELD]


def field_words(value: str) -> str:
    """The folded words of a field's value, with blanks around each, so that `in` finds one
    value within another by whole words.
    """
    without_links = value.replace("[[", " ").replace("]]", " ")
    folded = unicodedata.normalize("NFC", without_links.casefold())
    return f" {' '.join(_WORDS.findall(folded))} "


@lru_cache(4096)  # pages are linked to many times
def link_key(name: str) -> int:
    """A signed 64-bit hash of a page's name; names that mean the same page have the same hash.

    | alike                                             |
    |---------------------------------------------------|
    | `Roger Zelazny`, `roger  zelazny.md`              |
    | `tools/Knife`, `tools___Knife`, `tools%2FKnife`   |
    | `2026-11-20`, `2026_11_20`, `Nov 20th, 2026`,     |
    | `2026-11-20 Friday`, `2026/11/20`, `20.11.2026`   |
    | `20261120-7k3m9q2x`, `7k3m9q2x`                   |
    """
    plain = unquote(name) if "%" in name else name
    plain = unicodedata.normalize("NFC", " ".join(plain.replace("___", "/").split())).casefold()
    plain = plain.removesuffix(".md").strip("/ ")
    id_match = _ID.fullmatch(plain)
    if id_match:
        plain = id_match[1]
    named = date_in_name(plain)
    if named and named.is_alone:
        plain = named.day.isoformat()
    digest = hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def link_keys_of_entry(
    entry: Entry, text: str, *, of_file: bool, first: bool, day_title: str = ""
) -> dict[int, bool]:
    """The hashes (`link_key`) of all names under which links find an entry; True for names of
    its own.

    Its own are id, title and aliases, and for the note `of_file` the path, whole or from any
    folder on; the heading of a section of a day, which no time and no id sets apart, is no
    name. The others are the day, also as `day_title` writes it, the blocks of Logseq in its
    `text`, and the path of a file of several entries, which its `first` one keeps.
    """
    parts = entry.path.split("/")
    paths = ["/".join(parts[start:]) for start in range(len(parts))]
    is_section = entry.derived_id and entry.date_source == "file" and not entry.timed
    own = [entry.id] if is_section and not of_file else [entry.id, entry.title]
    for key, text in entry.extra:
        if key == "aliases":
            own += text.split(", ")
    shared = _BLOCK_NAMES.findall(text)
    shared += [entry.date] if entry.dated else []
    if entry.dated and day_title:
        shared.append(entry.at.strftime(day_title))
    if of_file:
        own += paths
    elif first:
        shared += paths
    names = dict.fromkeys(map(link_key, shared), False)
    return names | dict.fromkeys(map(link_key, own), True)


def find_links(entry: Entry, text: str, folder: str | None = None) -> dict[Texts, Link]:
    """The links of an entry by the names of their targets, each once: in `text` (its body line
    by line), then in its title and fields, then the entries that it supersedes. A link leads to
    the first of its names that something has. Relative links start in `folder`, by default the
    folder of its file.
    """
    path = entry.path
    line = entry.there.line
    folder = posixpath.dirname(path) if folder is None else folder
    links = _links_in_text(text, path, folder, entry.there.body_line)
    for value in (entry.title, *(value for _, value in entry.fields)):
        for names, link in _links_in_text(value, path, folder, line).items():
            links.setdefault(names, link)
    for id in entry.supersedes:
        links[(id,)] = Link(id, path, line)
    return links


def _links_in_text(text: str, path: str, folder: str, line: int) -> dict[Texts, Link]:
    links: dict[Texts, Link] = {}
    if "[[" not in text and "](" not in text:
        return links
    plain = without_code(text)
    matches = [*WIKI_LINK.finditer(plain), *LINK.finditer(plain)]
    at = 0
    for match in sorted(matches, key=re.Match.start):
        line += plain.count("\n", at, match.start())
        at = match.start()
        is_wiki = match.re is WIKI_LINK
        target, names = _names_of_wiki(match, folder) if is_wiki else _names_of(match, folder)
        if names and not names_attachment(name_in_link(target)):
            links.setdefault(names, Link(target, path, line))
    return links


def name_in_link(target: str) -> str:
    """The target of a link without the heading, or the block, behind its `#`."""
    return target.partition("#")[0].strip()


def names_attachment(target: str) -> bool:
    """True if the target of a link, without a heading, names a file that is never a note."""
    return bool(_ATTACHMENT.search(target))


def links_to_file(text: str) -> bool:
    """True if a text links to a file that is never a note, or shows it: not one of the web."""
    if "[[" not in text and "](" not in text:
        return False
    return bool(_LINK_TO_FILE.search(text) and _LINK_TO_FILE.search(without_code(text)))


def _names_of_wiki(match: re.Match[str], folder: str) -> tuple[str, Texts]:
    """(the target of a wikilink, the names that it may mean); none of a tag or a template."""
    target = match[1].rstrip("\\").strip()
    name = name_in_link(target)
    if not name or tag_of_link(target) or "{{" in target or "<%" in target:
        return target, ()
    if match.string[match.start() - 1 : match.start()] == "#":
        return target, ()
    if name.startswith(("./", "../")):
        name = posixpath.normpath(posixpath.join(folder, name))
    behind = name_behind_label(match[2])
    return target, tuple(dict.fromkeys(filter(None, (target, name, behind))))


def _names_of(match: re.Match[str], folder: str) -> tuple[str, Texts]:
    """(the target of a Markdown link, the names that it may mean); none of another file."""
    url = match[2].partition(' "')[0].strip("<> ")
    target = unquote(url.partition("#")[0])
    if not target.endswith(".md") or "://" in target:
        return target, ()
    beside = posixpath.normpath(posixpath.join(folder, target))
    return target, tuple(dict.fromkeys((beside, target)))


def name_behind_label(words: str) -> str:
    """The name of a note behind the label of a link of Dendron, `[[label|note]]`; "" for words
    that are no name.

    | behind the bar               | the name          |
    |------------------------------|-------------------|
    | `robots.dex-code#trainer`    | `robots.dex-code` |
    | `dendron://vault/robots.dex` | `robots.dex`      |
    | `the words of a link`, `#to` | none              |
    """
    span = find_name_behind_label(words)
    return words[slice(*span)] if span else ""


def find_name_behind_label(words: str) -> tuple[int, int] | None:
    """The span of the name (`name_behind_label`) in the words behind the bar."""
    match = _BEHIND_LABEL.fullmatch(words)
    return match.span(1) if match else None


def find_tasks(entry: Entry, text: str) -> list[Task]:
    """The tasks in an entry's body, in order; `text` is its body line by line."""
    place = entry.there
    day = entry.date if entry.dated else None
    due_of_entry = entry.due if is_in_tasks(entry, text) else None
    tasks = []
    line = place.body_line
    at = 0
    for match, block in task_blocks(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        due = find_due_mark(block)
        done = bool(match["done"]) or match["box"] in ("x", "X", "-")
        title = text[match.start("text") : match.end("text")].strip()
        tasks.append(
            Task(
                title,
                done,
                due.day if due else due_of_entry,
                place.path,
                line,
                entry.id,
                entry.title_in_lists,
                day,
                source=source_of_task(entry),
                project=entry.project,
                tags=find_tags(title) or entry.tags,
            )
        )
    return tasks


def is_in_tasks(entry: Entry, text: str) -> bool:
    """True for an entry that is due, and no matter beside its tasks: `text`, its body, begins
    with the task that is its title. Its day is that of tasks without a day.
    """
    first = next(task_blocks(text), None) if entry.due else None
    if not first or text[: first[0].start()].strip():
        return False
    return remove_due_date(entry.title) == derive_title(text)


def task_of_entry(entry: Entry) -> Task:
    """An entry that is due as a whole, as an open task at line 0."""
    title = entry.title_in_lists
    day = entry.date if entry.dated else None
    task = Task(title, False, entry.due, entry.path, 0, entry.id, title, day)
    return replace(task, source=source_of_task(entry), project=entry.project, tags=entry.tags)


def task_blocks(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yields each task of a text, with its line and the lines that belong to it; code in them
    is blank.
    """
    plain = without_code(text) if _TASK.search(text) else ""
    for match in _TASK.finditer(plain):
        yield match, cut_block(plain, match.start())


def source_of_task(entry: Entry) -> str:
    """Where a task stands, as a person looks for it: its day, or the name of its note."""
    return entry.date if entry.dated and not entry.whole_file else entry.title_in_lists
