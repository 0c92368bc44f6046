"""Checks the environment, the journal and the index. Each finding says how to mend it."""

import errno
import os
import platform
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path, PurePath
from typing import Literal
from zipfile import BadZipFile

from ..errors import ModelError, NotFound, Sentence, SynapticError, join_sentences
from ..files import ASIDE, advice_without_locks, open_regular_file, why_locks_fail
from ..index.database import SQLITE_VERSION
from ..index.lists import list_paths_with_own_entries, map_paths_by_short_id
from ..journal.backups import list_backups, texts_of_backup
from ..journal.disk import STATE_BYTES, disk_errors, explain_errno
from ..journal.draft_files import DraftFiles
from ..journal.folder import Roots
from ..journal.journal_files import JournalFiles
from ..journal.left_out import find_excluded
from ..journal.losses import find_losses, find_lost_files
from ..journal.names import left_out_sentences, printable_path
from ..journal.projects import COPY as PROJECTS_COPY
from ..journal.projects import FILE as PROJECTS
from ..journal.projects import Projects, parse_projects_file
from ..journal.repository import find_checkout
from ..journal.runs import open_import_runs
from ..journal.saved import KEEP_DAYS
from ..journal.shelf import is_home_exposed
from ..models import ParseIssue, Stamp, frozen
from ..notes.copies import find_original
from ..notes.link_names import name_key
from ..notes.picture_kinds import picture_media_type
from ..notes.redaction import line_number
from ..notes.screening import visible_secrets
from ..workspace.index_check import find_wrongly_indexed_paths, verify_index
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .status import Status, status

FIX = "synaptic doctor --fix"
LEFT_OUT_SHOWN = 50
"""Notes that one finding names of those that are left out for one reason."""
Level = Literal["ok", "info", "warning", "error"]


@frozen
class Finding:
    """One line of `doctor`; `fix` is the command or step that mends it."""

    level: Level
    code: str
    message: str
    fix: str = ""


def _finding(
    level: Level, code: str, message: str, fix: str = "", /, **values: object
) -> Finding:
    """The finding that these templates say with the values, as an error does. A text that may
    hold braces of its own is given as a Sentence.
    """
    return Finding(level, code, Sentence(message, **values), Sentence(fix, **values))


@frozen
class Checkup:
    """The findings of `doctor`; `ok` is false while something needs a person."""

    ok: bool
    findings: tuple[Finding, ...]


def run_checkup(ws: Workspace, *, whole: bool = True) -> Checkup:
    """Checks the home, the journal and the index and returns the findings, urgent ones first.
    Changes nothing but a damaged index, which is made anew.

    Unless `whole`, it goes by what is known: no note is read to compare it with the index or
    with stored copies, the index is not searched for damage, and no model is loaded.
    """
    findings = sorted(
        _all_findings(ws, whole=whole), key=lambda finding: _URGENCY.index(finding.level)
    )
    return Checkup(
        not any(finding.level in ("error", "warning") for finding in findings), tuple(findings)
    )


def list_secrets(ws: Workspace) -> Checkup:
    """The places of passwords, tokens and keys in the journal, the trash, copies of saves and
    the backups that are known; never their values.
    """
    files = 0
    findings = []
    not_read: list[Finding] = []
    for path, data, mend in _stored_texts(ws, not_read):
        files += 1
        text = data.decode("utf-8", "replace")
        for secret in visible_secrets(path):
            message = f"{printable_path(path)}: {secret.kind} in the name"
            findings.append(Finding("warning", "secret", message, "Rename it."))
        for secret in visible_secrets(text):
            message = f"{printable_path(path)}:{line_number(text, secret.start)}: {secret.kind}"
            findings.append(Finding("warning", "secret", message, mend))
    if findings:
        return Checkup(False, (*findings, *not_read))
    message = f"No passwords, tokens or keys were found. Files: {files:,}."
    return Checkup(True, (*not_read, Finding("ok", "secrets", message)))


