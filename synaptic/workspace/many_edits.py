"""Changes many files as one, as a rename does: plans the edits, makes them, takes them back,
and finishes what was killed.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from operator import attrgetter

from ..errors import Busy, Changed, IndexFailed, NotFound, Refused, Sentence, SynapticError
from ..index.database import BUSY_TIMEOUT_MS
from ..journal import renames
from ..journal.changelog import Deed
from ..journal.disk import REVIEWED, UNFINISHED, overwrite, read_state_json
from ..journal.folder import is_note
from ..journal.rewriting import is_own_note
from ..journal.runs import FileEdit, Run, open_rename_runs
from ..journal.standing import UNDO, records_of_run
from ..journal.trash import file_hash
from ..models import Entry, Texts, frozen, short_id
from ..notes.blocks import LONE_CR, MASK
from ..notes.header import hash_of_heading
from ..notes.link_places import Splice, read_note_text, replace_pieces, splices_of_ids
from ..notes.privacy import mask_private
from .rule_changes import rows_of_changed_rules
from .sync import in_step
from .workspace import Workspace

IN_SOURCE = Sentence("in a source that is only read")
IN_CODE = Sentence("in code or a comment")
"""Why a line stays; what stands in code is no link that breaks."""
ROUNDS = 4
"""The most rounds in which ids that change change others. Two are usual."""
MORE_ROUNDS = 2
"""The rounds in which files are edited that changed meanwhile."""
_AROUND = 40
"""Characters that are shown before and after a change."""
_ID = re.compile(rb"(?<![0-9a-z])[0-9a-z]{8}(?![0-9a-z])")
"""Matches the part of an id by which links and comments name an entry."""
_H2 = re.compile(rb"(?m)^##[ \t][^\n]*$")
_LINE_END = re.compile(rb"\r(?!\n)|\n")
_OWN = re.compile(rb"(?<=[ \t])own=([0-9a-f,]+)(?=[ \t]|-->)")


@frozen
class ChangedLine:
    """A line that changes: the part of it around the change, before and after."""

    path: str
    line: int
    before: str
    after: str


@frozen
class StayingLine:
    """A place that a rename does not change, although it names what is renamed, and why."""

    path: str
    line: int
    why: str


@frozen
class FolderMove:
    """A folder that gets another path, and the folders in it, itself too, that its files
    leave.
    """

    path: str
    to: str
    left: Texts


@frozen
class EditPlan:
    """The changes of a rename. `moves` are the new paths of notes by the old ones, and those of
    all other files in a `folder` that moves. `again` plans one file anew, which changed since,
    after the moves.
    """

    kind: str
    moves: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[ChangedLine, ...] = ()
    stays: tuple[StayingLine, ...] = ()
    edits: tuple[FileEdit, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Mapping[str, str], ...] = ()
    notices: Texts = ()
    folder: FolderMove | None = None
    again: Callable[[str], EditPlan] | None = field(default=None, compare=False, repr=False)

    @property
    def file_count(self) -> int:
        """The number of files in which lines change."""
        return len({line.path for line in self.lines})


@frozen
class Renamed:
    """A rename that was carried out, or taken back, by its name; the paths of files that
    `stay`, because they were edited since, or again and again meanwhile.
    """

    run: str
    file_count: int
    stay: Texts = ()


class CannotEdit(Exception):
    """Raised with the reason why a file would read differently after an edit."""


class EditedFile:
    """The edit of one file: its bytes before and after, its entries before and after, and the
    ids that change. `asked` are the splices that were asked for.
    """

    def __init__(
        self, ws: Workspace, path: str, to: str, data: bytes, splices: Sequence[Splice]
    ) -> None:
        self.asked = tuple(splices)
        self.splices = tuple(sorted([*splices, *_splices_of_owners(data, splices)]))
        after = replace_pieces(data, self.splices)
        was = ws.journal.parse(path, data)
        now = ws.journal.parse(to, after)
        counts = len(was.entries), len(was.issues)
        if counts != (len(now.entries), len(now.issues)):
            raise CannotEdit("its entries would be read differently")
        self.entries = list(zip(was.entries, now.entries, strict=True))
        if any(_is_other(*pair) for pair in self.entries):
            raise CannotEdit("its entries would be read differently")
        self.ids = {old.id: new.id for old, new in self.entries if old.id != new.id}
        self.edit = FileEdit(path, to, file_hash(data), file_hash(after), self.splices)


def _is_other(before: Entry, after: Entry) -> bool:
    """True if an entry changed in more than its words, its tags and its id."""
    if before.dated != after.dated or before.derived_id != after.derived_id:
        return True
    kind = before.type, before.project, before.whole_file, before.at if before.dated else None
    return kind != (
        after.type,
        after.project,
        after.whole_file,
        after.at if after.dated else None,
    )


def _splices_of_owners(data: bytes, splices: Sequence[Splice]) -> Iterator[Splice]:
    """Yields the changes of comments that name the H2s of an agent's entry by their hashes,
    where such a heading changes.
    """
    if b"own=" not in data:
        return
    hashes = {}
    for heading in _H2.finditer(data):
        inside = [
            splice._replace(at=splice.at - heading.start())
            for splice in splices
            if heading.start() <= splice.at < heading.end()
        ]
        if inside:
            old_heading, new_heading = heading[0], replace_pieces(heading[0], inside)
            names = [
                hash_of_heading(line.decode("latin-1")) for line in (old_heading, new_heading)
            ]
            hashes[names[0]] = names[1]
    for owner in _OWN.finditer(data) if hashes else ():
        for name in re.finditer(rb"[0-9a-f]{6}", owner[1]):
            new_hash = hashes.get(name[0].decode())
            if new_hash:
                at = owner.start(1) + name.start()
                yield Splice(at, name[0].decode(), new_hash)


class Notes:
    """The notes of a journal and its sources, each read once."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._data: dict[str, bytes] = {}
        self.paths = [stamp.path for stamp in ws.journal.scan()]

    def read(self, path: str) -> bytes:
        """The bytes of a note; none of one that is gone."""
        if path not in self._data:
            self._data[path] = self._ws.journal.read_all([path]).get(path, b"")
        return self._data[path]

    def is_own(self, path: str) -> bool:
        """True for a note that Synaptic may change, and not only read."""
        return is_own_note(self._ws.journal, path)


