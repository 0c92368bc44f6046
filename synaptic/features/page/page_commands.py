"""The commands `serve` and `token`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from ...cli import flags as f
from ...cli.flags import PROJECT_COMPLETION, argument, option, switch, text_option, texts_option
from ...cli.program import command
from ...cli.replies import print_answer
from ...errors import InvalidArgument
from ...plugin import SERVED
from ...render.present import outline_text
from ...render.terminal import emit
from ...serving.tokens import Tokens

DATABASE_FLAGS = ("read", "publish", "insecure", "writer")
"""The flags of `serve` that the feature `sharing` checks."""


@command(
    "serve",
    text_option(
        "host",
        "The address to listen on; other machines need --token-file.",
        default="127.0.0.1",
    ),
    option(
        int | None,
        "port",
        "The port; 0 takes a free one, but `setup --url` needs a fixed one. [default: `port` "
        "of config.toml, else 0]",
        min=0,
        max=65535,
    ),
    switch("phone", "Let a phone in your network in: asks for the address, shows a code."),
    switch("open_it", "Open the page in the browser.", "--open"),
    switch("no_link", "Print no address to log in; `synaptic today --page` opens one."),
    switch("install", "Serve from each login on this machine on, by systemd or launchd."),
    switch("uninstall", "Undo --install."),
    switch("publish", "Also publish after each save (see `publish`)."),
    texts_option(
        "revoke", "Log out the browser of this name that stays logged in; or all; repeatable."
    ),
    f.READ_ONLY,
    switch("read", "Show the journals published in the database of SYNAPTIC_DATABASE."),
    text_option("writer", "With --read: the address of the server that writes the journal."),
    f.INSECURE,
    f.TOKEN_FILE,
    texts_option("allow_host", "A host name that a proxy uses for this server; repeatable."),
    opens=False,
    json=False,
)
def serve(
    home: str | None, install: bool, uninstall: bool, revoke: Sequence[str] = (), **choices: Any
) -> None:
    """Show the journal as a page in your browser, and serve agents over HTTP, until Ctrl-C.

    Example: synaptic serve --open
    """
    if install + uninstall + bool(revoke) > 1:
        raise InvalidArgument(
            "Only one of --install, --uninstall and --revoke may be given.",
            valid=("--install", "--uninstall", "--revoke"),
        )
    if revoke:
        return _log_out_browsers(home, revoke)
    if install or uninstall:
        from . import service  # only here

        if uninstall:
            return service.uninstall_service(home)
        port = choices.pop("port", None)
        read_only = choices.pop("read_only")
        if choices.pop("host") != "127.0.0.1" or any(choices.values()):
            raise InvalidArgument(
                "With --install only --port and --read-only can be given.",
                "Leave out the other flags, or start `synaptic serve` without --install.",
            )
        return service.install_service(home, port, read_only=read_only)
    about_database = {name: choices.pop(name, None) for name in DATABASE_FLAGS}
    if any(about_database.values()):
        choices |= SERVED.ask_only(about_database)
    from ...mcp.remote import Remote  # slow to import
    from . import app

    return app.serve_site(home, Remote, app.Choices(**choices))


def _log_out_browsers(home: str | None, names: Sequence[str]) -> None:
    from .devices import Devices  # only here

    devices = Devices(home)
    browsers = devices.read()
    names_known = sorted({"all", *(device.name for device in browsers.values())})
    for name in names:
        if name not in names_known:
            raise InvalidArgument(
                f"No browser with the name {name!r} stays logged in.", valid=names_known
            )
    gone = [id for id, device in browsers.items() if {device.name, "all"} & {*names}]
    devices.remove(*gone)
    emit(f"Browsers logged out: {len(gone)}")


@command(
    "token",
    argument(
        str | None, "name", "NAME", "The name of its user; entries saved with it are signed so."
    ),
    text_option(
        "project",
        "The project of new entries; its entries are listed first.",
        **PROJECT_COMPLETION,
    ),
    text_option(
        "journals",
        "The published journals that it may read, as platform,web. [default: all that the "
        "role of the database may]",
    ),
    f.READ_ONLY,
    switch("page", "The token opens the page for a person, but no tools."),
    f.TOKEN_FILE,
    opens=False,
)
def token(
    home: str | None,
    read_only: bool,
    page: bool,
    name: str | None = None,
    project: str | None = None,
    journals: str | None = None,
    token_file: str | None = None,
) -> None:
    """Make a token for a client of `synaptic serve`; without NAME list the tokens.

    The token is shown once and written to tokens.toml. Remove its table there to revoke it.

    Example: synaptic token anna-laptop --project ledger
    """
    tokens = Tokens(home, token_file)
    file = str(tokens.path)
    if name is None:
        by_name = {}
        for _, grant in tokens.read_grants():
            fields = grant._asdict().items()
            by_name[grant.name] = {field.replace("_", "-"): value for field, value in fields}
        text = outline_text(by_name) or f"No tokens in {file}. `synaptic token NAME` makes one."
        return print_answer({"file": file, "tokens": list(by_name.values())}, text)
    secret = secrets.token_urlsafe(32)
    table: dict[str, object] = {
        "token": secret,
        "project": project,
        "read-only": read_only,
        "page": page,
    }
    if journals is not None:
        table["journals"] = [each.strip() for each in journals.split(",")]
    tokens.add_token(name, {key: value for key, value in table.items() if value})
    use = "Its client sends it as a bearer token: `synaptic setup --url` says how."
    if page:
        use = "Type it on the page."
    data = {"success": True, "name": name, "token": secret, "file": file}
    return print_answer(data, f"{secret}\n{use}")
