"""Sets up a home, and makes a folder of Markdown its journal without changing anything in that
folder.
"""

import glob
import os
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

from ...config import (
    Config,
    expand_path,
    is_day_file_setting,
    load_config,
    read_sources,
    resolve_home,
)
from ...errors import ConfigError, JournalError
from ...files import SETTINGS_BYTES, read_regular_file, real_path
from ...journal.folder import TEXTS, Roots, is_logseq_graph, scan_notes
from ...journal.names import left_out_sentences, printable_path
from ...journal.obsidian import glob_of_templates, obsidian_setting, template_folders
from ...journal.repository import SMALL_BYTES
from ...journal.settings import toml_lines, write_setting
from ...journal.shelf import is_home_exposed
from ...models import Json, ParseIssue, Texts, frozen
from ...notes.copies import path_without_conflict_mark
from ...notes.dates import date_in_name
from ...notes.day_layout import USUAL, layout_of
from ...render.present import join_first
from ...verbs.status import LEFT_OUT_SHOWN, status
from ...workspace.workspace import open_workspace

_LOGSEQ: Json = {
    "exclude": ["logseq/bak/**", "logseq/.recycle/**"],
    "day_file": "synaptic/%Y-%m-%d.md",
}
TEXTS_SHOWN = 3
"""The most plain texts that `init` names of those that are not read."""
OTHER_TEXTS = (".org", ".mdc", ".txt", ".rst", ".adoc")
"""Endings of texts that are not read: a person may expect them in the journal."""
_MOMENT = {
    "YYYY": "%Y",
    "YY": "%y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "M": "%-m",
    "DD": "%d",
    "D": "%-d",
    "dddd": "%A",
    "ddd": "%a",
}
"""Tokens of moment.js, by which Obsidian names daily notes, as strftime has them."""
_MOMENT_PART = re.compile(r"\[([^\]]*)\]|(([A-Za-z])\3*o?)|%")


