"""Results as text for people: aligned lines, highlighted snippets, and progress.

Whatever comes out of a file passes `clean` first, so that no entry can steer the terminal.
Colours appear only on a terminal, and never with NO_COLOR.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import JournalError, SynapticError
from ..journal.names import printable_path
from ..models import (
    PERSON,
    TYPES,
    Counts,
    Entry,
    Facets,
    Hit,
    Json,
    Link,
    ParseIssue,
    SearchResult,
    Task,
)
from ..notes.conflicts import with_versions_shown
from ..notes.marks import name_in_link
from .fence import INVISIBLE, clean, one_line
from .present import (
    LINKS_SHOWN,
    IsHit,
    history_lines,
    hit_remark,
    later_lines,
    link_lines,
    link_text,
    marks_line,
    neighbour_lines,
    shade_days,
    short_id,
    split_heading,
)

if TYPE_CHECKING:
    from ..journal.backups import LastBackup
    from ..journal.standing import LoggedRun
    from ..verbs.browse import Listing
    from ..verbs.day_lists import Days
    from ..verbs.doctor import Checkup
    from ..verbs.link_ends import Links
    from ..verbs.loose_ends import LooseEnds
    from ..verbs.removing import Replaced, Restorable
    from ..verbs.status import Status
    from ..verbs.totals import Totals
    from ..verbs.undoing import Undone
    from ..verbs.written import DaysWritten
    from ..workspace.sync import RebuildReport

_STYLES = {"bold": 1, "dim": 2, "error": 31, "ok": 32, "warning": 33, "info": 36, "hit": "1;33"}
_WORD = re.compile(r"\w+")
MOST_FINDINGS = 10
"""The most findings that are shown."""
"""The most later entries that are named below a list."""
_DAY_SIGNS = "·░▒▓█"
"""How a map of days shows a day without entries, and the shades of the others."""
_MOST_WEEKS, _USUAL_WIDTH = 53, 80
_COUNTS_SHOWN = 6
_SNIPPET_LINES = 6
_TYPE_CHARS = max(map(len, TYPES))
REPORT_S = 0.1
"""Seconds between two updates of the line of progress."""


class Output(NamedTuple):
    """The properties of the output: `colour`, and the `width` in characters, None in a pipe,
    where nothing is wrapped.

    `locate` returns the whole path of a file of the journal.
    """

    colour: bool
    width: int | None
    locate: Callable[[str | Path], Path]

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and text else text

    def full_path(self, path: str | Path) -> str:
        """Returns the whole path of a file of the journal, so that it can be pasted into a
        shell.
        """
        return one_line(str(self.locate(path)))

    def link(self, path: str, line: int, text: str = "") -> str:
        """Returns the text, or else `path:line`; on a terminal as a hyperlink (OSC 8) to the
        file.
        """
        label = text or self.paint(f"{self.full_path(path)}:{line}", "dim")
        if not self.colour:
            return label
        return f"\x1b]8;;{self.locate(path).as_uri()}\x1b\\{label}\x1b]8;;\x1b\\"


def stdout_screen(locate: Callable[[str | Path], Path]) -> Output:
    """Returns the width and colours of standard output. `locate` returns the whole path of a
    file of the journal.
    """
    if not is_terminal(sys.stdout):
        return Output(False, None, locate)
    return Output("NO_COLOR" not in os.environ, shutil.get_terminal_size().columns, locate)


def is_terminal(*streams: object) -> bool:
    """True when all of these streams are terminals."""
    return all(stream is not None and getattr(stream, "isatty", bool)() for stream in streams)


# -- output
# -------------------------------------------------------------------------------------------


def emit(text: str) -> None:
    """Prints the text to standard output. A reader that closes the pipe early causes no error:
    `synaptic find | head`. Raises JournalError where nothing can be written, as on a full disk.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        _discard_output()
        raise JournalError(
            f"The answer could not be written to standard output: {error.strerror}.",
            "Check the disk or the program that it is sent to.",
        ) from error


def emit_json(data: Json) -> None:
    """Prints `data` to standard output as JSON, with invisible characters escaped."""
    utf8 = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    text = json.dumps(data, indent=2, ensure_ascii=not utf8)
    emit(INVISIBLE.sub(lambda match: json.dumps(match[0])[1:-1], text))


