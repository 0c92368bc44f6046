"""Checks of the environment, and of the journal against the index; each finding says how to mend it."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator

from .browse import status
from .errors import ModelError, SynapticError
from .models import Checkup, Finding, Receipt
from .sync import rebuild, verify
from .workspace import Workspace
from .writing import index_now, receipt_of

LOW_DISK_BYTES = 100_000_000
LOCK_WAIT_S = 10.0


def checkup(ws: Workspace) -> Checkup:
    """All findings, what needs a person first. Nothing is changed but the index, which is made anew if damaged."""
    findings = sorted(_findings(ws), key=lambda finding: _URGENCY.index(finding.level))
    return Checkup(not any(finding.level in ("error", "warning") for finding in findings), tuple(findings))


def fix(ws: Workspace) -> Checkup:
    """What is left after everything was mended that is safe to mend: queued saves, the index, vectors."""
    ws.journal.drain(LOCK_WAIT_S)
    verify(ws)
    if ws.index.orphans() or ws.index.pending_counts()[1]:
        rebuild(ws)
    return checkup(ws)


def restore_vanished(ws: Workspace, id: str) -> Receipt:
    """The receipt of an acknowledged entry that was nowhere in the journal and was put back.

    Raises NotFound for an id that has not vanished.
    """
    path, entry = ws.journal.restore_done(id)
    return receipt_of(entry, path=path, notices=index_now(ws))


def dismiss(ws: Workspace, id: str) -> None:
    """Forgets a vanished entry, so that it is not named again. Raises NotFound."""
    ws.journal.dismiss(id)


def _findings(ws: Workspace) -> Iterator[Finding]:
    yield from _environment(ws)
    sound = verify(ws)
    if not sound:
        yield Finding("info", "index-damaged", "The index was damaged; it was made anew from the journal.")
    try:
        now = status(ws)
    except SynapticError as error:
        yield Finding("error", error.code, error.message, error.hint)
        return
    yield Finding("ok", "journal", f"Entries: {now.entries:,}, files: {now.files:,}, below {now.journal}.")
    for issue in now.issues:
        yield Finding("warning", issue.code, f"{issue.path}:{issue.line}: {issue.message}", _mend(issue.code))
    if now.queued:
        yield Finding(
            "warning", "queued", f"{now.queued} saved entries wait to join their files.", "synaptic doctor --fix"
        )
    for lost in ws.journal.vanished():
        yield Finding(
            "warning",
            "vanished",
            f"{lost.id} ({lost.title}) was saved to {lost.path} and stands nowhere in the journal now.",
            f"synaptic doctor --restore {lost.id}, or --dismiss {lost.id} if that was meant.",
        )
    if now.pending_vectors:
        yield Finding(
            "info",
            "pending-vectors",
            f"{now.pending_vectors:,} passages are found by words only.",
            "synaptic rebuild-index",
        )
    if orphans := ws.index.orphans():
        yield Finding("error", "orphans", f"{orphans} index rows belong to no entry.", "synaptic doctor --fix")


def _environment(ws: Workspace) -> Iterator[Finding]:
    yield Finding("ok", "versions", f"Python {platform.python_version()}, {ws.index.versions()}.")
    try:
        ws.embedder.load()
        yield Finding("ok", "model", f"The model {ws.embedder.name} loads.")
    except ModelError as error:
        yield Finding("error", error.code, error.message, error.hint)
    for folder in (ws.config.home, ws.config.state):
        if folder.exists() and folder.stat().st_mode & 0o077:
            yield Finding("warning", "permissions", f"Others may read {folder}.", f"chmod 700 {folder}")
    free = shutil.disk_usage(ws.config.home).free
    if free < LOW_DISK_BYTES:
        yield Finding("warning", "disk", f"{free / 1e6:.0f} MB are free below {ws.config.home}.", "Free some space.")


def _mend(code: str) -> str:
    """What a person does about a ParseIssue."""
    return _MENDS.get(code, "Edit that line.")


_MENDS = {
    "duplicate-id": "Merge the two texts, then delete one; a sync-conflict copy can be deleted whole.",
    "open-fence": "Close it with a line of the same three characters.",
    "open-comment": "Close it with -->.",
    "encoding": "Save the file as UTF-8.",
}

_URGENCY = ("error", "warning", "info", "ok")