_JAVA = {"yyyy": "%Y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "dd": "%d"}
_JAVA |= {"EEEE": "%A", "EEE": "%a", "E": "%a"}
"""Letters of Java's date formats, by which Logseq names the pages of days."""
_JAVA_PART = re.compile(r"([A-Za-z])\1*o?")
_TITLE_FORMAT = re.compile(r'(?m)^[^;\n]*:journal/page-title-format\s+"([^"\n]+)"')


@frozen
class Adopted:
    """A home that is ready, the contents of its journal, and the file of the next entry.

    `day_file` is the setting by which that is named. `remarks` say what was found in the
    folder; `to_add` are the lines by which a config.toml that was there would follow them.
    """

    home: Path
    journal: Path
    files: int
    entries: int
    undated: int
    issues: tuple[ParseIssue, ...]
    new_entries_go_to: Path
    day_file: str
    remarks: Texts = ()
    to_add: Texts = ()
    notices: Texts = ()


def adopt(
    home: str | Path | None = None,
    journal: str | Path | None = None,
    *,
    text_files: bool = False,
) -> Adopted:
    """The home and the contents of its journal. With `journal`, config.toml names that folder
    from now on; with `text_files` it says that plain texts are read. Idempotent.

    A new config.toml also says what fits a vault of Obsidian or a graph of Logseq; nothing in
    the folder changes. Raises JournalError when the folder is missing or holds the home, and
    ConfigError when config.toml cannot be changed safely.
    """
    notices = []
    remarks: list[str] = []
    fitting: Json = {}
    before = {}
    config = load_config(home)  # a broken config is reported before anything is made
    if journal is None and not config.state.exists():
        _refuse_exposed_home(config.home, config.journal)
    if journal is not None:
        folder = expand_path(str(journal), "The journal").absolute()
        if not folder.is_dir():
            raise JournalError(
                f"{folder} is not a folder.", "Create it first, or name another."
            )
        _refuse_exposed_home(config.home, folder)
        fitting, remarks = _suggest_settings(folder)
        text_files = text_files or config.text_files
        notices += _texts_not_read(folder, text_files=text_files)
        remarks += _former_notes(config.journal, folder)
        remarks += _end_reading_in_place(config, folder)
        new = "".join(f"{line}\n" for line in toml_lines(fitting))
        before = write_setting(resolve_home(home), "journal", str(folder), new=new)
        if "exclude" in fitting:  # beside the user's own globs
            globs = dict.fromkeys([*before.get("exclude", ()), *fitting["exclude"]])
            fitting = fitting | {"exclude": list(globs)}
        if os.environ.get("SYNAPTIC_JOURNAL"):
            notices.append(
                "SYNAPTIC_JOURNAL is set and wins over config.toml: unset it to use the new "
                "setting."
            )
    if text_files and not load_config(home).text_files:
        write_setting(resolve_home(home), "text_files", True)
    lacking = {key: value for key, value in fitting.items() if before.get(key) != value}
    with open_workspace(load_config(home)) as ws:
        contents = status(ws)
        left_out = left_out_sentences(contents.left_out, LEFT_OUT_SHOWN).values()
        return Adopted(
            home=contents.home,
            journal=contents.journal,
            files=contents.files,
            entries=contents.entries,
            undated=contents.entries - sum(count for _, count in contents.months),
            issues=_issues_without_copies(contents.issues),
            new_entries_go_to=ws.journal.place(ws.journal.path_of_day(ws.clock())),
            day_file=ws.config.day_file,
            remarks=tuple(remarks),
            to_add=tuple(toml_lines(lacking)),
            notices=(*notices, *(" ".join(parts) for parts in left_out)),
        )


def _end_reading_in_place(config: Config, folder: Path) -> list[str]:
    """Takes the folder out of `sources`, and its name out of `exclude`; returns a sentence if
    it was there. Raises ConfigError where a pattern of `sources` names it with others.
    """
    real = real_path(folder)
    name = next((name for name, at in config.sources.items() if real_path(at) == real), "")
    if not name:
        return []
    path = config.home / "config.toml"
    lines = list_in_config(config, "sources")
    own = replace(config, journal=config.home / "journal", sources={})
    others = [line for line in lines if name not in read_sources(path, own, [line])]
    stays = {at for at in config.sources.values() if real_path(at) != real}
    if {*read_sources(path, own, others).values()} != stays:
        raise ConfigError(
            f"{path}: a pattern of `sources` names {folder}, and other folders with it.",
            f"Name each of the others in `sources` instead, without {folder}.",
        )
    write_setting(config.home, "sources", others)
    globs = [glob.removeprefix(f"{name}/") for glob in config.exclude]
    if globs != [*config.exclude]:
        write_setting(config.home, "exclude", globs)
    return [f"{folder} was read in place, by `sources`; it is the journal now."]


def list_in_config(config: Config, key: str) -> list[str]:
    """The items of a list as config.toml has it now."""
    file = config.home / "config.toml"
    text = ""
    if file.exists():
        text = read_regular_file(file, SETTINGS_BYTES).decode("utf-8-sig")
    return list(tomllib.loads(text).get(key, []))


def _former_notes(former: Path, folder: Path) -> list[str]:
    """Returns a sentence if the journal before had notes, which are not read any longer."""
    if former == folder or not former.is_dir() or former.is_relative_to(folder):
        return []
    files = len(scan_notes(Roots({"": former})))
    if not files:
        return []
    has = "1 file, which is" if files == 1 else f"{files:,} files, which are"
    return [
        f"The journal before, {former}, has {has} not read any longer: move what it holds into "
        f"{folder}, and its entries are there again."
    ]


def _issues_without_copies(issues: Sequence[ParseIssue]) -> tuple[ParseIssue, ...]:
    """Returns the issues without those of copies by programs that sync files, which `doctor`
    names.
    """
    others = []
    for issue in issues:
        is_copy = path_without_conflict_mark(issue.path) != issue.path
        if issue.code != "duplicate-id" or not is_copy:
            others.append(issue)
    return tuple(others)


def _refuse_exposed_home(home: Path, journal: Path) -> None:
    """Raises JournalError for a journal that holds the home among its notes."""
    if is_home_exposed(journal, home):
        raise JournalError(
            f"The journal {journal} would hold Synaptic's home {home}: tokens and index would "
            f"lie among the notes.",
            "Name another folder, or another home with --home or SYNAPTIC_HOME: outside the "
            "journal, or in a folder that begins with a dot.",
        )


def left_out_globs(folder: Path) -> tuple[list[str], list[str]]:
    """(globs of `exclude` for the files of a vault or graph that are no notes, sentences on
    why): templates of Obsidian, backups of Logseq.
    """
    if is_logseq_graph(folder):
        globs = dict.fromkeys([*_LOGSEQ["exclude"], *_logseq_backups(folder)])
        return [*globs], ["The backups and deleted pages of Logseq are left out."]
    templates = template_folders(folder)
    remarks = [f"The templates in {name} are left out." for name in templates]
    return [*map(glob_of_templates, templates)], remarks


def _suggest_settings(folder: Path) -> tuple[Json, list[str]]:
    """(values of config.toml that fit the folder, sentences on why)."""
    globs, remarks = left_out_globs(folder)
    if is_logseq_graph(folder):
        title = _day_title(folder / "logseq" / "config.edn")
        return {**_LOGSEQ, **title, "exclude": globs}, [
            "This is a graph of Logseq, which rewrites headings; new entries get a folder "
            "of their own.",
            *remarks,
        ]
    fitting: Json = {"exclude": globs} if globs else {}
    daily = folder / ".obsidian" / "daily-notes.json"
    if not daily.is_file():
        roots = Roots({"": folder}, fitting.get("exclude", ()))
        layout = layout_of(stamp.path for stamp in scan_notes(roots))
        if layout and layout != USUAL:
            fitting["day_file"] = layout
            remarks.append(f"The day files here are named as {layout}; new entries go there.")
        return fitting, remarks
    day_folder = obsidian_setting(daily, "folder")
    form = obsidian_setting(daily, "format") or "YYYY-MM-DD"
    within = f"{day_folder.replace('%', '%%')}/" if day_folder else ""
    if not is_day_file_setting(f"{within}%Y-%m-%d.md"):
        within = ""
    where = day_folder or "the top folder"
    remark = f"Obsidian keeps daily notes as {form} in {where}; new entries go there."
    day_file = ""
    with suppress(KeyError):
        day_file = f"{within}{_MOMENT_PART.sub(_to_strftime, form)}.md"
    if not is_day_file_setting(day_file):
        day_file = f"{within}%Y-%m-%d.md"
        remark = (
            f"The names of daily notes, {form}, cannot be followed: new entries go to "
            f"{day_file}."
        )
    return fitting | {"day_file": day_file}, [*remarks, remark]


def _logseq_backups(folder: Path) -> list[str]:
    """Globs for the backups of a graph, in the letters that each system has given them."""
    return [
        f"{glob.escape(path.relative_to(folder).as_posix())}/**"
        for own in sorted(folder.iterdir())
        if own.name.lower() == "logseq" and own.is_dir()
        for path in sorted(own.iterdir())
        if path.name.lower() in ("bak", ".recycle") and path.is_dir()
    ]


def _day_title(config: Path) -> Json:
    """The title of Logseq's pages of days as a setting, if it does not tell the day by itself,
    like `MM-dd-yyyy`.
    """
    with suppress(OSError, KeyError):
        text = read_regular_file(config, SMALL_BYTES).decode("utf-8", "replace")
        written = _TITLE_FORMAT.search(text)
        if written:
            form = written[1].replace("%", "%%")
            pattern = _JAVA_PART.sub(lambda part: _JAVA[part[0]], form)
            if not date_in_name(date(2026, 2, 3).strftime(pattern)):
                return {"day_title": pattern}
    return {}


def _texts_not_read(folder: Path, *, text_files: bool) -> list[str]:
    """A sentence on the files that may hold notes and are not Markdown, and how plain texts are
    read; none without any.
    """
    counts: Counter[str] = Counter()
    plain = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        counts.update(Path(name).suffix.lower() for name in names)
        texts = sorted(name for name in names if name.lower().endswith(TEXTS))
        plain += [Path(at, name).relative_to(folder).as_posix() for name in texts]
    forms = [form for form in OTHER_TEXTS if not (text_files and form in TEXTS)]
    counted = [f"{counts[form]:,} {form}" for form in forms if counts[form]]
    if not counted:
        return []
    notice = f"Not read: {', '.join(counted)} files. Notes end in .md or .markdown."
    if text_files or not plain:
        return [notice]
    named = join_first(list(map(printable_path, plain)), TEXTS_SHOWN)
    return [
        f"{notice} To read the texts ({named}) where they lie: `synaptic init "
        f"{shlex.quote(str(folder))} --text-files`; Synaptic never writes into them."
    ]


def _to_strftime(part: re.Match[str]) -> str:
    if part[2]:
        return _MOMENT[part[2]]
    literal = "%" if part[1] is None else part[1]
    return literal.replace("%", "%%")
