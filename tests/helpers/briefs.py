"""What a session is told of preferences, seen from outside."""

from __future__ import annotations

from forks import ForkedHome

IN_FORCE = "preferences of the user: follow them"


def told(home: ForkedHome, **given: str) -> str:
    """What an agent of a session of its own is told."""
    with home.server() as server:
        return server.text("brief", **given)


def typed(home: ForkedHome, text: str, day: str = "2026-11-21") -> None:
    home.journal.mkdir(parents=True, exist_ok=True)
    with (home.journal / f"{day}.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")


def rules(text: str) -> str:
    """The fence of the preferences that are in force; empty without one."""
    _, found, rest = text.partition(f"```{IN_FORCE}\n")
    return rest.partition("\n```")[0] if found else ""
