"""The prompts of the MCP server, which a person chooses in the client's menu."""

from typing import NamedTuple

from ..models import Json
from ..serving.roles import Role

HANDOFF = """\
Write a hand-off, so that the next session can go on without asking{of}.

1. context_recent: see what is already noted, and the last handoff.
2. Save what is still only in this conversation: decisions with their reasons, findings, \
open issues.
3. context_save with type "handoff": what was to be done, what is done, what is not and why, \
the exact next step, the files in play. Put the last handoff's id in supersedes, if this one \
replaces it.

No secrets. Then show me the hand-off in a few lines."""

REVIEW = """\
Review the journal with me{of}: look at both entries of each finding with context_get, \
say what you would do and why, and do it only when I agree.

- supersede: context_update of the second, with the first's id in supersedes, beside those \
that it has
- merge: context_update of the second, with append, then context_delete of the first
- close: context_update with add_tag ["done"]
- delete: context_delete of the first
- mine, theirs, both: nothing; I choose between two versions in `synaptic review` or on the page
- pin, keep: nothing; I can run `synaptic review pin FINDING`, or keep, so that it is not \
listed again

{findings}"""


class Prompt(NamedTuple):
    """A prompt with one argument, whose value replaces `{of}` in `text`. `about` is the
    description of the argument.

    `role` says which server answers it: see `serving/roles`.
    """

    name: str
    role: Role
    description: str
    argument: str
    about: str
    text: str

    def as_json(self) -> Json:
        """Returns the prompt as `prompts/list` shows it."""
        arguments = [{"name": self.argument, "description": self.about}]
        return {"name": self.name, "description": self.description, "arguments": arguments}


_ROWS = (
    Prompt(
        "handoff",
        "reader",
        "End a session: save where things stand.",
        "focus",
        "What of the session, if not all of it.",
        HANDOFF,
    ),
    Prompt(
        "review",
        "writer",
        "Tidy the journal: what repeats, contradicts or outlived others.",
        "project",
        "Only this one.",
        REVIEW,
    ),
)
PROMPTS = {row.name: row for row in _ROWS}