def say(text: str) -> None:
    """Prints a remark to standard error; only data goes to standard output."""
    with suppress(OSError):
        print(clean(text), file=sys.stderr, flush=True)


def drop_typed_keys() -> None:
    """Drops what was typed on the terminal before now. It comes after a text was shown and
    before the question about it: nobody answers what they have not seen.
    """
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    with suppress(OSError, ValueError, termios.error):  # standard input is no terminal
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def say_error(error: SynapticError) -> None:
    """Prints to standard error what happened, the valid values and the next step."""
    say(f"synaptic: {error.message}")
    if error.valid:
        say(f"  Valid: {', '.join(error.valid)}")
    if error.hint:
        say(f"  {error.hint}")


def _discard_output() -> None:
    """Drops the buffered output and all that follows, so that the program's exit raises no
    error.
    """
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- entries
# ------------------------------------------------------------------------------------------


def listing_text(listing: Listing, to: Output) -> str:
    """Returns a line for each entry: id, time, type, title, marks; numbered on a terminal."""
    lines = []
    for number, entry in enumerate(listing.entries, 1):
        count = "" if to.width is None else to.paint(f"{number:>3}. ", "dim")
        title = to.link(entry.path, entry.there.line, one_line(entry.title_in_lists))
        about = to.paint(marks_line(entry, listing.superseded_by.get(entry.id)), "dim")
        lines.append(f"{count}{_stamp_columns(entry, to)}  {title}  {about}".rstrip())
    return "\n".join(lines)


def entries_text(listing: Listing, to: Output) -> str:
    """Returns whole entries: a heading line, the file and line, the marks, and the Markdown
    text.
    """
    blocks: list[str] = []
    for entry in map(with_versions_shown, listing.entries):
        heading, below = split_heading(entry.title, entry.content)
        about = marks_line(entry, listing.superseded_by.get(entry.id), full=True)
        where = to.link(entry.path, entry.there.line)
        header = f"{_stamp_columns(entry, to)}  {to.paint(one_line(heading), 'bold')}\n{where}"
        if about:
            header += f" · {to.paint(about, 'dim')}"
        chain = history_lines(listing.chains.get(entry.id, ()))
        attached = [
            f"attached: {to.full_path(path)}" for path in listing.attached.get(entry.id, ())
        ]
        links = "\n".join((*chain, *link_lines(listing.links.get(entry.id)), *attached))
        blocks += filter(None, [header, below, to.paint(links, "dim")])
    return "\n\n".join(blocks)


IMPORTED_SHOWN = 10
"""The most entries of imports that were taken back which `restore` lists on a terminal."""


def trash_text(texts: Restorable, to: Output) -> str:
    """Returns for each text that can be restored a line with id, time of the change, title and
    file, and below it the beginning of the text; those before an edit below a line that says
    so.
    """
    lines = []
    imported = [one for one in texts.deleted if one.with_import]
    for one in texts.deleted:
        if not one.with_import:
            lines += _trashed_lines(one, to, "removed in the editor: " if one.in_editor else "")
    if imported:
        lines.append(
            to.paint("Taken back with their import, which brings them all again:", "bold")
        )
    for one in imported[:IMPORTED_SHOWN]:
        lines += _trashed_lines(one, to)
    lines += more_lines(len(imported) - IMPORTED_SHOWN, "--json")
    if texts.edited:
        lines.append(
            to.paint("Changed in your editor in the last week; the text before:", "bold")
        )
    for one in texts.edited:
        lines += _trashed_lines(one, to)
    return "\n".join(lines) or "Nothing is deleted."


def _trashed_lines(one: Replaced, to: Output, how: str = "") -> list[str]:
    heading, below = split_heading(one.title, one.text)
    where = to.paint(one_line(one.path), "dim")
    first = f"{short_id(one.id)}  {one.date} {one.time}  {how}{one_line(heading)}  {where}"
    return [first, *(f"  {line}" for line in _first_lines(below))]


def links_text(linked: Links, to: Output) -> str:
    """Returns a line for each link and backlink: the link, the entry at its other end, and the
    file and line.
    """
    lines = []
    for name, links in (("links", linked.links), ("backlinks", linked.backlinks)):
        if links:
            lines.append(to.paint(name, "bold"))
        for link in links[:LINKS_SHOWN]:
            where = to.link(link.path, link.line)
            lines.append(f"  [[{one_line(link.text)}]]  {link_text(link)}  {where}")
        lines += more_lines(len(links) - LINKS_SHOWN, "--json")
    return "\n".join(lines) or "No links."


