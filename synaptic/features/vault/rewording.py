"""Replaces words in the texts and titles of all notes that the journal owns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from ...errors import InvalidArgument, NotFound, Sentence
from ...notes.link_places import (
    NoteText,
    Splice,
    byte_offsets,
    find_link_places,
    read_note_text,
)
from ...notes.marks import link_key
from ...notes.screening import Screen
from ...workspace.many_edits import (
    IN_CODE,
    CannotEdit,
    Changes,
    EditedFile,
    EditPlan,
    Notes,
    StayingLine,
    line_numbers,
    plan_edits,
)
from ...workspace.workspace import Workspace
from .tag_places import find_tag_places

IN_FRONT_MATTER = Sentence("in front matter")
IN_NAME = Sentence("in a tag, an address or the name of a file")
IN_WORD = Sentence("within a longer word")
IN_CAPITALS = Sentence("in other capitals")
_WITHIN_WORD = re.compile(r"(?<=\w)(?=\w)")
_ADDRESS = re.compile(r"\w+://[^\s<>]+|\]\([^()\n]*\)")


def plan_word_change(
    ws: Workspace, words: str, new: str, *, confirms: bool = False
) -> EditPlan:
    """The plan that replaces these words by the `new` ones wherever they stand just so, as
    whole words, in texts and titles; links to such a title follow. Each place that stays is
    named.

    Raises NotFound if they stand nowhere, InvalidArgument for no words or the same ones, and
    Refused where a preference in force would change, and nobody confirms it.
    """
    words, new = (" ".join(text.split()) for text in (words, new))
    new = Screen(ws.config.secrets).text("text", new)
    if not words or not new or words == new:
        raise InvalidArgument(
            "The words that stand there, and the new ones, differ and are not empty.",
            'For example: synaptic rename --words "Andromdea" "Andromeda"',
        )
    notes = Notes(ws)
    holding = _notes_that_hold(notes, words)
    titles = {title for path in holding for title in _titles(ws, path, notes.read(path))}
    plan = _plan_in_notes(ws, notes, holding, (words, new), titles, confirms)
    if not plan.edits:
        raise NotFound(
            "No text of the journal holds the words {words!r} just so.",
            '`synaptic find "{words}"` lists what holds them otherwise.',
            words=words,
        )
    again = partial(_plan_again, ws, (words, new), titles, confirms)
    return replace(plan, again=again)


def _notes_that_hold(notes: Notes, words: str) -> list[str]:
    pattern = _pattern(words)
    return [
        path
        for path in notes.paths
        if pattern.search(notes.read(path).decode("utf-8", "replace"))
    ]


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(r"[ \t]+".join(map(re.escape, words.split())), re.IGNORECASE)


def _titles(ws: Workspace, path: str, data: bytes) -> Iterator[int]:
    """Yields the keys of the titles that stand in a note; not that of the name of its file."""
    for entry in ws.journal.parse(path, data).entries:
        if not entry.whole_file or entry.title != PurePosixPath(path).stem:
            yield link_key(entry.title)


def _plan_again(
    ws: Workspace, pair: tuple[str, str], titles: set[int], confirms: bool, path: str
) -> EditPlan:
    return _plan_in_notes(ws, Notes(ws), [path], pair, titles, confirms)


def _plan_in_notes(
    ws: Workspace,
    notes: Notes,
    paths: list[str],
    pair: tuple[str, str],
    titles: set[int],
    confirms: bool,
) -> EditPlan:
    """The plan for these notes; `pair` are the former words and the new ones."""
    words, new = pair
    splices: dict[str, list[Splice]] = {}
    stays: list[StayingLine] = []
    for path in paths:
        data = notes.read(path)
        text = read_note_text(data)
        places = _classify_places(text, words, _spans_of_names(ws, text, titles))
        offsets = byte_offsets(text.raw, [match.start() for match in places])
        staying: dict[str, list[int]] = {}
        for match, why in places.items():
            at = offsets[match.start()]
            if why:
                staying.setdefault(why, []).append(at)
            else:
                splices.setdefault(path, []).append(Splice(at, match[0], new))
        for why, those in staying.items():
            stays += [StayingLine(path, line, why) for line in line_numbers(data, those)]
    changes = Changes("words", splices, check=_check_same_tags)
    return plan_edits(ws, notes, changes, stays, confirms=confirms)


def _classify_places(
    text: NoteText, words: str, names: list[tuple[int, int]]
) -> Mapping[re.Match[str], str]:
    """Maps each place of the words in a note, in order, to the reason why it stays; "" for one
    that is replaced. `names` are the spans of tags, addresses and names of files.
    """
    places = {}
    named = bytearray(len(text.raw))
    for begin, last in names:
        named[begin:last] = b"1" * (last - begin)
    for match in _pattern(words).finditer(text.raw):
        start, end = match.span()
        reason = ""
        if start < text.body:
            reason = IN_FRONT_MATTER
        elif text.plain[start:end] != match[0]:
            reason = IN_CODE
        elif any(named[start:end]):
            reason = IN_NAME
        elif not all(_ends_word(text.raw, at) for at in (start, end)):
            reason = IN_WORD
        elif match[0].split() != words.split():
            reason = IN_CAPITALS
        places[match] = reason
    return places


def _ends_word(text: str, at: int) -> bool:
    """True if no word goes on at this place."""
    return not _WITHIN_WORD.match(text, at)


def _spans_of_names(ws: Workspace, text: NoteText, titles: set[int]) -> list[tuple[int, int]]:
    """The spans of what is named in a note by its tags, addresses and links, but for links to
    the titles.
    """
    spans = [match.span() for match in _ADDRESS.finditer(text.plain)]
    spans += [place[:2] for place in find_tag_places(text, at_tags=ws.config.at_tags)]
    spans += [
        (link.start, link.end)
        for link in find_link_places(text.plain)
        if link.form != "wiki" or link_key(link.target) not in titles
    ]
    return spans


def _check_same_tags(edited: EditedFile) -> None:
    """Raises CannotEdit if an entry would have other tags."""
    for before, after in edited.entries:
        if before.tags != after.tags:
            raise CannotEdit("its tags would be read differently")