def places_of_words(ws: Workspace, words: str) -> list[str]:
    """The paths of the stored texts that hold these words: notes, and copies beside them; and
    sentences on backups that could not be read.
    """
    not_read: list[Finding] = []
    texts = _stored_texts(ws, not_read)
    paths = [printable_path(path) for path, data, _ in texts if words.encode() in data]
    return [*dict.fromkeys(paths), *(finding.message for finding in not_read)]


def _stored_texts(ws: Workspace, not_read: list[Finding]) -> Iterator[tuple[str, bytes, str]]:
    """(path, bytes, advice how to remove a line) of every file that holds entries. Backups
    that cannot be read are added to `not_read`.
    """
    advice = "Remove it from the file, and replace it where it is used."
    for stamp in ws.journal.scan():
        with suppress(NotFound):
            yield stamp.path, ws.journal.read(stamp.path), advice
    for path, data in _copies_in_state(ws.journal):
        kind = path.relative_to(ws.config.state).parts[0]
        yield path.relative_to(ws.config.home).as_posix(), data, _COPIES[kind]
    for file in list_backups(ws.config.state):
        try:
            for name, data in texts_of_backup(file):
                yield f"{file}: {name}", data, _OF_BACKUP
        except (OSError, BadZipFile, RuntimeError, zlib.error) as error:
            why = "it is not there now" if isinstance(error, FileNotFoundError) else str(error)
            message = f"The backup {printable_path(str(file))} was not read: {why}."
            fix = "Run the command once more where it can be read, or delete that backup."
            not_read.append(Finding("info", "backup", message, fix))

    checkout = find_checkout(ws.config.journal)
    if checkout or ws.config.sync.url:
        where = checkout.root if checkout else ws.config.sync.url
        message = f"Git's history in {where} was not read."
        not_read.append(
            Finding("info", "history", message, "`git log -p` shows it; it keeps what it had.")
        )


_OF_BACKUP = "Delete that backup, and make a new one once the secret is out of the notes."


def _copies_in_state(journal: JournalFiles) -> Iterator[tuple[Path, bytes]]:
    """Path and bytes of every file outside the journal that holds text: trash, `done/`,
    `read/`, open runs, the log of changes, and texts that were added to drafts.
    """
    read = (journal.state / "read").glob("[!.]*")
    done = map(journal.saved.path_of, journal.saved.ids())
    imports = open_import_runs(journal.state)
    runs = (imports.folder / run.name for run in imports.open())
    own = (journal.trash.path, *journal.log.files())
    for path in (
        *own,
        *done,
        *read,
        *runs,
        *filter(_is_text, DraftFiles(journal.state).files()),
    ):
        with disk_errors(path, "read"), suppress(FileNotFoundError):
            yield path, path.read_bytes()


def _is_text(file: Path) -> bool:
    """True for a file that a person reads as text, such as a CSV file."""
    with open_regular_file(file) as opened:
        begin = opened.read(1_024)
    return not picture_media_type(begin) and b"\0" not in begin


def _all_findings(ws: Workspace, *, whole: bool) -> Iterator[Finding]:
    yield _finding(
        "ok",
        "python",
        "Python {version} on {system} {machine}.",
        version=platform.python_version(),
        system=platform.system(),
        machine=platform.machine(),
    )
    for notice in ws.config.notices:
        yield Finding("info", "config", notice)
    try:
        if whole:
            ws.embedder.load()
            text = "The model {name} loads, and its files are intact."
            yield _finding("ok", "model", text, name=ws.embedder.name)
    except ModelError as error:
        yield Finding("error", error.code, error.message, error.hint)
    yield from _home_findings(ws)
    yield from _state_findings(ws)
    try:
        yield from _index_findings(ws) if whole else _known_index_findings(ws)
        yield from _journal_findings(ws, whole=whole)
    except SynapticError as error:
        yield Finding("error", error.code, error.message, error.hint)


