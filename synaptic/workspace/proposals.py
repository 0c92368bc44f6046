"""Keeps the rules that a person typed in a captured session and has not answered yet.

They are not entries: no search and no agent reads them, and only a person's yes makes a
preference of one. Each line of `.state/proposals.log` is JSON, with this machine's mark, on the
sentence with the hash `rule`:

| word       | meaning                                                        |
|------------|----------------------------------------------------------------|
| `proposed` | a person typed `text` in the session `session` of a client     |
| `named`    | a terminal has named it to a person                            |
| `answered` | a person said yes or no; it is not proposed again              |
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from ..journal.machine import append_marked_rows, read_marked_rows
from ..models import frozen
from ..notes.blocks import project_key

LOG = "proposals.log"
MOST_OF_SESSION = 3
"""The most rules that are proposed of one session."""
_FIELDS = ("text", "project", "session", "client", "day")


@frozen
class Proposal:
    """A sentence that a person typed, and that may be a rule for the project; for all projects
    if the project is "". `client` and `day` say where and when it was typed.
    """

    text: str
    project: str
    session: str
    client: str
    day: str

    @property
    def rule(self) -> str:
        """The hash by which the same sentence for the same project is known again."""
        parts = repr((" ".join(self.text.casefold().split()), project_key(self.project)))
        return blake2b(parts.encode(), digest_size=8).hexdigest()


class _Log(NamedTuple):
    """The state of the log: the proposals without an answer by rule, the session of each rule
    that was ever proposed, and the rules that a terminal has named.
    """

    waiting: dict[str, Proposal]
    sessions: dict[str, str]
    named: set[str]


def read_proposals(state: Path) -> tuple[Proposal, ...]:
    """Returns the proposals without an answer, the oldest first; none where the log cannot be
    read.
    """
    return tuple(read_proposal_log(state).waiting.values())


def propose(state: Path, proposals: Iterable[Proposal]) -> None:
    """Adds the new proposals, at most MOST_OF_SESSION of a session. Raises OSError."""
    sessions = read_proposal_log(state).sessions
    rows = []
    for proposal in proposals:
        is_full = list(sessions.values()).count(proposal.session) >= MOST_OF_SESSION
        if proposal.rule in sessions or is_full:
            continue
        sessions[proposal.rule] = proposal.session
        values = {name: getattr(proposal, name) for name in _FIELDS}
        rows.append({"word": "proposed", "rule": proposal.rule, **values})
    append_marked_rows(state / LOG, rows)


def read_proposal_log(state: Path) -> _Log:
    log = _Log({}, {}, set())
    for log_row, is_own in read_marked_rows(state / LOG):
        with suppress(KeyError):
            if is_own:
                _take_row(log, log_row)
    return log


def _take_row(log: _Log, log_row: Mapping[str, str]) -> None:
    rule = log_row["rule"]
    if log_row["word"] == "proposed":
        log.waiting[rule] = Proposal(*(log_row[name] for name in _FIELDS))
        log.sessions[rule] = log_row["session"]
    elif log_row["word"] == "named":
        log.named.add(rule)
    else:
        log.waiting.pop(rule, None)