def loose_ends_text(ends: LooseEnds, to: Output) -> str:
    """Returns a line for each link that leads nowhere, and for each note that is not written
    yet one, the most linked first, with its first link.
    """
    lines = []
    kinds = (
        ("broken", ends.links),
        ("missing files", ends.files),
        ("missing headings", ends.headings),
    )
    for name, links in kinds:
        if links:
            lines.append(to.paint(name, "bold"))
        lines += (
            f"  {one_line(link.text)}  {to.link(link.path, link.line)}"
            for link in links[:LINKS_SHOWN]
        )
        lines += more_lines(len(links) - LINKS_SHOWN, "--json")
    notes: dict[str, list[Link]] = {}
    for link in ends.unwritten:
        notes.setdefault(name_in_link(link.text).casefold(), []).append(link)
    if notes:
        lines.append(to.paint("not written yet", "bold"))
    most_linked = sorted(notes.values(), key=len, reverse=True)
    for same_name in most_linked[:LINKS_SHOWN]:
        first = same_name[0]
        count = "" if len(same_name) == 1 else f"  {len(same_name)} links, the first:"
        where = to.link(first.path, first.line)
        lines.append(f"  {one_line(first.text)}{count}  {where}")
    lines += more_lines(len(notes) - LINKS_SHOWN, "--json")
    return "\n".join(lines) or "No links."


def tasks_text(groups: Sequence[tuple[str, Task]], to: Output) -> str:
    """Returns the tasks below the name of the group of each, with due date, file and line;
    numbered on a terminal. An entry that is due has no box.
    """
    lines = []
    heading = ""
    for number, (group, task) in enumerate(groups, 1):
        if group != heading:
            heading = group
            lines.append(to.paint(heading, "bold"))
        count = "" if to.width is None else to.paint(f"{number:>3}. ", "dim")
        box = f"[{'x' if task.done else ' '}] " if task.line else ""
        line = f"  {count}{box}{one_line(task.text)}  "
        if task.due and task.due not in task.text:
            line += f"due {task.due}  "
        if task.overdue:
            line += f"{to.paint('overdue', 'warning')}  "
        id_of_entry = "" if task.line else short_id(task.id)
        lines.append(line + to.link(task.path, task.line, id_of_entry))
    return "\n".join(lines) or "No such tasks."


def days_text(days: Days, to: Output) -> str:
    """Returns the entries of the days as Markdown, which is rendered on a terminal; then the
    titles of the same day in other years.
    """
    parts = []
    for day, group in groupby(days.listing.entries, key=lambda entry: entry.at.date()):
        parts.append(f"# {day:%A}, {day}")
        for entry in group:
            parts += _day_paragraphs(entry)
    if not parts:
        none = f"No entries on {days.since}"
        if days.until != days.since:
            none += f" to {days.until}"
        beside = " and ".join(filter(None, (days.before, days.after)))
        parts.append(f"{none}. The nearest days with entries: {beside or 'none'}.")
    if days.on_this_day.entries:
        then = [
            f"- {entry.date} {one_line(entry.title_in_lists)} · {short_id(entry.id)}"
            for entry in days.on_this_day.entries
        ]
        parts += ["---", "On this day", "\n".join(then)]
    text = "\n\n".join(parts)
    if to.width is None:
        return text
    from rich.console import Console  # slow to import
    from rich.markdown import Markdown

    console = Console(width=to.width, force_terminal=to.colour, no_color=not to.colour)
    with console.capture() as rendered:
        console.print(Markdown(text, hyperlinks=False))
    return rendered.get().rstrip()


def _day_paragraphs(entry: Entry) -> list[str]:
    """Returns the paragraphs of an entry of a day: its heading, its type, project, tags and id,
    and its text.
    """
    title, text = split_heading(entry.title, entry.content)
    heading = f"{entry.time if entry.timed else ''} {title}"
    about = [f"project {entry.project}"] if entry.project else []
    about += [*(f"#{tag}" for tag in entry.tags), short_id(entry.id)]
    if entry.type != "note":
        about.insert(0, entry.type)
    return [f"## {one_line(heading)}", one_line(" · ".join(about)), *filter(None, [text])]


