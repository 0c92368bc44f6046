"""Results as text for people: aligned lines, highlighted snippets, and progress.

Whatever comes out of a file passes `clean` first, so that no entry can steer the terminal.
Colours appear only on a terminal, and never with NO_COLOR.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import JournalError, SynapticError
from ...models import Choice, Entry, Facets, Hit, ParseIssue, SearchResult, Task
from ...verbs.adopt import Adopted
from ...verbs.browse import Days, Listing, Status
from ...verbs.doctor import Checkup
from ...verbs.mentions import Links
from ...workspace.sync import RebuildReport
from .present import (
    LINKS_SHOWN,
    changed_text,
    clean,
    details,
    headed,
    link_lines,
    one_line,
    page_end,
    short,
    why_text,
)
from .wire import Json

if TYPE_CHECKING:
    from ...verbs.evaluate import Evaluation
    from ...verbs.models import Model, Switch
    from ...verbs.writing import Deleted

IsHit = Callable[[str], bool]

_STYLES = {
    "plain": 0,
    "bold": 1,
    "dim": 2,
    "error": 31,
    "ok": 32,
    "warning": 33,
    "info": 36,
    "hit": "1;33",
}
_WORD = re.compile(r"\w+")
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")
_ISSUES_SHOWN = 10
_COUNTS_SHOWN = 6
_MISSED_SHOWN = 5
_BAR = 40
_SNIPPET_LINES = 6
_LINE_EVERY_S, _LIVE_EVERY_S = 5.0, 0.1


@dataclass(frozen=True, slots=True)
class Output:
    """The target of the text. `width` is None in a pipe: nothing is wrapped there, nor is a
    path shortened.
    """

    colour: bool
    width: int | None
    place: Callable[[str | Path], Path]

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and text else text

    def path(self, path: str | Path) -> str:
        """A path that can be pasted into a shell; on a terminal with `~` for the home folder."""
        full = str(self.place(path))
        home = str(Path.home()) if "HOME" in os.environ else ""
        if self.width is not None and home not in ("", "/") and full.startswith(home + "/"):
            full = "~" + full[len(home) :]
        return one_line(full)

    def at(self, path: str, line: int, text: str = "") -> str:
        """The text, or else `path:line`; on a terminal a hyperlink (OSC 8) to the file."""
        shown = text or self.paint(f"{self.path(path)}:{line}", "dim")
        return (
            f"\x1b]8;;{self.place(path).as_uri()}\x1b\\{shown}\x1b]8;;\x1b\\"
            if self.colour
            else shown
        )


def screen(place: Callable[[str | Path], Path]) -> Output:
    """The screen that standard output is."""
    tty = is_terminal(sys.stdout)
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return Output(tty and not plain, shutil.get_terminal_size().columns if tty else None, place)


def is_terminal(*streams: object) -> bool:
    """True when all of these streams are a terminal."""
    return all(stream is not None and getattr(stream, "isatty", bool)() for stream in streams)


# -- output
# -------------------------------------------------------------------------------------------


def emit(text: str) -> None:
    """Prints `text` to standard output. It is no error when the reader has closed the pipe:
    `synaptic find | head`.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        _discard_output()
        raise JournalError(f"The answer could not be written: {error.strerror}.") from error


def emit_json(data: Json) -> None:
    """Prints `data` to standard output as JSON, with invisible characters escaped."""
    utf8 = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    text = json.dumps(data, indent=2, ensure_ascii=not utf8)
    emit(_NOT_ASCII.sub(lambda found: _visible(found[0]), text))


@functools.cache
def _visible(char: str) -> str:
    """The character, or its JSON escape where a person would see nothing."""
    return char if char.isprintable() and clean(char) else json.dumps(char)[1:-1]


def say(text: str) -> None:
    """Prints `text`, which is no data, to standard error."""
    with contextlib.suppress(OSError):
        print(clean(text), file=sys.stderr, flush=True)


