"""`python -m synaptic` is the command `synaptic`."""

import sys


def main() -> int:
    """The exit status. The server, and a hook that only notes a session, begin before the
    commands are loaded: a client waits.
    """
    match sys.argv[1:]:  # as `setup` registers it
        case ["mcp"]:
            return _serve(None)
        case ["--home", home, "mcp"]:
            return _serve(home)
        case ["hook", "--client", client, "pre-compact" | "session-end"]:
            return _capture(None, client)
        case ["--home", home, "hook", "--client", client, "pre-compact" | "session-end"]:
            return _capture(home, client)
    from .surfaces.cli.main import main as run

    return run()


def _serve(home: str | None) -> int:
    from .surfaces.mcp.front import run

    run(home)
    return 0


def _capture(
    home: str | None,
    client: str,
) -> int:
    from .verbs.importing import capture

    capture(home, client, sys.stdin.buffer.read())
    return 0


if __name__ == "__main__":
    sys.exit(main())