def hits_text(result: SearchResult, is_hit: IsHit, to: Output) -> str:
    """Returns for each hit its title, its file and line, and its snippet with the words of the
    query highlighted.
    """
    blocks = []
    above: set[str] = set()
    for number, hit in enumerate(result.hits, 1):
        lines = _hit_lines(hit, is_hit, to)
        remark = hit_remark(hit)
        if remark:
            lines.append(f"   {remark}")
        lines += [f"   {line}" for line in later_lines(hit, above)]
        above.add(hit.entry.id)
        blocks.append("\n".join([f"{number}. {lines[0]}", *lines[1:]]))
    return "\n\n".join(blocks)


def _hit_lines(hit: Hit, is_hit: IsHit, to: Output) -> list[str]:
    entry = hit.entry
    heading, below = split_heading(entry.title, hit.snippet)
    about = to.paint(marks_line(entry, hit.superseded_by), "dim")
    lines = [
        _highlight_hits(one_line(entry.beside_page(heading)), is_hit, to),
        f"   {_stamp_columns(entry, to)}  {about}".rstrip(),
        f"   {to.link(entry.path, hit.snippet_line)}",
    ]
    lines += [f"     {_highlight_hits(line, is_hit, to)}" for line in _first_lines(below)]
    return lines + [f"     {to.paint(line, 'dim')}" for line in neighbour_lines(hit)]


def facets_text(facets: Facets, to: Output) -> str:
    """Returns the types, tags and projects, each with its number of entries."""
    lines = []
    for name in ("types", "tags", "projects"):
        lines.append(to.paint(name, "bold"))
        counts = getattr(facets, name)
        lines += [f"{count:>7,}  {one_line(value)}" for value, count in counts]
    return "\n".join(lines)


def days_written_text(written: DaysWritten, today: date, to: Output) -> str:
    """Returns the last weeks as a map with a sign for each day, darker for more entries, as
    many as fit the width, a year at most; then the days in a row.
    """
    weeks = max(1, min(_MOST_WEEKS, (to.width or _USUAL_WIDTH) - 4))
    monday = today - timedelta(today.weekday() + 7 * (weeks - 1))
    mondays = [monday + timedelta(7 * week) for week in range(weeks)]
    first_day, last_day = monday.isoformat(), today.isoformat()
    shades = shade_days(
        {day: n for day, n in written.counts.items() if first_day <= day <= last_day}
    )
    months = ""
    for at, first in enumerate(mondays[:-2]):
        # a month that is nearly over has no room for its name
        if (first.day <= 7 or not at) and first.day <= 14:
            months = f"{months:{at}}{first:%b}"
    lines = [f"    {months}"]
    for weekday in range(7):
        days = [first + timedelta(weekday) for first in mondays]
        signs = [
            _DAY_SIGNS[shades.get(day.isoformat(), 0)] if day <= today else " " for day in days
        ]
        lines.append(f"{days[0]:%a} {''.join(signs)}")
    lines.append(f"    {' '.join(_DAY_SIGNS)}  from no entry to the most")
    lines.append(_runs_text(written))
    return "\n".join(lines)


def _runs_text(written: DaysWritten) -> str:
    current, longest = written.current, written.longest
    if not longest.last:
        return "No day has an entry yet."
    number = "1 day" if longest.days == 1 else f"{longest.days:,} days"
    sentence = f"The longest row of days with entries: {number}, to {longest.last}."
    if current.days < 2:
        return sentence
    return f"{current.days:,} days in a row until {current.last}. {sentence}"


def totals_text(totals: Totals, to: Output) -> str:
    """Returns the sums of a field, or counts, as a table: a row for each group, and below them
    the sum over all entries.
    """
    width = max(len(one.text) for one in (*totals.rows, *totals.all))
    lines = [to.paint(f"{one_line(totals.field)} by {totals.by}", "bold")]
    lines += [f"{one.text:>{width}}  {one_line(totals.label(one))}" for one in totals.rows]
    for total in totals.all:
        line = f"{total.text:>{width}}  {totals.label_of_all(total)}"
        lines.append(to.paint(line, "bold"))
    return "\n".join(lines)


def _stamp_columns(entry: Entry, to: Output) -> str:
    when = "undated"
    if entry.dated:
        when = f"{entry.date} {entry.time if entry.timed else ''}"
    id = to.paint(f"{one_line(entry.short_id):8}", "dim")
    return f"{id}  {when:16}  {to.paint(f'{entry.type:{_TYPE_CHARS}}', 'info')}"