@frozen
class Changes:
    """What a rename replaces in each note, and the notes that move. `check` raises CannotEdit
    where an edit would say something else.
    """

    kind: str
    splices: Mapping[str, Sequence[Splice]]
    moves: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[EditedFile], None] = lambda _: None


def plan_edits(
    ws: Workspace,
    notes: Notes,
    changes: Changes,
    stays: Sequence[StayingLine] = (),
    *,
    confirms: bool,
) -> EditPlan:
    """The plan of these changes, and of those by which other notes follow an entry that gets
    another id. What would change in a source stays. Raises Refused where a preference in force
    would change, and nobody `confirms` it.
    """
    ids: dict[str, str] = {}
    edited: dict[str, EditedFile] = {}
    failures: list[StayingLine] = []
    for _ in range(ROUNDS):
        edited, failures = _edit_files(ws, notes, changes, ids, edited)
        new_ids: dict[str, str] = {}
        for one in edited.values():
            new_ids |= one.ids
        if new_ids == ids:
            break
        ids = new_ids
    pairs = [pair for one in edited.values() for pair in one.entries]
    rules = in_step(ws, lambda _: rows_of_changed_rules(ws, pairs))
    if any(rule["word"] == "yes" for rule in rules) and not confirms:
        raise Refused(
            "It would change a preference that the user confirmed; only the user does that.",
            "Ask them to rename it in a terminal of their own, or on the page.",
        )
    lines = [
        line
        for path, one in edited.items()
        for line in changed_lines(path, notes.read(path), one.splices)
    ]
    return EditPlan(
        changes.kind,
        changes.moves,
        tuple(lines),
        tuple(sorted({*stays, *failures}, key=attrgetter("path", "line", "why"))),
        (*(one.edit for one in edited.values()), *_moves_of_files(ws, changes.moves)),
        ids,
        rules,
    )


def _moves_of_files(ws: Workspace, moves: Mapping[str, str]) -> Iterator[FileEdit]:
    """Yields the moves of files that are no notes, of which each is read once and let go."""
    for path, to in moves.items():
        if not is_note(path):
            unchanged = file_hash(ws.journal.read(path))
            yield FileEdit(path, to, unchanged, unchanged)