def say_error(error: SynapticError) -> None:
    """Prints to standard error what happened, the valid values and the next step."""
    say(f"synaptic: {error.message}")
    if error.valid:
        say(f"  Valid: {', '.join(error.valid)}")
    if error.hint:
        say(f"  {error.hint}")


def _discard_output() -> None:
    """Drops the buffered output and all that follows, so that nothing fails at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- entries
# ------------------------------------------------------------------------------------------


def listing_text(listing: Listing, to: Output) -> str:
    """One line for each entry: id, time, type, title, marks; on a terminal numbered."""
    lines = []
    for number, entry in enumerate(listing.entries, start=1):
        count = "" if to.width is None else to.paint(f"{number:>3}. ", "dim")
        marks = _marks(entry, listing.superseded_by.get(entry.id), to)
        changed = f"  {to.paint(changed_text(entry), 'warning')}" if entry.changed_files else ""
        title = to.at(entry.there.path, entry.there.line, one_line(entry.title))
        lines.append(f"{count}{_stamp(entry, to)}  {title}{marks}{changed}")
    return "\n".join(lines)


def entries_text(listing: Listing, to: Output) -> str:
    """Entries whole: a header, where they stand, and their Markdown."""
    blocks: list[str] = []
    for entry in listing.entries:
        links = "\n".join(
            to.paint(line, "dim") for line in link_lines(listing.links.get(entry.id))
        )
        blocks += filter(None, [_whole(entry, listing.superseded_by.get(entry.id), to), links])
    return "\n\n".join(blocks)


def deleted_text(found: Sequence[Deleted], to: Output) -> str:
    """For each entry in the trash a line, id, the time of its deletion, title and file, and its
    text below.
    """
    lines = []
    for one in found:
        heading, below = headed(one.title, one.text)
        place = to.paint(one_line(one.path), "dim")
        lines.append(f"{short(one.id)}  {one.date} {one.time}  {one_line(heading)}  {place}")
        lines += [f"  {line}" for line in _wrapped(below, to)]
    return "\n".join(lines) or "Nothing is deleted."


def links_text(found: Links, to: Output) -> str:
    """A line for each link and each backlink: the entry at the other end, the link, and where
    it stands.
    """
    blocks = []
    for name, links in (("links", found.links), ("backlinks", found.backlinks)):
        lines = [to.paint(name, "bold")]
        for link in links[:LINKS_SHOWN]:
            end = (
                to.paint(short(link.id), "dim") if link.id else to.paint("no entry", "warning")
            )
            title = f"  {one_line(link.title)}" if link.title not in (None, link.text) else ""
            lines.append(
                f"  {end}  [[{one_line(link.text)}]]{title}  {to.at(link.path, link.line)}"
            )
        if len(links) > LINKS_SHOWN:
            lines.append(f"  and {len(links) - LINKS_SHOWN:,} more: --json")
        blocks += ["\n".join(lines)] if links else []
    return "\n\n".join(blocks)


def tasks_text(tasks: Sequence[Task], to: Output) -> str:
    """The tasks of each day, each with its due date and where it stands."""
    blocks = []
    for day, group in groupby(tasks, key=lambda task: task.date):
        lines = []
        for task in group:
            due = f"  due {task.due}" if task.due and task.due not in task.text else ""
            late = f"  {to.paint('overdue', 'warning')}" if task.overdue else ""
            text = f"{one_line(task.text)}{due}{late}"
            lines.append(
                f"  [{'x' if task.done else ' '}] {text}  {to.at(task.path, task.line)}"
            )
        blocks.append("\n".join([to.paint(day or "undated", "bold"), *lines]))
    return "\n\n".join(blocks)


def days_text(days: Days, to: Output) -> str:
    """The entries of the days as Markdown, rendered on a terminal; then the titles of the same
    day in other years.
    """
    parts = []
    for day, group in groupby(days.found.entries, key=lambda entry: entry.at.date()):
        parts.append(f"# {day:%A}, {day}")
        for entry in group:
            parts += _of_day(entry)
    if not days.found.entries:
        beside = " and ".join(day for day in (days.before, days.after) if day)
        when = days.since if days.since == days.until else f"{days.since} to {days.until}"
        parts.append(
            f"No entries on {when}."
            + (f" The nearest days with entries: {beside}." if beside else "")
        )
    if days.on_this_day.entries:
        then = (
            f"- {entry.date} {one_line(entry.title)} · {short(entry.id)}"
            for entry in days.on_this_day.entries
        )
        parts += ["---", "On this day", "\n".join(then)]
    text = "\n\n".join(parts)
    if to.width is None:
        return text
    from rich.console import Console  # slow to import
    from rich.markdown import Markdown

    console = Console(width=to.width, force_terminal=to.colour, no_color=not to.colour)
    with console.capture() as shown:
        console.print(Markdown(text, hyperlinks=False))
    return shown.get().rstrip()


def _of_day(entry: Entry) -> list[str]:
    """The paragraphs of an entry of a day: its heading, its type, tags and id, and its text."""
    title, text = headed(entry.title, entry.content)
    heading = f"{entry.time if entry.timed else ''} {title}".strip()
    kind = [] if entry.type == "note" else [entry.type]
    marks = " · ".join([*kind, *(f"#{tag}" for tag in entry.tags), short(entry.id)])
    end = page_end(text)
    is_page = entry.whole_file and entry.date_source != "file"
    if is_page and end < len(text):
        text = f"{text[:end].rstrip()}\n\n… `synaptic get {short(entry.id)}` shows all of it."
    return [part for part in (f"## {one_line(heading)}", one_line(marks), text) if part]


def hits_text(result: SearchResult, is_hit: IsHit, to: Output) -> str:
    """For each hit its title line, where it stands, and the snippet with the sought words
    highlighted.
    """
    both = result.mode == "hybrid"
    hits = [_hit(n, hit, is_hit, to, both=both) for n, hit in enumerate(result.hits, start=1)]
    chosen = [to.paint(_choice(result, result.choice), "dim")] if result.choice else []
    return "\n\n".join([*chosen, *hits])


def _choice(result: SearchResult, choice: Choice) -> str:
    """`smart (it was given in parts): 41 ms of 100 (lexical 8, semantic 12); 38 ms expected`."""
    layers = ", ".join(f"{layer.name} {layer.actual_ms:.0f}" for layer in choice.layers)
    budget = f" of {choice.budget_ms:g}" if choice.budget_ms is not None else ""
    expected = (
        f"; {choice.estimated_ms:.0f} ms expected" if choice.estimated_ms is not None else ""
    )
    return (
        f"{result.strategy} ({choice.because}): {choice.actual_ms:.0f} ms{budget} "
        f"({layers}){expected}"
    )


def facets_text(facets: Facets, to: Output) -> str:
    """Types, tags and projects, each with how often it occurs."""
    blocks = []
    for name, counts in (
        ("types", facets.types),
        ("tags", facets.tags),
        ("projects", facets.projects),
    ):
        lines = [f"{count:>7,}  {one_line(value)}" for value, count in counts]
        blocks.append("\n".join((to.paint(name, "bold"), *(lines or ["      -"]))))
    return "\n\n".join(blocks)


def _whole(entry: Entry, superseded_by: str | None, to: Output) -> str:
    heading, below = headed(entry.title, entry.content)
    title = to.paint(one_line(heading), "bold")
    lines = [f"{_stamp(entry, to)}  {title}{_marks(entry, superseded_by, to)}"]
    marks = (to.paint(one_line(mark), "dim") for mark in details(entry))
    lines.append(" · ".join([to.at(entry.there.path, entry.there.line), *marks]))
    if below:
        lines += ["", below]
    return "\n".join(lines)


def _hit(number: int, hit: Hit, is_hit: IsHit, to: Output, *, both: bool) -> str:
    entry = hit.entry
    heading, below = headed(entry.title, hit.snippet)
    lines = [
        f"{number}. {_lit(one_line(heading), is_hit, to, 'bold')}",
        f"   {_stamp(entry, to)}{_marks(entry, hit.superseded_by, to)}",
        f"   {to.at(entry.there.path, hit.snippet_line)}",
    ]
    if entry.changed_files:
        lines.append(f"   {to.paint(changed_text(entry), 'warning')}")
    lines += [f"     {_lit(line, is_hit, to)}" for line in _wrapped(below, to)]
    if hit.why:
        lines.append(f"   {why_text(hit, hit.why, both=both)}")
    return "\n".join(lines)


def _stamp(entry: Entry, to: Output) -> str:
    when = (
        f"{entry.date} {entry.time if entry.timed else '':5}"
        if entry.dated
        else "undated         "
    )
    return (
        f"{to.paint(f'{one_line(entry.short_id):8}', 'dim')}  {when}  "
        f"{to.paint(f'{entry.type:9}', 'info')}"
    )


def _marks(entry: Entry, superseded_by: str | None, to: Output) -> str:
    marks = [to.paint(one_line(" ".join(f"#{tag}" for tag in entry.tags)), "ok")]
    marks += [to.paint(f"[{one_line(mark)}]", "dim") for mark in entry.marks]
    if superseded_by:
        marks.append(to.paint(f"superseded by {short(superseded_by)}", "warning"))
    return "".join(f"  {mark}" for mark in marks if mark)


def _wrapped(text: str, to: Output) -> list[str]:
    lines = [line.rstrip() for line in clean(text).split("\n") if line.strip()][:_SNIPPET_LINES]
    if to.width is None:
        return lines
    width = max(20, to.width - 6)
    return [
        piece for line in lines for piece in textwrap.wrap(line.expandtabs(4), width) or [""]
    ]


def _lit(text: str, is_hit: IsHit, to: Output, style: str = "plain") -> str:
    """The text in this style, with its sought words highlighted."""

    def light(match: re.Match[str]) -> str:
        return (
            f"{to.paint(match[0], 'hit')}\x1b[{_STYLES[style]}m"
            if is_hit(match[0].lower())
            else match[0]
        )

    return to.paint(_WORD.sub(light, text) if to.colour else text, style)


def _count(number: int, thing: str) -> str:
    """`1 entry`, `1,200 entries`."""
    many = thing.removesuffix("y") + "ies" if thing.endswith("y") else thing + "s"
    return f"{number:,} {thing if number == 1 else many}"


# -- reports
# ------------------------------------------------------------------------------------------


def status_text(status: Status, to: Output) -> str:
    """The state of the home in aligned lines."""
    passages = f"{status.chunks:,}"
    if status.pending_vectors:
        passages += (
            f", {status.pending_vectors:,} of them found by words only; `synaptic "
            f"rebuild-index` "
            f"finishes them"
        )
    rows = [
        ("home", to.path(status.home)),
        ("journal", to.path(status.journal)),
        *(
            (name, f"{to.path(one['folder'])}, {_count(one['files'], 'file')}")
            for name, one in status.roots.items()
        ),
        ("entries", f"{status.entries:,} in {_count(status.files, 'file')}"),
        ("passages", passages),
        ("model", one_line(status.model)),
        ("index", f"{status.index_bytes / 1e6:.1f} MB"),
        ("not read", f"{len(status.issues):,}"),
        ("types", _counted(status.facets.types)),
        ("tags", _counted(status.facets.tags)),
        ("projects", _counted(status.facets.projects)),
        ("months", _counted(status.months)),
        *((verb, _latencies(figures)) for verb, figures in status.figures.items()),
        *((f"  {name}", _cost(layers)) for name, layers in status.costs.items()),
    ]
    lines = [f"{to.paint(f'{name:9}', 'bold')} {value}" for name, value in rows if value]
    return "\n".join((*lines, *_issue_lines(status.issues, to)))


def _counted(counts: tuple[tuple[str, int], ...]) -> str:
    shown = ", ".join(f"{one_line(name)} {count:,}" for name, count in counts[:_COUNTS_SHOWN])
    return (
        f"{shown} and {len(counts) - _COUNTS_SHOWN:,} more"
        if len(counts) > _COUNTS_SHOWN
        else shown
    )


def _latencies(figures: Mapping[str, Any]) -> str:
    """`18 ms, 95 % within 25 ms (last 120: semantic 7, rank 5)`."""
    total = figures["stages"]["total"]
    stages = ", ".join(
        f"{name} {latency['p50']:.0f}"
        for name, latency in figures["stages"].items()
        if name != "total"
    )
    return f"{total['p50']:.0f} ms, 95 % within {total['p95']:.0f} ms (last {figures['calls']:,}: {stages})"


def _cost(layers: Mapping[str, float]) -> str:
    """`within 25 ms (semantic 9, embed 7)`: what an automatic search reckons with."""
    parts = ", ".join(
        f"{name} {ms:.0f}"
        for name, ms in layers.items()
        if name not in ("total", "core") and ms >= 1
    )
    return f"within {layers['total']:.0f} ms" + (f" ({parts})" if parts else "")


def adopted_text(home: Adopted, place: Callable[[str | Path], Path]) -> str:
    """The result of `init`. All paths are whole: they are meant to be copied."""
    to = Output(False, None, place)
    found = (
        f"{_count(home.entries, 'entry')} in {_count(home.files, 'file')}"
        if home.files
        else "no notes yet"
    )
    lines = [f"Journal: {to.path(home.journal)}, {found}."]
    if home.undated:
        dated = home.entries - home.undated
        lines.append(
            f"Entries with a date: {dated:,}; without one: {home.undated:,}, which no "
            f"search by date finds."
        )
    lines += map(one_line, home.remarks)
    lines.append(f"New entries go to {to.path(home.new_entries_go_to)}")
    config = to.path(home.home / "config.toml")
    if home.to_add:
        lines += [
            f"{config} was there already; to have it so, write these lines at its top in "
            f"place of their like:",
            *home.to_add,
        ]
    elif home.remarks:
        lines.append(
            f"To change what is left out, or where entries go: `exclude` and `day_file` in "
            f"{config}"
        )
    if home.issues:
        lines += [
            f"{_count(len(home.issues), 'piece')} could not be read as meant:",
            *_issue_lines(home.issues, to),
        ]
    if home.entries:
        lines.append(
            "Next: `synaptic rebuild-index` makes all of it searchable by meaning too; "
            "words work at once."
        )
    return "\n".join(lines)


def rebuild_text(report: RebuildReport) -> str:
    """The report of a rebuild in a line."""
    text = (
        f"{_count(report.entries, 'entry')} in {_count(report.chunks, 'passage')}: "
        f"{report.embedded:,} embedded, "
    )
    text += f"{report.reused:,} reused, in {report.seconds:.1f} s."
    if report.issues:
        text += f" {_count(len(report.issues), 'piece')} could not be read as meant: `synaptic status`."
    return text


def evaluation_text(found: Evaluation, to: Output) -> str:
    """A bar for each way to search, over which questions, and the first that the default does
    not answer.
    """
    lines, before = [], found.before
    if not found.questions:
        return "Nothing in this journal can be asked."
    for way, mrr in found.mrr.items():
        bar = ("#" if to.width is None else "█") * round(_BAR * mrr)
        was = (
            f", was {before['mrr'][way]:.2f} on {before['date']}"
            if before and way in before["mrr"]
            else ""
        )
        lines.append(
            f"{to.paint(f'{way:8}', 'bold')} {to.paint(f'{bar:{_BAR}}', 'ok')} {mrr:.2f}{was}"
        )
    lines += [
        "",
        f"Mean reciprocal rank, ± {found.margin:.2f}: 1 where each entry comes first, 0.5 "
        f"where second.",
    ]
    lines.append(f"Questions: {found.questions:,}, in {found.seconds:.0f} s.")
    if before and before["questions"] != found.questions:
        lines.append(f"The run of {before['date']} asked {before['questions']:,}.")
    if found.missed:
        lines += ["", f"Not among the first 20 of a default search: {len(found.missed):,}."]
    for missed in found.missed[:_MISSED_SHOWN]:
        where = f"{to.path(missed.path)}:{missed.line}"
        lines.append(
            f"  {one_line(missed.question)}  {missed.date or 'undated'}  "
            f"{to.paint(where, 'dim')}"
        )
    more = len(found.missed) - _MISSED_SHOWN
    return "\n".join(
        [*lines, f"  and {more:,} more: synaptic evaluate --json"] if more > 0 else lines
    )


def models_text(found: Sequence[Model]) -> str:
    """A line for each model: name, languages, size, dimensions, marks."""
    lines = []
    for one in found:
        marks = {
            "in use": one.in_use,
            "ships": one.ships,
            "downloaded": one.downloaded and not one.ships,
        }
        size = f"{one.megabytes:,} MB" if one.megabytes else ""
        about = (
            f"{one_line(one.name):60} {one.languages:19} {size:>8} {one.dimensions or '':>6}"
        )
        lines.append(
            "  ".join(
                [about, ", ".join(mark for mark, holds in marks.items() if holds)]
            ).rstrip()
        )
    return "\n".join(lines)


def comparison_text(tried: Switch) -> str:
    """Two lines, what the default search does with each model, and a sentence of which is
    better.
    """
    old, new = tried.with_before, tried.with_model
    if not (old and new):
        return (
            f"Not compared with {tried.before}: it has read too little of this journal, or too "
            f"little can be asked."
        )
    rows = [
        f"{one_line(name):60} mean reciprocal rank {one.mrr['default']:.2f}, "
        f"{one.questions - len(one.missed):,} of {one.questions:,} among the first 20"
        for name, one in ((tried.before, old), (tried.model, new))
    ]
    gain, margin = (
        round(new.mrr["default"] - old.mrr["default"], 2) + 0.0,
        math.hypot(old.margin, new.margin),
    )
    how = "about as well" if abs(gain) <= margin else "better" if gain > 0 else "worse"
    return "\n".join(
        (*rows, f"{tried.model} finds your notes {how} ({gain:+.2f}, ± {margin:.2f}).")
    )


def checkup_text(checkup: Checkup, to: Output) -> str:
    """The findings, a line each: level, code, what was found, how to mend it."""
    return "\n".join(
        "  ".join(
            part
            for part in (
                to.paint(f"{f.level:7}", f.level),
                f.code,
                one_line(f.message),
                one_line(f.fix),
            )
            if part
        )
        for f in checkup.findings
    )


def _issue_lines(issues: tuple[ParseIssue, ...], to: Output) -> list[str]:
    lines = [
        f"  {to.path(i.path)}:{i.line}  {one_line(i.message)}" for i in issues[:_ISSUES_SHOWN]
    ]
    more = len(issues) - _ISSUES_SHOWN
    return [*lines, f"  and {more:,} more: synaptic status --json"] if more > 0 else lines


# -- progress
# -----------------------------------------------------------------------------------------


def progress() -> Callable[[str, int, int], None]:
    """A function to report (phase, done, total) to: it keeps a line up to date, or in a pipe
    adds one now and then.
    """
    live = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
    last = time.monotonic()

    def report(phase: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        ends = done >= total
        if now - last < (_LIVE_EVERY_S if live else _LINE_EVERY_S) and not (live and ends):
            return
        last = now
        line = f"{phase} {done:,}/{total:,}"
        end = "\n" if ends or not live else ""
        with contextlib.suppress(OSError):
            print(f"\r{line:60}" if live else line, end=end, file=sys.stderr, flush=True)

    return report
