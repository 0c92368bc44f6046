"""Shows the person at the terminal each unconfirmed preference, and asks for a yes or no by one
key.
"""

import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from ..config import load_config
from ..errors import SynapticError
from ..journal.repository import origin_address
from ..models import Entry
from ..render import terminal
from ..render.fence import one_line
from ..render.present import short_id
from ..render.terminal import say
from ..serving.arguments import is_person
from ..verbs import rules
from ..verbs.browse import Listing
from ..workspace.checkout import working_checkout
from ..workspace.proposals import Proposal
from ..workspace.proposing import name_proposals
from ..workspace.workspace import Workspace, open_workspace
from .replies import IN_JSON, can_ask, output_for_workspace

MOST_WAITING_NAMED = 8
"""The most unconfirmed preferences that a command names, a line each."""
LINE_END_S = 0.05
"""Seconds within which a line end, or the rest of a word, after a key belongs to that key."""
QUESTION = "Shall every agent follow this?"


def print_waiting_preferences(ws: Workspace) -> None:
    """Prints to standard error a line for each preference that newly waits to be confirmed;
    each is named by one command only.

    Nobody is told with --json, in a pipe, or in an agent's shell.
    """
    if IN_JSON.get() or not is_person():
        return
    with suppress(SynapticError):  # the command has succeeded
        new, unmarked = rules.newly_waiting(ws)
        if unmarked:
            say(
                f"note: {unmarked:,} of your preferences were confirmed without this machine's "
                "mark: by an older version, on another machine, or with a key that is lost. "
                "Each needs your yes, once: `synaptic confirm`"
            )
        for entry in new[:MOST_WAITING_NAMED]:
            title = one_line(entry.title_in_lists)[:60]
            where = f"{entry.path}:{entry.there.line}"
            say(
                f"note: A preference waits for your yes: {title} ({where}). "
                f"`synaptic confirm {entry.short_id}`"
            )
        if new[MOST_WAITING_NAMED:]:
            say(f"note: {len(new) - MOST_WAITING_NAMED:,} more wait: `synaptic confirm`")
    with suppress(OSError):
        proposed = name_proposals(ws.config.state)
        if proposed:
            number = "A rule" if proposed == 1 else f"{proposed:,} rules"
            say(f"note: {number} from your words in sessions: `synaptic confirm` asks.")


def ask_about_new_preferences(home: str | None) -> None:
    """Asks about the preferences that were added while a person had a file open in the
    editor.
    """
    if not (can_ask() and is_person()):
        return
    with open_workspace(load_config(home)) as ws:
        ask_to_confirm(ws, rules.newly_waiting(ws)[0])


def ask_to_confirm(ws: Workspace, entries: Sequence[Entry], *, remove: bool = False) -> bool:
    """Shows each preference and confirms it if the person presses y; n is remembered, so that
    they are not asked again. With `remove` y takes its confirmation back. Other keys change
    nothing; q ends the questions: then it returns False.
    """
    question = "Take it out of force? [y/N" if remove else f"{QUESTION} [y/n"
    rules.mark_as_named(ws, entries)
    for entry in entries:
        listing = Listing(1, (entry,))
        say(terminal.entries_text(listing, output_for_workspace(ws)._replace(colour=False)))
        key = read_key(f"\n{question}, q quits]: ")
        if key == "q":
            return False
        if key == "y":
            rules.confirm(ws, entry, remove=remove)
            say(f"{'Taken back' if remove else 'Confirmed'}: {entry.short_id}")
        elif key == "n" and not remove:
            rules.confirm(ws, entry, remove=True)
            say(f"Not followed: {entry.short_id}")
    return True


def ask_about_project(ws: Workspace) -> None:
    """Asks a person once if the repository of this folder is a project that has its address or
    its folder, where nothing proves it. Until then nothing of that project is shown here.
    """
    if not (can_ask() and is_person()) or ws.config.project:
        return
    from ..workspace.project_questions import (  # where nobody sits, nobody is asked
        find_unproven_project,
        settle_project,
    )

    here = working_checkout(ws)
    name = find_unproven_project(ws, here) if here else ""
    if here is None or not name:
        return
    address = origin_address(here)
    of = f" of {one_line(address)}" if address else ""
    question = f"Is {here.root} the project {one_line(name)}{of}?"
    key = read_key(f"{question} Then its notes are shown here. [y/n]: ")
    if key in ("y", "n"):
        settle_project(ws, here, name if key == "y" else "")


def ask_about_proposals(ws: Workspace, proposals: Sequence[Proposal]) -> None:
    """Shows each sentence that the person typed in a session, and saves it as a preference in
    force if they press y; n drops it for good, q ends the questions, other keys change nothing.
    """
    for proposal in proposals:
        scope = (
            f"for the project {one_line(proposal.project)}" if proposal.project else "for all"
        )
        say(f"You wrote on {proposal.day}, in {one_line(proposal.client)}, {scope}:")
        say(f"\n    {one_line(proposal.text)}")
        key = read_key(f"\n{QUESTION} [y/n, q quits]: ")
        if key == "q":
            return
        if key == "y":
            receipt = rules.accept_proposal(ws, proposal)
            say(f"Saved, and in force: {short_id(receipt.id)}")
        elif key == "n":
            rules.decline_proposal(ws, proposal)
            say("Dropped.")


def read_key(question: str) -> str:
    """Prints the question about a text that was shown, and returns the key that is pressed
    then, in lower case; "q" at the end of the input. Keys that were typed before are dropped.
    """
    with _single_keys() as read:
        terminal.drop_typed_keys()
        print(question, end="", file=sys.stderr, flush=True)
        key = read()
    say(key if key.isprintable() else "")
    return key.lower() or "q"


@contextmanager
def _single_keys() -> Iterator[Callable[[], str]]:
    """A context in which the terminal gives each key at once; yields the function that reads
    one.
    """
    if sys.platform == "win32":
        import msvcrt

        yield msvcrt.getwch
        return
    import termios
    import tty

    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)

    def read() -> str:
        key = os.read(stdin, 1).decode("ascii", "replace")
        if select.select([stdin], [], [], LINE_END_S)[0]:
            terminal.drop_typed_keys()
        return key

    try:
        tty.setcbreak(stdin, termios.TCSADRAIN)
        yield read
    finally:
        termios.tcsetattr(stdin, termios.TCSADRAIN, before)