def _edit_files(
    ws: Workspace,
    notes: Notes,
    changes: Changes,
    ids: Mapping[str, str],
    earlier: Mapping[str, EditedFile],
) -> tuple[dict[str, EditedFile], list[StayingLine]]:
    """(the edits by path, moved notes first; the lines that cannot be edited). An edit of the
    round before that is the same is taken as it is.
    """
    edited: dict[str, EditedFile] = {}
    failures = []
    named = {id[9:].encode() for id in ids}
    others = notes.paths if ids else ()
    moved = filter(is_note, changes.moves)
    for path in dict.fromkeys((*moved, *changes.splices, *others)):
        data = notes.read(path)
        to = changes.moves.get(path, path)
        splices = list(changes.splices.get(path, ()))
        if not notes.is_own(path):
            lines = line_numbers(data, [splice.at for splice in splices])
            failures += [StayingLine(path, line, IN_SOURCE) for line in lines]
            continue
        if not named.isdisjoint(_ID.findall(data) if named else ()):
            taken = {splice.at for splice in splices}
            more = splices_of_ids(data, read_note_text(data), ids)
            splices += [splice for splice in more if splice.at not in taken]
        if not splices and to == path:
            continue
        if path in earlier and earlier[path].asked == tuple(splices):
            edited[path] = earlier[path]
            continue
        try:
            one = EditedFile(ws, path, to, data, splices)
            changes.check(one)
        except CannotEdit as error:
            lines = line_numbers(data, [splice.at for splice in splices])
            failures += [StayingLine(path, line, error.args[0]) for line in lines]
            if to != path:
                raise Refused(
                    "{path}:{line} cannot be changed: {error}.",
                    "Rename it in an editor; `synaptic review` mends the links to it.",
                    path=path,
                    line=lines[0] if lines else 1,
                    error=error.args[0],
                ) from error
            continue
        edited[path] = one
    return edited, failures


def line_numbers(data: bytes, offsets: Iterable[int]) -> list[int]:
    """The lines of these offsets, from 1, each once and in order."""
    ends = [end.start() for end in _LINE_END.finditer(data)]
    return sorted({bisect_left(ends, offset) + 1 for offset in offsets})


def changed_lines(path: str, data: bytes, splices: Sequence[Splice]) -> Iterator[ChangedLine]:
    """Yields the lines that change, cut to what stands around the change, without private
    text.
    """
    before = mask_private(data).replace(MASK, b" ")
    after = replace_pieces(before, splices)
    texts = [LONE_CR.sub("\n", text.decode("utf-8", "replace")) for text in (before, after)]
    lines = [text.split("\n") for text in texts]
    for number in line_numbers(data, [splice.at for splice in splices]):
        pair = cut_around_change(lines[0][number - 1], lines[1][number - 1])
        yield ChangedLine(path, number, *pair)


def cut_around_change(before: str, after: str) -> tuple[str, str]:
    """Two texts, cut to the parts that differ and some words around them."""
    start = _equal_signs(before, after)
    end = _equal_signs(before[start:][::-1], after[start:][::-1])
    cut = []
    for text in (before, after):
        first = max(0, start - _AROUND)
        last = min(len(text), len(text) - end + _AROUND)
        piece = " ".join(text[first:last].split())
        cut.append(("…" if first else "") + piece + ("…" if last < len(text) else ""))
    return cut[0], cut[1]