def _home_findings(ws: Workspace) -> Iterator[Finding]:
    """Findings on a home among the notes, and on rights and locks, without which nothing can be
    saved.
    """
    home = ws.config.home
    if is_home_exposed(ws.config.journal, home):
        yield _finding(
            "warning",
            "open-home",
            "The journal holds the home {home}: who gets the notes may get its tokens.",
            "End all that runs Synaptic, move the home out of the journal or rename it so that "
            "it begins with a dot, name it by SYNAPTIC_HOME or --home, and run "
            "`synaptic setup` again.",
            home=home,
        )
    is_exposed = is_open_to_others(home)
    if is_exposed:
        mend = _READ_ONLY[1] if _is_read_only(home) else "{fix}, or chmod 700 {home}"
        text = "Other users may look into {home}."
        yield _finding("warning", "permissions", text, mend, fix=FIX, home=home)
    folders = ws.config.journal, home, ws.config.state
    shut = [folder for folder in folders if not os.access(folder, _USE)]
    for folder in shut:
        mend = "Give its owner the rights: chmod u+rwx {folder}"
        text, reason = "{folder} is missing.", ""
        if folder.exists():
            text = "{folder} cannot be written: nothing can be saved."
        if _is_read_only(folder):
            reason, mend = _READ_ONLY
            text = "{folder} cannot be written: {reason}; nothing can be saved."
        yield _finding("error", "permissions", text, mend, folder=folder, reason=reason)
    damage = _damage_of_projects(ws.config.state)
    if damage:
        yield Finding("warning", "projects", *damage)
    refusal = "" if shut else why_locks_fail(ws.config.state)
    if refusal:
        yield _finding(
            "error",
            "locks",
            "{state} cannot be locked: {refusal}. Every save is refused.",
            Sentence(advice_without_locks(ws.config.journal)),
            state=ws.config.state,
            refusal=refusal,
        )
    if not shut and not refusal and not is_exposed:
        text = "{home} is yours alone, and the journal can be written."
        yield _finding("ok", "permissions", text, home=home)


def _state_findings(ws: Workspace) -> Iterator[Finding]:
    """Findings on what stands in the place of a file of the home and is none, or was moved out
    of its way.
    """
    state = ws.config.state
    names = os.listdir(state) if state.is_dir() else []  # noqa: PTH208
    for name in sorted(name for name in names if not name.startswith("tmp")):
        path = state / name
        kind = _describe_kind(path)
        if ASIDE in name:
            text = "{path} stood in the place of a file of Synaptic and was moved aside."
            yield _finding("info", "state-file", text, "Look at it, then delete it.", path=path)
        elif kind != ("a folder" if name in _STATE_FOLDERS else ""):
            text = "{path} is {kind}, and no regular file, so it is not read."
            if name in _STATE_FOLDERS:
                text = "{path} is {kind}, and no folder, so it is not read."
            mend = "Move it away; Synaptic makes what it needs, and moves it aside to do so."
            what = Sentence(kind or "a file")
            yield _finding("warning", "state-file", text, mend, path=path, kind=what)
        elif not kind and path.stat().st_size > STATE_BYTES and name not in _LARGE:
            text = "{path} has more than {most:,} bytes, so it is not read."
            yield _finding(
                "warning", "state-file", text, "Move it away.", path=path, most=STATE_BYTES
            )


def _describe_kind(path: Path) -> str:
    """What stands at a path, in words; "" for a regular file, also at the end of a link."""
    with suppress(OSError):
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            return ""
        return next((word for is_kind, word in _KINDS if is_kind(mode)), "a device")
    return "a link that leads nowhere" if path.is_symlink() else ""


def _known_index_findings(ws: Workspace) -> Iterator[Finding]:
    """Findings on the index that need no comparison with the notes."""
    pending = in_step(ws, lambda _: ws.index.counts().pending_passages)
    yield from _trouble_findings(ws)
    yield from _pending_findings(pending)


def _index_findings(ws: Workspace) -> Iterator[Finding]:
    """Findings on the index, for which each note is read again and compared with it."""
    if not verify_index(ws):
        yield Finding(
            "info", "index-damaged", "The index was damaged; it was rebuilt from the journal."
        )
    yield from _trouble_findings(ws)
    astray = find_wrongly_indexed_paths(ws)
    for path in astray[:3]:
        text = "The index does not match the file {path}. Files that differ: {n}."
        yield _finding("error", "orphans", text, FIX, path=printable_path(path), n=len(astray))
    fault, pending = in_step(ws, lambda _: check_index(ws))
    if fault:
        yield Finding("error", "orphans", f"{fault}.", FIX)
    if not astray and not fault:
        text = "The index is sound and shows the journal (SQLite {version})."
        yield _finding("ok", "index", text, version=SQLITE_VERSION)
    yield from _pending_findings(pending)


