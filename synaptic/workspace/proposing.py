"""Writes the log that `proposals` reads: rules are proposed, named by a terminal, answered, or
forgotten with their session.
"""

from collections.abc import Iterable
from pathlib import Path

from ..journal.disk import overwrite, read_state_lines
from ..journal.machine import append_marked_rows
from .proposals import FIELDS, LOG, Proposal, read_proposal_log

MOST_OF_SESSION = 3
"""The most rules that are proposed of one session."""


def propose(state: Path, proposals: Iterable[Proposal]) -> None:
    """Adds the new proposals, at most MOST_OF_SESSION of a session. Raises OSError."""
    sessions = read_proposal_log(state).sessions
    rows = []
    for proposal in proposals:
        is_full = list(sessions.values()).count(proposal.session) >= MOST_OF_SESSION
        if proposal.rule in sessions or is_full:
            continue
        sessions[proposal.rule] = proposal.session
        values = {name: getattr(proposal, name) for name in FIELDS}
        rows.append({"word": "proposed", "rule": proposal.rule, **values})
    append_marked_rows(state / LOG, rows)


def name_proposals(state: Path) -> int:
    """Returns the number of proposals that no command has named at a terminal yet; from now on
    they are named. Raises OSError.
    """
    log = read_proposal_log(state)
    new = [rule for rule in log.waiting if rule not in log.named]
    append_marked_rows(state / LOG, [{"word": "named", "rule": rule} for rule in new])
    return len(new)


def note_answer(state: Path, proposal: Proposal) -> None:
    """Notes that a person answered the proposal. Raises OSError."""
    append_marked_rows(state / LOG, [{"word": "answered", "rule": proposal.rule}])


def forget_proposals(state: Path, session: str) -> None:
    """Removes all proposals of a session from the file. Raises OSError."""
    gone = {
        rule
        for rule, of_session in read_proposal_log(state).sessions.items()
        if of_session == session
    }
    if not gone:
        return
    lines = read_state_lines(state / LOG)
    left = [line for line in lines if not any(f'"{rule}"' in line for rule in gone)]
    overwrite(state / LOG, "".join(f"{line}\n" for line in left).encode())