def _equal_signs(one: str, other: str) -> int:
    """The number of characters with which both texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def describe_stays(stays: Sequence[StayingLine]) -> Texts:
    """A sentence for each reason why links stay and will break."""
    reasons: dict[str, list[StayingLine]] = {}
    for stay in stays:
        reasons.setdefault(stay.why, []).append(stay)
    texts = []
    for why, those in reasons.items():
        text = "{n:,} links are not changed, and will break: {why}."
        if len(those) == 1:
            text = "1 link is not changed, and will break: {why}."
        texts.append(Sentence(text, n=len(those), why=why))
    return tuple(texts)


# -- making them


def make_edits(ws: Workspace, plan: EditPlan) -> Renamed:
    """Carries a plan out, many files at once; returns it with the name that takes it back.

    A file that changed since it was planned, as a program appends to it, is planned and edited
    anew, twice; what changes each time is named.

    Raises Changed if no file could be changed, Refused, Busy and JournalError.
    """
    finish_edits(ws)
    ws.index.flush()  # the counts of reads, while the ids are the old ones
    name = f"{plan.kind}-{ws.clock():%Y%m%d-%H%M%S}"
    while records_of_run(ws.journal, name):
        name += "a"
    folders = renames.folders_to_make(ws.journal, list(plan.moves.values()))
    left = plan.folder.left if plan.folder else ()
    run = Run(
        name,
        edits=plan.edits,
        ids=plan.ids,
        rules=plan.rules,
        folders=folders,
        left_folders=left,
    )
    with ws.own_journal.doing(plan.kind) as deed:
        return _make_edits(ws, plan, run, deed)


def _make_edits(ws: Workspace, plan: EditPlan, run: Run, deed: Deed) -> Renamed:
    with ws.own_journal.writing():
        run = renames.begin(ws.own_journal, run)
        renames.describe_run(ws.own_journal, run, deed)
        run = renames.carry_out(ws.own_journal, run)
    for _ in range(MORE_ROUNDS):
        run = _go_round_again(ws, plan, run)
    if run.left and not run.edits:
        with ws.own_journal.writing():
            open_rename_runs(ws.journal.state).drop(UNFINISHED)
        raise Changed(
            "{path} is changed again and again; nothing was renamed.",
            "Try again when the program that writes it is done.",
            path=run.left[0].path,
        )
    return _end(ws, run)


def _go_round_again(ws: Workspace, plan: EditPlan, run: Run) -> Run:
    """Edits each file that is `left`, as it is now; returns the run with these edits."""
    moved = {edit.path for edit in run.edits if edit.path != edit.to}
    wanted = {old_path for old_path, new_path in plan.moves.items() if old_path != new_path}
    if not plan.again or not wanted <= moved:  # a note stayed: its links still lead to it
        return run
    left: list[FileEdit] = []
    for edit in run.left:
        try:
            more = plan.again(edit.to)
        except NotFound:  # it is gone, or what was to change
            continue
        except Refused:
            left.append(edit)
            continue
        if not more.edits:
            left += [edit] if more.stays else []
            continue
        with ws.own_journal.writing():
            again = Run(run.name, edits=more.edits, ids=more.ids, rules=more.rules)
            run = renames.carry_out_more(ws.own_journal, run, again)
        left += run.left
    return replace(run, left=tuple(left))


def take_back(ws: Workspace, name: str) -> Renamed:
    """Takes a rename back. Files whose lines were edited since stay, and are named.

    Raises InvalidArgument for an unknown name, Refused if a note's old path is taken.
    """
    finish_edits(ws)
    with ws.own_journal.writing():
        back = renames.reversed_run(ws.own_journal, name)
    pairs = [pair for one in _reread_edits(ws, back.edits) for pair in one.entries]
    rules = in_step(ws, lambda _: rows_of_changed_rules(ws, pairs))
    back = replace(back, rules=rules)
    with ws.own_journal.doing(UNDO) as deed:
        with ws.own_journal.writing():
            renames.begin(ws.own_journal, back)
            renames.describe_run(ws.own_journal, back, deed)
            back = renames.carry_out(ws.own_journal, back)
        return _end(ws, back)


def _reread_edits(ws: Workspace, edits: Sequence[FileEdit]) -> Iterator[EditedFile]:
    for edit in edits:
        if not is_note(edit.path):
            continue
        with suppress(CannotEdit, NotFound):
            yield EditedFile(ws, edit.path, edit.to, ws.journal.read(edit.path), edit.pieces)


def finish_edits(ws: Workspace) -> Renamed | None:
    """Finishes a rename that was killed; returns it, None if there is none.

    While another process carries it out, it is left to that one.
    """
    if ws.access.is_past or not renames.unfinished_run(ws.journal):
        return None
    run = None
    with ws.own_journal.writer.unlogged(), ws.own_journal.doing("") as deed:
        with suppress(Busy), ws.own_journal.writer.locked(0):
            run = renames.unfinished_run(ws.journal)
            if run:
                renames.describe_run(ws.own_journal, run, deed)
                run = renames.carry_out(ws.own_journal, run)
        return _end(ws, run) if run else None


def _end(ws: Workspace, run: Run) -> Renamed:
    """Indexes what a run changed, lets the counts of reads follow the ids, and closes it."""
    with suppress(SynapticError):  # the next search reads the files
        in_step(ws, lambda _: None)
        if run.ids:
            with suppress(IndexFailed), ws.index.writing(BUSY_TIMEOUT_MS) as writer:
                writer.move_counts(run.ids)
    with ws.own_journal.writing():
        _move_review_answers(ws, run.ids)
        renames.close(ws.own_journal, run)
    paths = {edit.path for edit in run.edits if edit.before != edit.after}
    stay = {edit.path if run.back else edit.to for edit in run.left}
    return Renamed(run.name, len(paths), tuple(sorted(stay)))


def _move_review_answers(ws: Workspace, ids: Mapping[str, str]) -> None:
    """Lets what a person keeps in reviews follow entries that got another id."""
    file = ws.config.state / REVIEWED
    answers = read_state_json(file)
    names = {short_id(old_id): short_id(new_id) for old_id, new_id in ids.items()}
    moved = {}
    for key, state in answers.items():
        parts = [names.get(part, part) for part in key.split(":")]
        moved[":".join(parts)] = state
    if moved != answers:
        overwrite(file, json.dumps(moved).encode())
