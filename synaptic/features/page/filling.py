"""Finds the templates of a vault of Obsidian or a graph of Logseq, and fills one in. Nothing in
a template is run.
"""

import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import takewhile
from math import inf
from pathlib import Path, PurePosixPath
from textwrap import dedent

from ...errors import InvalidArgument, NotFound
from ...files import real_path
from ...filters import Filters
from ...journal import folder as folders
from ...journal.folder import Roots, is_logseq_graph, is_note
from ...journal.left_out import withholds
from ...journal.names import is_readable
from ...journal.obsidian import globs_of_templates, obsidian_setting, template_folders
from ...notes.blocks import unify_newlines, without_masked
from ...notes.frontmatter import match_front_matter, read_front_matter
from ...notes.moment import ENGLISH, DateNames, format_moment
from ...notes.privacy import mask_private
from ...verbs.exports import export
from ...verbs.saving import parse_moment
from ...workspace.workspace import Workspace
from .translation import LOCALES, present_language, present_locale, translate

Templates = dict[str, Callable[[], str]]
"""The names of templates, each with a function that reads its text."""
TEMPLATE_TAGS = ("template", "vorlage", "テンプレート")
"""The tags that make an entry a template, in the languages of the page."""
MOST_TEMPLATES = 200
"""The most templates of a journal that are offered."""
MOST_BYTES = 256 * 1024
"""A larger file in a folder of templates is none."""
_PLACEHOLDER = re.compile(r"(?i)\{\{\s*(date|time|title)\s*(?::([^}\n]*))?\}\}")
_TEMPLATE_TAG = re.compile(rf"(?i)(?<!\S)#(?:{'|'.join(TEMPLATE_TAGS)})(?!\S)[ \t]*")
_TEMPLATE_NAME = re.compile(r"(?m)^[ \t]*(?:[-*+][ \t]+)?template::[ \t]*(\S[^\n]*?)[ \t]*$")
_TEMPLATE_PROPERTY = re.compile(r"[ \t]*(?:[-*+][ \t]+)?template(?:-including-parent)?::")
_BLOCK_ID = re.compile(r"(?m)^[ \t]+id::[ \t]+[0-9a-f-]{36}[ \t]*\n?")
_WITHOUT_PARENT = re.compile(r"[ \t]*(?:[-*+][ \t]+)?template-including-parent::[ \t]*false\b")
_BLOCK = re.compile(r"([ \t]*)[-*+](?:[ \t]+|$)")


def find_templates(ws: Workspace) -> Templates:
    """The templates of the journal: the notes in its folders of templates, by their paths in
    these, in a graph of Logseq the blocks with `template::`, and the entries with a tag for
    templates, by their titles.
    """
    vault = ws.journal.root
    paths = paths_of_templates(ws)
    templates: Templates = {name: partial(_read_template, ws, paths[name]) for name in paths}
    if is_logseq_graph(vault):
        for entry in export(ws, Filters(words=("template",), include_superseded=True)):
            for title, text in template_blocks(entry.content):
                templates.setdefault(title, partial(str, text))
    for entry in export(ws, Filters(tags=TEMPLATE_TAGS)):
        text = _TEMPLATE_TAG.sub("", entry.content).strip()
        templates.setdefault(entry.title, partial(str, text))
    return dict(sorted(templates.items())[:MOST_TEMPLATES])


def paths_of_templates(ws: Workspace) -> dict[str, str]:
    """The journal paths of the notes in the folders of templates, by the names of the
    templates.
    """
    vault = ws.journal.root
    paths: dict[str, str] = {}
    for name in template_folders(vault):
        others = set(ws.config.exclude) - globs_of_templates(name)
        excluding = Roots({"": vault}, others)
        for path in _notes_below(vault, name):
            if withholds(excluding, path) or _is_switched_off(ws, path):
                continue
            within = PurePosixPath(path).relative_to(name).with_suffix("")
            paths.setdefault(str(within), path)
    return paths


def _is_switched_off(ws: Workspace, path: str) -> bool:
    """True if the front matter of a note says `synaptic: false`."""
    block = match_front_matter(text_of_note(ws, path), 0)
    if block is None:
        return False
    front = read_front_matter(block["fields"], is_toml=not block["yaml"])
    return front is not None and front.excluded


def fill_template(ws: Workspace, name: str, *, title: str, moment: str = "") -> str:
    """The text of the template `name`, with `{{title}}`, and `{{date}}` and `{{time}}` of
    `moment` or else of now; all else in it stays. Its front matter is left out: it would be
    text within an entry.

    Without `title` the title is that of the day's file. Raises NotFound if there is no such
    template, and InvalidArgument for one without text and for a moment that cannot be read.
    """
    templates = find_templates(ws)
    if name not in templates:
        raise NotFound(
            translate("There is no template “%(name)s”.", name=name[:100]),
            translate("It was moved or deleted; load the page again."),
            valid=tuple(templates),
        )
    text = templates[name]()
    if not text:
        raise InvalidArgument(
            translate(
                "The template “%(name)s” holds properties and no text, so nothing was "
                "inserted.",
                name=name,
            ),
            translate("The properties of a note can be written at the top of its file."),
        )
    at = parse_moment(moment or None, ws.clock())
    title = title or PurePosixPath(ws.journal.path_of_day(at)).stem
    return fill_in(ws, text, title, at)


