"""Proposes to the person the rules that they typed in a captured session."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...journal.projects import Projects, project_of_folder
from ...language.lexicon import STOP_WORDS
from ...language.typed_rules import find_typed_rules
from ...language.words import stems, words
from ...models import Entry
from ...notes.blocks import project_key
from ...workspace.checkout import names_in_step
from ...workspace.preferences import read_all_preferences
from ...workspace.proposals import Proposal
from ...workspace.proposing import propose
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .readers.digest import screen_events
from .readers.record import find_reader
from .readers.session import Session

SAME = 0.6
"""A preference that has this share of the words of a sentence says it already. By eye."""


def propose_rules_of_sessions(ws: Workspace, client: str, transcript: Path) -> None:
    """Proposes the rules typed in the sessions of a transcript, the first of each session.
    Private passages are no part of them, and projects that are not imported propose nothing.

    Raises OSError, and InvalidArgument for a place without one.
    """
    preferences = in_step(ws, lambda _: read_all_preferences(ws))
    excluded = set(map(project_key, ws.config.exclude_projects))
    taken = Projects(ws.config.state)
    for session in find_reader(client).sessions(transcript, lambda where, why: None):
        folder = Path(session.folder)
        project = None
        if session.folder:
            project = project_of_folder(ws.config.state, folder, taken, names_in_step(ws))
        if project_key(project or "") not in excluded:
            proposals = list(_find_rules(session, client, project or ""))
            new = [one for one in proposals if not _is_saved(ws, one, preferences)]
            propose(ws.config.state, new)


def _find_rules(session: Session, client: str, project: str) -> Iterator[Proposal]:
    """Yields the rules that a person typed in the session, in its order."""
    for event in screen_events(session.events):
        if event.kind == "asked":
            day = event.at.date().isoformat()
            for text in find_typed_rules(event.text):
                if "[redacted" not in text:
                    yield Proposal(text, project, session.key, client, day)


def _is_saved(ws: Workspace, proposal: Proposal, preferences: Sequence[Entry]) -> bool:
    """True if a preference for the same project, or for all, has most words of the sentence."""
    own_words = {word for _, word in words(proposal.text)} - STOP_WORDS
    sought = stems(" ".join(own_words), ws.index.stem)
    for entry in preferences:
        is_for_project = project_key(entry.project or "") in ("", project_key(proposal.project))
        common = sought & stems(f"{entry.title} {entry.content}", ws.index.stem)
        if is_for_project and len(common) >= SAME * len(sought):
            return True
    return False