def _first_lines(text: str) -> list[str]:
    """Returns the first lines of a text that are not empty."""
    return [line for line in clean(text).split("\n") if line.strip()][:_SNIPPET_LINES]


def _highlight_hits(text: str, is_hit: IsHit, to: Output) -> str:
    """Returns the text with the words of the query highlighted."""

    def light(match: re.Match[str]) -> str:
        return to.paint(match[0], "hit") if is_hit(match[0].lower()) else match[0]

    return _WORD.sub(light, text) if to.colour else text


def more_lines(number: int, command: str) -> list[str]:
    """Returns the line `and 12 more: COMMAND`; no line for a number below 1."""
    return [f"  and {number:,} more: {command}"] if number > 0 else []


# -- reports
# ------------------------------------------------------------------------------------------


def status_text(status: Status, to: Output) -> str:
    """Returns the state of the home in aligned lines."""
    meaning = "all of it can be found by meaning"
    if status.pending_vectors:
        meaning = (
            f"{status.pending_vectors:,} of {status.chunks:,} parts cannot be found by it "
        )
        meaning += "yet; `synaptic rebuild-index` prepares them"
    replaced = status.entries - sum(count for _, count in status.facets.types)
    beside = f", {replaced:,} of them replaced: no list counts it" if replaced else ""
    rows = {
        "home": to.full_path(status.home),
        "journal": to.full_path(status.journal),
        "entries": f"{status.entries:,} in {file_count_text(status.files)}{beside}",
        "meaning": meaning,
        "model": one_line(status.model),
        "index": f"{status.index_bytes / 1e6:.1f} MB",
        "backup": last_backup_text(status.backup),
        "not read": f"{len(status.left_out):,}",
        "problems": f"{len(status.issues):,}",
        "months": _counts_text(status.months),
    }
    for name in ("types", "tags", "projects"):
        rows[name] = _counts_text(getattr(status.facets, name))
    for name, root in status.roots.items():
        rows[printable_path(name)] = (
            f"{to.full_path(root['folder'])}, {file_count_text(root['files'])}"
        )
    for verb, figures in status.figures.items():
        total = figures["stages"]["total"]
        rows[verb] = f"{total['p50']:.0f} ms, 95 % within {total['p95']:.0f} ms"
    lines = [
        f"{to.paint(f'{name:9}', 'bold')} {value}" for name, value in rows.items() if value
    ]
    return "\n".join((*lines, *issue_lines(status.issues, to)))


def last_backup_text(backup: LastBackup | None) -> str:
    """Returns when the last backup was made, and where it lies; else the command for one."""
    if backup is None:
        return "none yet; `synaptic backup DIR` makes one"
    return f"{backup.at:%Y-%m-%d %H:%M}, {one_line(backup.file)}"


def _counts_text(counts: Counts) -> str:
    parts = [f"{one_line(name)} {count:,}" for name, count in counts[:_COUNTS_SHOWN]]
    if len(counts) > _COUNTS_SHOWN:
        parts.append("...")
    return ", ".join(parts)


MOST_RUNS = 50
"""The most runs that are listed for a person."""


def run_text(run: LoggedRun) -> str:
    """A run of the log in a line: its day and time, who did it, what, with some words that it
    changed, and in which files.
    """
    who = "" if run.who == PERSON else f" by {run.who}"
    files = file_count_text(len(run.files))
    if 0 < len(run.files) < 3:
        files = ", ".join(run.files)
    parts = [run.what] if run.what and run.what != files else []
    removed, added = run.words
    if removed and added:
        parts.append(f'"{removed}" -> "{added}"')
    elif (removed or added) and run.what not in (removed or added):
        parts.append(f'added "{added}"' if added else f'removed "{removed}"')
    what = f": {one_line(' | '.join(parts))}" if parts else ""
    return clean(f"{run.at:%Y-%m-%d %H:%M} {run.verb}{who}{what} ({one_line(files)})")


