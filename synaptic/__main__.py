"""`python -m synaptic` is the command `synaptic`."""

import os
import sys

from .version import installed_version


def main() -> int:
    """The exit status. A server or a hook is started before the commands are loaded, because a
    client waits for it; the version needs none of them.
    """
    # to begin more threads takes longer than all that a command multiplies
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    home = None
    args = sys.argv[1:]
    if args[:1] == ["--home"]:
        home = "".join(args[1:2])
        args = args[2:]
    match args:
        case ["--version"]:
            print(f"synaptic {installed_version()}")
            return 0
        case ["mcp"]:
            return _serve_mcp(home, "whole")
        case ["mcp", "--tool-list", ("whole" | "short") as tool_list]:
            return _serve_mcp(home, tool_list)
        case ["hook", event]:
            return _hook(event, home, "claude-code")
        case ["hook", "--client", client, event] | ["hook", event, "--client", client]:
            return _hook(event, home, client)
    return _command()


def _command() -> int:
    from .cli.main import main as run

    return run()


def _serve_mcp(home: str | None, tool_list: str) -> int:
    from .mcp.start import start_server

    start_server(home, tool_list)
    return 0


def _hook(event: str, home: str | None, client: str) -> int:
    if event in ("pre-compact", "session-end"):
        from .hooks.captured import note_ended_session

        note_ended_session(home, client, sys.stdin.buffer.read())
        return 0
    from .errors import InvalidArgument
    from .hooks.hooks import answer_hook

    try:
        answer_hook(event, home, client)
    except InvalidArgument:
        return _command()  # which says what is valid
    return 0


if __name__ == "__main__":
    sys.exit(main())