def _pending_findings(pending: int) -> Iterator[Finding]:
    """A finding on passages without a vector, if there are any."""
    if pending:
        text = "Parts of notes that are found by words, not yet by meaning: {n:,}."
        yield _finding("info", "pending-vectors", text, "synaptic rebuild-index", n=pending)


def _trouble_findings(ws: Workspace) -> Iterator[Finding]:
    """A finding on an index that cannot be written to its disk."""
    if ws.index.file.trouble:
        mend = "Mend that, or move {path} away; Synaptic rebuilds it."
        if _is_read_only(ws.config.state):
            mend = _READ_ONLY[1]
        elif why_locks_fail(ws.config.state, ranges=True):
            mend = Sentence(advice_without_locks(ws.config.journal))
        text = "{trouble}, so each process keeps its own in memory."
        file = ws.index.file
        yield _finding("error", "index-error", text, mend, trouble=file.trouble, path=file.path)


def _journal_findings(ws: Workspace, *, whole: bool) -> Iterator[Finding]:
    now = status(ws)
    yield _finding(
        "ok",
        "journal",
        "Entries: {entries:,}, files: {files:,}, below {journal}.",
        entries=now.entries,
        files=now.files,
        journal=now.journal,
    )
    yield from _source_findings(ws)
    if whole:
        yield from _exclude_findings(ws)
    yield from _file_findings(ws, now, whole=whole)
    yield from _loss_findings(ws)


def _source_findings(ws: Workspace) -> Iterator[Finding]:
    """Findings on interrupted imports and renames, and on folders that are not read."""
    for run in open_import_runs(ws.journal.state).open():
        yield _finding(
            "warning",
            "import",
            "The import {name} was interrupted.",
            "`{fix}` finishes it, `synaptic import --undo {name}` takes it back.",
            fix=FIX,
            name=run.name,
        )
    if ws.journal.has_unfinished_rename:
        text = "A rename was interrupted."
        yield _finding("warning", "rename", text, "`{fix}` finishes it.", fix=FIX)
    for absent in ws.journal.roots.absent():
        mend = "Mount it, give its owner the rights, or take it out of `sources`."
        yield Finding("warning", "source", absent, mend)
    for name in filter(None, ws.config.roots):
        hidden = ws.config.journal / name
        if hidden.is_dir():
            text = "{hidden} is not read: its name is another folder's."
            yield _finding("warning", "source", text, "Rename it.", hidden=hidden)


def _exclude_findings(ws: Workspace) -> Iterator[Finding]:
    """A finding for each glob of `exclude` that fits notes in other capitals only, and so none
    of them.
    """
    for glob in ws.config.exclude:
        roots = Roots(ws.config.roots, [glob])
        notes = [path for path in find_excluded(roots) if PurePath(path).name[0] != "."]
        ways = {str(way) for path in notes for way in (PurePath(path), *PurePath(path).parents)}
        if notes and not any(
            roots.excludes(way, root) for way in ways for root in roots.folders
        ):
            yield _finding(
                "warning",
                "exclude",
                "exclude: {glob} leaves out no note, because capitals count: {path} is read.",
                "Write it in config.toml as the folder is written.",
                glob=glob,
                path=printable_path(notes[0]),
            )