def runs_text(runs: Sequence[LoggedRun]) -> str:
    """The runs that can be taken back, each with its id; then those that were taken back, each
    with the id that does it again.
    """
    if not runs:
        return "Nothing can be taken back."
    undone = [run for run in runs if run.undone_verb]
    done = [run for run in runs if not run.undone_verb]
    lines = _run_lines(done) or ["Nothing is left to take back."]
    if done:
        lines.append(f"To take one back: synaptic undo {done[0].run}")
    if undone:
        again = [replace(run, verb=run.undone_verb) for run in undone]
        lines += ["", "Taken back, at this time:", *_run_lines(again)]
        lines.append(f"To do one again: synaptic undo {undone[0].run}")
    return "\n".join(lines)


def _run_lines(runs: Sequence[LoggedRun]) -> list[str]:
    lines = [f"{run.run}  {run_text(run)}" for run in runs[:MOST_RUNS]]
    if len(runs) > MOST_RUNS:
        lines.append(f"and {len(runs) - MOST_RUNS:,} older ones; --json lists all.")
    return lines


def undone_text(undone: Undone) -> str:
    """What was taken back, what stays, and how to go on."""
    verb = undone.done.undone_verb
    done = replace(undone.done, verb=verb or undone.done.verb)
    lines = [f"{'Done again' if verb else 'Took back'}: {run_text(done)}"]
    lines += [clean(f"  stays: {path} ({why})") for path, why in undone.stay]
    if undone.run:
        what = f"takes this {verb} back once more" if verb else "does it again"
        lines.append(f"`synaptic undo {undone.run}` {what}.")
    if undone.earlier:
        lines.append(f"`synaptic undo` takes back what was before: {run_text(undone.earlier)}")
    return "\n".join(lines)


def entry_count_text(number: int) -> str:
    """Returns `1 entry`, `2 entries`."""
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def file_count_text(number: int) -> str:
    return f"{number:,} {'file' if number == 1 else 'files'}"


def rebuild_text(report: RebuildReport) -> str:
    """Returns the report of a rebuild of the index in a line."""
    text = f"{entry_count_text(report.entries)} in {report.chunks:,} parts: "
    text += (
        f"{report.embedded:,} embedded, {report.reused:,} reused, in {report.seconds:.1f} s."
    )
    if report.issues:
        text += f" Not read as meant: {len(report.issues):,}; `synaptic status` shows them."
    return text


def checkup_text(checkup: Checkup, to: Output) -> str:
    """Returns a line for each finding of `doctor`: level, code, message, and how to fix it."""
    lines = []
    for finding in checkup.findings:
        level = to.paint(f"{finding.level:7}", finding.level)
        sentence = f"{one_line(finding.message)}  {one_line(finding.fix)}".rstrip()
        lines.append(f"{level}  {finding.code}  {sentence}")
    return "\n".join(lines)


def issue_lines(issues: tuple[ParseIssue, ...], to: Output) -> list[str]:
    """Returns a line for each piece that could not be read as meant, the first ones."""
    lines = [
        f"  {to.full_path(printable_path(issue.path))}:{issue.line}  {one_line(issue.message)}"
        for issue in issues[:MOST_FINDINGS]
    ]
    return lines + more_lines(len(issues) - MOST_FINDINGS, "synaptic status --json")


# -- progress
# -----------------------------------------------------------------------------------------


def pace_text(done: int, seconds: float, left: int) -> str:
    """Returns the rate and the time that is left, `, 85 a second, about 2 min left`; "" within
    the first second, in which nobody knows.
    """
    if done <= 0 or seconds < 1:
        return ""
    rate = done / seconds
    left_s = left / rate
    time_left = f"{left_s / 60:.0f} min" if left_s >= 90 else f"{left_s:.0f} s"
    return f", {rate:,.0f} a second, about {time_left} left"


def build_progress_report() -> Callable[[str, int, int], None]:
    """Returns a function of (phase, done, total) that updates a line of progress on the
    terminal: how much is done, the rate, and the time that is left.
    """
    last = 0.0
    began: dict[str, tuple[float, int]] = {}

    def report(phase: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        is_last = done >= total
        since, before = began.setdefault(phase, (now, done))
        if is_terminal(sys.stderr) and (is_last or now - last > REPORT_S):
            last = now
            pace = "" if is_last else pace_text(done - before, now - since, total - done)
            line = f"\r{phase} {done:,}/{total:,}{pace}"
            with suppress(OSError):
                print(f"{line:60}", end="\n" if is_last else "", file=sys.stderr, flush=True)

    return report
