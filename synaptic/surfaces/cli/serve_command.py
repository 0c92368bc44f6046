"""The commands of the server over HTTP: `serve`, and `token`, which lets a client or a person in."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path

from ...config import resolve_home
from ...errors import InvalidArgument
from ...journal.disk import overwrite
from ..mcp.tokens import Tokens
from . import flags as f
from .program import command
from .replies import answer


@command("serve", f.HOST, f.PORT, f.OPEN_IT, f.READ_ONLY, f.TOKEN_FILE, f.ALLOW_HOST, opens=False)
def serve(
    home: str | None,
    host: str,
    port: int,
    open_it: bool,
    read_only: bool,
    token_file: str | None = None,
    allow_host: Sequence[str] = (),
) -> None:
    """Show the journal as a page, and serve agents over HTTP, until Ctrl-C.

    Example: synaptic serve --open
    """
    from ..web import app  # slow to import

    app.serve(
        home, host=host, port=port, show=open_it, read_only=read_only, token_file=token_file, allow_host=allow_host
    )


@command("token", f.TOKEN_NAME, f.TOKEN_PROJECT, f.READ_ONLY, f.FOR_PAGE, f.TOKEN_FILE, f.AS_JSON, opens=False)
def token(
    home: str | None,
    as_json: bool,
    name: str,
    read_only: bool,
    page: bool,
    project: str | None = None,
    token_file: str | None = None,
) -> None:
    """Make a token by which a client reaches `synaptic serve`.

    It is shown once, and stands in tokens.toml, where you may take it out again.

    Example: synaptic token anna-laptop --project ledger
    """
    tokens = Tokens(Path(token_file).expanduser() if token_file else resolve_home(home) / "tokens.toml")
    if any(grant.name == name for _, grant in tokens.read()):
        raise InvalidArgument(f"{tokens.path} has a token named {name!r}.", hint="Take it out there, or name another.")
    secret = secrets.token_urlsafe(32)
    said = {"token": secret, "project": project, "read-only": read_only, "page": page}
    lines = [f"{key} = {json.dumps(value)}" for key, value in said.items() if value]
    before = tokens.path.read_text(encoding="utf-8").rstrip() + "\n\n" if tokens.path.exists() else ""
    tokens.path.parent.mkdir(parents=True, exist_ok=True)
    overwrite(tokens.path, (before + "\n".join([f"[{json.dumps(name)}]", *lines, ""])).encode())
    opens = "It opens the page." if page else "Clients send it as a bearer token: SYNAPTIC_TOKEN in `setup --url`."
    answer(as_json, {"success": True, "name": name, "token": secret, "file": str(tokens.path)}, f"{secret}\n{opens}")
