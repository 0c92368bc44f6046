"""Calls that a reading server hands on to the server that writes the journal.

| the writer                          | the client is told                                |
|-------------------------------------|---------------------------------------------------|
| answers a call                      | its answer                                        |
| cannot be reached, refuses          | nothing was saved                                 |
| gives no answer, also when repeated | it is not known whether the text was saved        |

The writer answers a repeated call, which has the same Idempotency-Key, with its first answer.
"""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit

from ...errors import InvalidArgument, Unreachable
from ...render.fence import one_line
from ...serving.positions import POSITION, IndexPosition
from ...serving.running import is_loopback

CONNECT_S, ANSWER_S = 5.0, 60.0
_NOTHING = "Nothing was saved."
_LOOK = (
    "Call again later. The user can check the address given with --writer, and the log of "
    "that server."
)


def check_writer_address(url: str) -> str:
    """Returns the address of the server that writes the journal as `https://host:port`, without
    a path. Raises InvalidArgument unless it is https (http only on this machine), without
    password and path.
    """
    try:
        address = urlsplit(url.strip().removesuffix("/mcp").removesuffix("/"))
        name = address.hostname or ""
        port = f":{address.port}" if address.port else ""
    except ValueError:
        address, name, port = urlsplit(""), "", ""
    problem = ""
    if address.scheme not in ("https", "http") or not name:
        problem = "is not an address that begins with https://."
    elif "@" in address.netloc:
        problem = "takes no name and no password: each client's own token goes with its calls."
    elif address.path or address.query or address.fragment:
        problem = "takes an address without a path."
    elif address.scheme == "http" and not is_loopback(name):
        problem = (
            "needs https: over http anyone on the way could read the tokens. Only a writer on "
            "this machine goes without."
        )
    if problem:
        raise InvalidArgument(
            f"--writer {problem}", hint="Give it like --writer https://memory.example."
        )
    return f"{address.scheme}://{f'[{name}]' if ':' in name else name}{port}"


class Forwarding:
    """Forwards tool calls to the server that writes the journal, at `url`. `newest` maps the
    name of a token to the index position after its last change; `behind` holds the names of
    tokens for which waiting for that position once timed out.
    """

    def __init__(self, url: str) -> None:
        import httpx2  # comes with the SDK

        self.url = url
        self.newest: dict[str, IndexPosition] = {}
        self.behind: set[str] = set()
        limits = httpx2.Timeout(ANSWER_S, connect=CONNECT_S, pool=CONNECT_S)
        # no proxy of the environment, and no redirect, is sent a token
        self._http = httpx2.AsyncClient(timeout=limits, trust_env=False, follow_redirects=False)

    async def call(
        self, name: str, bearer: str, key: str, params: dict[str, Any]
    ) -> dict[str, Any]:
        """Sends a tool call to the writing server and returns its result. `name` is the name of
        the token, `bearer` its Authorization header, `key` the Idempotency-Key. Raises
        Unreachable, which says whether something may have been saved.
        """
        import httpx2

        headers = {
            "Authorization": bearer,
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
            "Idempotency-Key": key or secrets.token_urlsafe(16),
        }
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        not_sent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
        was_sent = False
        for _ in range(2):
            try:
                answer = await self._http.post(f"{self.url}/mcp", json=call, headers=headers)
            except not_sent as error:
                if was_sent:
                    break
                reason = one_line(str(error))[:200] or type(error).__name__
                raise Unreachable(
                    f"The server that writes the journal cannot be reached ({reason}). "
                    f"{_NOTHING}",
                    hint=_LOOK,
                ) from error
            except (httpx2.TransportError, httpx2.DecodingError):
                was_sent = True
                continue
            result = _read_result(answer)
            if result is not None:
                self._keep_position(name, result)
                return result
            was_sent = True
        raise Unreachable(
            "The server that writes the journal gave no answer: it is not known whether "
            "the text "
            "was saved.",
            hint="Search for the text first; call again only if it is not there.",
        )

    def _keep_position(self, name: str, result: dict[str, Any]) -> None:
        position = IndexPosition.parse(result.get("_meta", {}).get(POSITION))
        before = self.newest.get(name)
        if position and not (before and before.tally == position.tally and before > position):
            self.newest[name] = position
            self.behind.discard(name)


def _read_result(answer: Any) -> dict[str, Any] | None:
    """Returns the result in an HTTP answer of the writing server; None if a proxy answered,
    which may have forwarded the call. Raises Unreachable if nothing was saved.
    """
    reply: Any = None
    try:
        reply = answer.json()
        if isinstance(reply["result"], dict):
            return dict(reply["result"])
    except (ValueError, KeyError, TypeError):
        pass
    error = reply.get("error") if isinstance(reply, dict) else None
    if answer.status_code in (401, 403):
        raise Unreachable(
            f"The server that writes the journal refuses this token. {_NOTHING}",
            hint="Add this token to tokens.toml on that server, too.",
        )
    if isinstance(error, dict):
        raise Unreachable(
            f"The server that writes the journal refused the call: "
            f"{one_line(str(error.get('message')))[:200]} {_NOTHING}",
            hint=_LOOK,
        )
    what = f"status {answer.status_code}"
    if answer.is_redirect:
        what = "a redirect, which is not followed"
    elif answer.is_success and "html" in answer.headers.get("content-type", ""):
        what = "a page"
    elif answer.is_success or answer.is_server_error:
        return None
    raise Unreachable(
        f"At the address given with --writer no Synaptic answers, but {what}. {_NOTHING}",
        hint=_LOOK,
    )