def _file_findings(ws: Workspace, now: Status, *, whole: bool) -> Iterator[Finding]:
    """Findings on single files and lines; if `whole`, each note is read."""
    copies = list(_differing_copies(ws))
    for original, path in copies:
        lacking = printable_path(original)
        yield _finding(
            "warning",
            "conflict-copy",
            "{path} is a copy of {original}, left by a program that syncs files, "
            "and its text differs.",
            Sentence("Take over what {path} lacks, then delete the copy.", path=lacking),
            path=printable_path(path),
            original=lacking,
        )
    named = {path for _, path in copies}
    for issue in _issues_in_words(ws, now.issues):
        if issue.code == "duplicate-id" and issue.path in named:
            continue
        where = f"{printable_path(issue.path)}:{issue.line}"
        message = Sentence("{where}: {text}", where=where, text=Sentence(issue.message))
        yield Finding("warning", issue.code, message, _MENDS.get(issue.code, _MENDS["comment"]))
    for reason, texts in left_out_sentences(now.left_out, LEFT_OUT_SHOWN).items():
        level: Level = "warning" if reason in ("name", "unreadable") else "info"
        yield Finding(level, "left-out", *texts)
    stamps = list(ws.journal.scan())
    for pair in _names_that_fold(stamps):
        text = "{pair} differ only by case: macOS and Windows take them for one file."
        yield _finding("info", "case", text, "Rename one of them.", pair=pair)
    for stamp in stamps if whole else ():
        try:
            data = ws.journal.read(stamp.path)
        except NotFound as error:
            if ws.journal.stamp(stamp.path):  # it is there, and its disk refuses it
                yield Finding("warning", "left-out", error.message, error.hint)
            continue
        for id, _ in ws.journal.copies_with_private_text(stamp.path, data):
            text = "The trash or done/ shows text of {id} that is private now."
            yield _finding("warning", "private-copy", text, FIX, id=id)


def _issues_in_words(ws: Workspace, issues: Iterable[ParseIssue]) -> Iterator[ParseIssue]:
    """Yields the issues of files with the sentences that say them, of which the index keeps the
    English text alone.
    """
    for path, of_file in groupby(issues, key=lambda issue: issue.path):
        sentences = {}
        with suppress(SynapticError):  # it changed since, or is gone
            read = ws.journal.parse(path, ws.journal.read(path)).issues
            sentences = {issue.message: issue.message for issue in read}
        for issue in of_file:
            twin = _TWIN_OF_INDEX.fullmatch(issue.message)
            if twin:
                yield replace(issue, message=Sentence(_TWIN, **twin.groupdict()))
            else:
                yield replace(issue, message=sentences.get(issue.message, issue.message))


def _names_that_fold(stamps: Iterable[Stamp]) -> Iterator[str]:
    """Yields the names of notes that differ only by case, as `A.md and a.md`."""
    groups: dict[str, list[str]] = {}
    for stamp in stamps:
        groups.setdefault(name_key(stamp.path), []).append(printable_path(stamp.path))
    for paths in groups.values():
        if len(paths) > 1:
            yield join_sentences(sorted(paths), "{one} and {other}")


def _loss_findings(ws: Workspace) -> Iterator[Finding]:
    """Findings on saved or deleted texts that somebody else overwrote or brought back, and on
    files of imports that somebody removed.
    """
    standing = in_step(ws, lambda _: map_paths_by_short_id(ws.index)).values()
    for lost in find_lost_files(ws.journal, {id for id, _ in standing}):
        yield _finding(
            "warning",
            "vanished",
            "The file {path} of the import {name} is gone. Entries: {n:,}.",
            "Take the file out of a backup; or run `synaptic import --undo {name}`, and "
            "import again. If that was meant, do nothing: it is named for {days} days.",
            path=printable_path(lost.path),
            name=lost.run,
            n=len(lost.ids),
            days=KEEP_DAYS,
        )
    for loss in find_losses(ws.journal):
        path = printable_path(loss.path)
        yield _finding("warning", *_LOSSES[loss.what], id=loss.id, title=loss.title, path=path)


def _differing_copies(ws: Workspace) -> Iterator[tuple[str, str]]:
    """Yields (original, copy) for each file that is by its name a copy, such as `x 2.md`, but
    holds an entry that no other file holds.
    """
    own = in_step(ws, lambda _: set(list_paths_with_own_entries(ws.index)))
    paths = {stamp.path for stamp in ws.journal.scan()}
    for path in sorted(paths & own):
        original = find_original(path, paths, ws.journal.read)
        if original is not None:
            yield original, path


