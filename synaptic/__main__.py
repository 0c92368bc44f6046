"""`python -m synaptic` is the command `synaptic`."""

import sys

from .verbs.importing import CAPTURED, capture


def main() -> int:
    """The exit status. A hook that only notes a session is done before the commands are loaded: its client waits."""
    match sys.argv[1:]:  # as `setup` registers it
        case ["--home", _, "hook", "--client", client, event] | ["hook", "--client", client, event] if event in CAPTURED:
            capture(sys.argv[2] if sys.argv[1] == "--home" else None, client, sys.stdin.buffer.read())
            return 0
    from .surfaces.cli.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
