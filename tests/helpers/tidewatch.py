"""The journal of an invented team, a year in tests/data/tidewatch, and two sessions."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shutil import copytree

from steady import steadily

NOW = "2026-11-20T16:40"
DECISION = "20260326-dm0sfk52"
"""Keep measurements in SQLite: it supersedes an entry, and has a list."""
PAGES = {
    "statistics": "/statistics",
    "today": "/",
    "day": "/day/2026-11-05",
    "search": "/search?q=why did we leave Postgres",
    "calendar": "/calendar",
    "entry": f"/entry/{DECISION}",
    "edit": f"/entry/{DECISION}/edit",
    "new": "/new",
    "review": "/review",
    "health": "/health",
    "nothing": "/search?q=zebra&type=issue",
    "error": "/entry/zzzzzzzz",
    "login": "/login",
}
"""Each page once."""
TEAM = Path(__file__).parents[1] / "data" / "tidewatch"
SESSIONS = {
    "2026-11-19T13:05": (
        "The forecast of station 9340 jumps at midnight. Find out why.",
        "The cause: the day's mean was computed in local time and applied in UTC, so one "
        "hour belonged to no day.",
        "Good. From now on never write a time without its zone, not even in a log.",
        "Done: every time in the logs carries its zone, and the jump is gone.",
    ),
    "2026-11-18T10:20": (
        "The nightly fit takes eleven minutes. What can we do?",
        "It turned out that the slow part is reading the levels: the index on (station, "
        "minute) was missing.",
        "Then add it. We always keep the fit below one minute, or the morning's page is late.",
        "Added. The fit takes 38 seconds now.",
    ),
}
"""When each session began, and what the person and the agent said in turn."""


def make_home(home: Path) -> Path:
    """This home with the team's journal and two imported sessions."""
    home.mkdir(mode=0o700)
    copytree(TEAM, home / "journal")
    folder = home.parent / "sessions"
    folder.mkdir()
    for number, (at, texts) in enumerate(SESSIONS.items(), start=1):
        lines = [
            {
                "type": ("user", "assistant")[turn % 2],
                "uuid": f"{number}-{turn}",
                "cwd": str(home.parent / "tidewatch"),
                "timestamp": f"{at}:{turn:02}Z",
                "message": {"role": ("user", "assistant")[turn % 2], "content": text},
            }
            for turn, text in enumerate(texts)
        ]
        session = folder / f"00000000-0000-4000-8000-{number:012}.jsonl"
        session.write_text("".join(json.dumps(line) + "\n" for line in lines))
    synaptic(home, "import", "claude-code", str(folder), "--yes")
    return home


def synaptic(home: Path, *words: str) -> None:
    """Runs a command as one of the team, on the day of NOW."""
    environ = {
        name: value for name, value in os.environ.items() if not name.startswith("SYNAPTIC_")
    }
    settings = {"SYNAPTIC_NOW": NOW, "TZ": "UTC", "HOME": str(home.parent)}
    answer = steadily("--home", str(home), *words, folder=home.parent, env=environ | settings)
    assert answer.code == 0, answer