def check_index(ws: Workspace) -> tuple[str | None, int]:
    """(the fault of the index, or None; the number of passages without a vector)."""
    return ws.index.file.check(whole=True), ws.index.counts().pending_passages


def _is_read_only(folder: Path) -> bool:
    """True if the file system of a folder is mounted read-only."""
    if sys.platform == "win32" or not folder.exists():
        return False
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


_READ_ONLY = explain_errno(errno.EROFS)
"""The reason and the next step, as a save says them."""


def is_open_to_others(home: Path) -> bool:
    """True if other users can look into the home, which closes all that is in it."""
    return home.is_dir() and bool(stat.S_IMODE(home.stat().st_mode) & 0o077)


_USE = os.R_OK | os.W_OK | os.X_OK

_STATE_FOLDERS = frozenset(
    "briefings capture changes done drafts imports lines models read renames run".split()
) | {"sync.git"}
"""The folders of the state folder; whatever else stands in it is a file."""
_LARGE = frozenset(["trash.md"])
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
)

_COPIES = {
    "trash.md": "`synaptic delete ID --purge` leaves no copy of an entry; or delete the "
    "lines there.",
    "done": "Delete that file, or wait: a copy is kept for seven days.",
    "read": "Delete that file, or wait: a copy is kept for seven days.",
    "drafts": "Log out in the browser with that draft, or delete the file.",
    "changes": "`synaptic delete ID --purge` leaves no copy of an entry; or delete that file: "
    "its changes then cannot be taken back.",
    "imports": "`synaptic doctor --fix` puts the entry into its file; remove it there.",
}

_TWIN = "the id {id} belongs to another entry too; this one is known as {name}"
_TWIN_OF_INDEX = re.compile(_TWIN.format(id=r"(?P<id>\S+)", name=r"(?P<name>\S+)"))

_MENDS = {
    "comment": "Edit that line.",
    "duplicate-id": "Merge the two texts, then delete one; a sync-conflict copy can be "
    "deleted whole.",
    "open-fence": "Close it with a line of the same three characters.",
    "fenced-entry": "Remove these fences, or begin the first with ```markdown if it is a "
    "sample.",
    "open-comment": "Close it with -->.",
    "open-private": "Close it with </private>.",
    "stray-comment": "Write its heading above it, for example `## 09:30 Title`, or delete "
    "the comment.",
    "encoding": "Save the file as UTF-8.",
    "front-matter": "Mend this line of the front matter.",
    "conflict-marker": "`synaptic review` asks which to keep; or delete the <<<<<<<, ======= "
    "and >>>>>>> lines in your editor.",
}

_LOSSES = {
    "vanished": (
        "vanished",
        "{id} ({title}) no longer stands in {path} as it was saved.",
        "synaptic doctor --restore {id}, or synaptic doctor --dismiss {id} if that was meant.",
    ),
    "deleted": (
        "returned",
        "{id} ({title}) was deleted, and stands again in {path}.",
        "synaptic delete {id}, or synaptic doctor --dismiss {id} if that was meant.",
    ),
    "changed": (
        "returned",
        "{id} ({title}) lost its last change: the text before it stands in {path}.",
        "Change it again, or synaptic doctor --dismiss {id} if that was meant.",
    ),
}

_URGENCY = ("error", "warning", "info", "ok")


def _damage_of_projects(state: Path) -> tuple[str, str] | None:
    """A damage of the file of projects, and its cure; None if it is sound."""
    file = state / PROJECTS
    if parse_projects_file(file) is not None or not os.path.lexists(file):
        return None
    if Projects(state).is_damaged:
        return (
            f"{file} and its copy {PROJECTS_COPY} are damaged: no repository gets the name of "
            f"its folder, because that may be another's.",
            "Bring one of them back from a backup. Or delete both: entries that carry their "
            "repository are found again, others go to the first folder of their name.",
        )
    cure = "Its second copy is used; the next save in a repository writes it anew."
    return f"{file} is damaged.", cure
