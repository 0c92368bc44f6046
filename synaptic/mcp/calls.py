"""A call of a tool as it is answered, with what its client has read so far."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..models import Entry, Json, Texts
from ..serving.tool_lists import SHORT, WHOLE
from ..serving.worker import ClientState
from .texts import ANSWER_CHARS
from .tools import CHARS_PER_TOKEN, MORE, TOOLS_BY_NAME

MAX_TOKENS = 4_000
"""The most tokens of an answer in a format other than concise, unless the call sets
`max_tokens`.
"""
CONCISE_TOKENS, EACH_TOKENS = 600, 28
"""The most tokens of a concise answer without `max_tokens`: CONCISE_TOKENS, or EACH_TOKENS for
each entry of a long list.
"""
MOST_READ = 10_000
"""The most entries of which is known what a client has read."""


@dataclass(frozen=True)
class Call:
    """A call of a tool whose arguments were checked.

    `client` is the calling program's name, `session` identifies its session, whose server
    began at `server_began`, in seconds since 1970. While `loading`,
    the embedding model is not loaded yet. `may_write` says if the client may change the
    journal. `tool_list` is the list of tools that the client has. `notices` are printed above
    the answer, and all that stands there takes `notice_tokens`. Answering the call adds to
    what the client has read, in `client_state`.
    """

    args: Json
    client: str | None = None
    loading: bool = False
    session: str = ""
    server_began: float = 0.0
    layout: str = "concise"
    max_tokens: int | None = None
    may_write: bool = True
    notices: Texts = ()
    client_state: ClientState = field(default_factory=ClientState)
    notice_tokens: int = 0
    tool_list: str = WHOLE

    def form(self, name: str, **arguments: Any) -> str:
        """Returns a call as text, by a tool that this client's list has."""
        if self.tool_list == SHORT and not TOOLS_BY_NAME[name].short:
            return f'{MORE.name} tool="{name}" arguments={json.dumps(arguments)}'
        values = [f"{key}={json.dumps(value)}" for key, value in arguments.items()]
        return " ".join([name, *values])

    def room(self, entries: int) -> int:
        """Returns the most tokens of an answer with this number of entries."""
        most = self.max_tokens
        if not most and self.layout == "concise":
            most = max(CONCISE_TOKENS, EACH_TOKENS * entries)
        return (most or MAX_TOKENS) - self.notice_tokens

    def note_read(self, entries: Iterable[Entry]) -> None:
        """Notes that the client has these texts before it, or has written them."""
        if len(self.client_state.read_texts) > MOST_READ:
            self.client_state.read_texts.clear()
        self.client_state.read_texts.update(
            {entry.id: hash_as_read(entry) for entry in entries}
        )

    @property
    def most_chars(self) -> int:
        """The most characters of any answer to this call."""
        return max(ANSWER_CHARS, (self.max_tokens or 0) * CHARS_PER_TOKEN)

    @property
    def json_chars(self) -> int:
        """The most characters of an answer as JSON, which has about three in a token."""
        if not self.max_tokens:
            return ANSWER_CHARS
        return max(0, self.max_tokens - self.notice_tokens) * CHARS_PER_TOKEN


Answer = tuple[str, Json]
"""The text for the model, and the same as JSON for programs; {} where the tool has
no JSON.
"""


def hash_as_read(entry: Entry) -> int:
    return hash((entry.title, entry.content))
