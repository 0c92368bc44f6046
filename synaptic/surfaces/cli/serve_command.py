"""The commands of the server over HTTP: `serve`, and `token`, which lets a client or a person in."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Any

from ...errors import InvalidArgument
from ..mcp.tokens import Grant, Tokens
from ..present import clean
from . import flags as f
from .program import command
from .replies import answer


@command("serve", f.HOST, f.PORT, f.OPEN_IT, f.READ_ONLY, f.TOKEN_FILE, f.ALLOW_HOST, opens=False)
def serve(home: str | None, **given: Any) -> None:
    """Show the journal as a page, and serve agents over HTTP, until Ctrl-C.

    Example: synaptic serve --open
    """
    from ..web import app  # slow to import

    app.serve(home, **given)


@command("token", f.TOKEN_NAME, f.TOKEN_PROJECT, f.READ_ONLY, f.FOR_PAGE, f.TOKEN_FILE, f.AS_JSON, opens=False)
def token(
    home: str | None,
    as_json: bool,
    read_only: bool,
    page: bool,
    name: str | None = None,
    project: str | None = None,
    token_file: str | None = None,
) -> None:
    """Make a token by which a client reaches `synaptic serve`; without NAME list those that there are.

    It is shown once, and stands in tokens.toml. Take its table out there, and it opens nothing any more.

    Example: synaptic token anna-laptop --project ledger
    """
    tokens = Tokens(home, token_file)
    if name is None:
        if read_only or page or project:
            raise InvalidArgument("A token needs a name.", hint="synaptic token anna-laptop --project ledger")
        grants = [grant for _, grant in tokens.read()]
        lines = [f"{grant.name:20} {_opens(grant)}" for grant in grants]
        listed = [{field.replace("_", "-"): value for field, value in asdict(grant).items()} for grant in grants]
        none = f"No tokens in {tokens.path}. `synaptic token NAME` makes one."
        return answer(as_json, {"file": str(tokens.path), "tokens": listed}, clean("\n".join(lines) or none))
    secret = secrets.token_urlsafe(32)
    said = {"token": secret, "project": project, "read-only": read_only, "page": page}
    tokens.add(name, {key: value for key, value in said.items() if value})
    use = "Type it on the page." if page else "Its client sends it as a bearer token: `synaptic setup --url` says how."
    return answer(
        as_json, {"success": True, "name": name, "token": secret, "file": str(tokens.path)}, f"{secret}\n{use}"
    )


def _opens(grant: Grant) -> str:
    what = "the page" if grant.page else f"tools, project {grant.project}" if grant.project else "tools"
    return f"{what}, read-only" if grant.read_only else what