def fill_in(ws: Workspace, text: str, title: str, at: datetime) -> str:
    """The text with its placeholders filled in, by the forms of dates that Obsidian's plug-in
    for templates is set to.
    """
    forms = ws.journal.root / ".obsidian" / "templates.json"
    return fill_placeholders(
        text,
        title=title,
        at=at,
        date_form=obsidian_setting(forms, "dateFormat") or "YYYY-MM-DD",
        time_form=obsidian_setting(forms, "timeFormat") or "HH:mm",
        names=_date_names(ws),
    )


def _date_names(ws: Workspace) -> DateNames:
    """The names of months and weekdays in the language of the page: in a command, and for an
    agent, it is that of the settings.
    """
    locale = present_locale()
    setting = ws.config.language
    if setting and setting != present_language():
        locale = LOCALES[setting]
    if locale.startswith("en"):
        return ENGLISH
    from babel import Locale  # late: most saves begin no day

    months = Locale.parse(locale).months
    days = Locale.parse(locale).days
    named = [
        ones[form][width]
        for ones in (months, days)
        for form, width in (("format", "wide"), ("stand-alone", "abbreviated"))
    ]
    return DateNames(*(tuple(names[number] for number in sorted(names)) for names in named))


def fill_placeholders(
    text: str, *, title: str, at: datetime, date_form: str, time_form: str, names: DateNames
) -> str:
    """The text with its placeholders filled in, as Obsidian's own plug-in does it: `{{date}}`
    and `{{time}}` may have a format of moment.js, as `{{date:dddd}}`.
    """

    def fill(part: re.Match[str]) -> str:
        name = part[1].lower()
        if name == "title":
            return part[0] if part[2] else title
        usual = date_form if name == "date" else time_form
        return format_moment(at, part[2] or usual, names)

    return _PLACEHOLDER.sub(fill, text)


def template_blocks(text: str) -> list[tuple[str, str]]:
    """(name, text) of each block of a page of Logseq that is a template: the block with the
    blocks in it, without its `template::`, or with `template-including-parent:: false` only the
    blocks in it. Names of blocks (`id::`) are left out: no two blocks may share one.
    """
    lines = _BLOCK_ID.sub("", text).split("\n")
    templates = []
    for number, line in enumerate(lines):
        written = _TEMPLATE_NAME.fullmatch(line)
        first = _line_of_block(lines, number) if written else -1
        if written and first >= 0:
            templates.append((written[1], _text_of_template(lines, first)))
    return templates


def _line_of_block(lines: list[str], number: int) -> int:
    """The number of the line that begins the block of this line; -1 without a block."""
    while number >= 0 and not _BLOCK.match(lines[number]):
        number -= 1
    return number


def _text_of_template(lines: list[str], first: int) -> str:
    """The text of the template whose block begins with the line number `first`."""
    margin = _depth(lines[first])
    inside = list(takewhile(lambda line: _depth(line) > margin, lines[first + 1 :]))
    own = [lines[first], *takewhile(lambda line: not _BLOCK.match(line), inside)]
    children = inside[len(own) - 1 :]
    stays = [line for line in own if not _TEMPLATE_PROPERTY.match(line)]
    if not stays or any(_WITHOUT_PARENT.match(line) for line in own):
        return dedent("\n".join(children)).rstrip()
    if stays[0] != own[0]:  # the property stood first: the next line begins the block
        stays[0] = own[0].partition("template")[0] + stays[0].lstrip()
    return dedent("\n".join([*stays, *children])).rstrip()


def _depth(line: str) -> float:
    """The columns before a line that begins a block; infinity for any other line."""
    block = _BLOCK.match(line)
    return len(block[1].expandtabs(4)) if block else inf


def _notes_below(vault: Path, name: str) -> list[str]:
    """The journal paths of the notes in the folder `name` of the vault; hidden and large ones
    and links are left out. None of a folder that lies outside.
    """
    if not real_path(vault / name).is_relative_to(real_path(vault)):
        return []
    paths = []
    for folder, inner, names in os.walk(vault / name):
        inner[:] = [one for one in inner if not one.startswith(".")]
        for one in names:
            path = Path(folder) / one
            if is_note(one) and one[0] != "." and is_readable(one) and _is_small_file(path):
                paths.append(path.relative_to(vault).as_posix())
    return sorted(paths)[:MOST_TEMPLATES]


def _is_small_file(path: Path) -> bool:
    with suppress(OSError):
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES
    return False


def _read_template(ws: Workspace, path: str) -> str:
    """The text of a note without private passages and front matter."""
    text = text_of_note(ws, path)
    front = match_front_matter(text, 0)
    return text[front.end() if front else 0 :].strip("\n")


def text_of_note(ws: Workspace, path: str) -> str:
    """The text of a note without private passages; "" of one that is gone."""
    with suppress(NotFound):
        data = folders.read_bytes(ws.journal.roots, path)[0]
        return unify_newlines(without_masked(mask_private(data)).decode("utf-8-sig", "replace"))
    return ""
