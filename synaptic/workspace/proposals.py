"""Reads the rules that a person typed in a captured session and has not answered yet.

They are not entries: no search and no agent reads them, and only a person's yes makes a
preference of one. Each line of `.state/proposals.log` is JSON, with this machine's mark, on the
sentence with the hash `rule`:

| word       | meaning                                                        |
|------------|----------------------------------------------------------------|
| `proposed` | a person typed `text` in the session `session` of a client     |
| `named`    | a terminal has named it to a person                            |
| `answered` | a person said yes or no; it is not proposed again              |
"""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from ..journal.machine import read_marked_rows
from ..models import frozen
from ..notes.blocks import project_key

LOG = "proposals.log"
FIELDS = ("text", "project", "session", "client", "day")


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


class ProposalLog(NamedTuple):
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


def read_proposal_log(state: Path) -> ProposalLog:
    """Returns the state of the log, an empty one where it cannot be read."""
    log = ProposalLog({}, {}, set())
    for log_row, is_own in read_marked_rows(state / LOG):
        with suppress(KeyError):
            if is_own:
                _take_row(log, log_row)
    return log


def _take_row(log: ProposalLog, log_row: Mapping[str, str]) -> None:
    rule = log_row["rule"]
    if log_row["word"] == "proposed":
        log.waiting[rule] = Proposal(*(log_row[name] for name in FIELDS))
        log.sessions[rule] = log_row["session"]
    elif log_row["word"] == "named":
        log.named.add(rule)
    else:
        log.waiting.pop(rule, None)
