"""The lines of a digest of an agent's session: its requests, answers and facts.

Claude Code in `harbor` on `pool`, 2026-11-02 09:10 to 09:48.

> why does it hang

The pool waits for a free connection for ever.

- Edited: `pool.py`
- Ran: `pytest`, exit 0
- Committed: `Bound the wait` (3f1c2aa)
"""

REQUEST = ">"
"""The beginning of each line of a request."""
EDITED, RAN, COMMITTED = "- Edited: ", "- Ran: ", "- Committed: "
MORE_COMMANDS = "- and {} more commands"
_FACTS = (EDITED, RAN, COMMITTED, MORE_COMMANDS.partition("{}")[0])


def answers_in_digest(content: str) -> str:
    """Returns the agent's answers, in their order; where there are none, what it edited, ran
    and committed.
    """
    lines = content.splitlines()[1:]
    rest = [line for line in lines if line.strip() and not line.startswith(REQUEST)]
    answers = [line for line in rest if not line.startswith(_FACTS)]
    return "\n".join(answers or rest)
