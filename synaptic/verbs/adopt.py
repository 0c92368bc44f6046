"""Sets up a home, and makes a folder of Markdown its journal without changing anything in that folder."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ..config import load_config, resolve_home
from ..errors import ConfigError, JournalError
from ..journal.disk import disk_errors, make_dirs, overwrite
from ..models import ParseIssue
from ..workspace.workspace import open_workspace
from .browse import status


@dataclass(frozen=True, slots=True)
class Adopted:
    """A home that is ready, the contents of its journal, and the file of the next entry."""

    home: Path
    journal: Path
    files: int
    entries: int
    issues: tuple[ParseIssue, ...]
    new_entries_go_to: Path
    notices: tuple[str, ...] = ()


def adopt(home: str | Path | None = None, journal: str | Path | None = None) -> Adopted:
    """The home and the contents of its journal. With `journal`, config.toml names that folder from now on. Idempotent.

    Raises JournalError when the folder is missing, ConfigError when config.toml cannot be changed safely.
    """
    notices = []
    load_config(home)  # a broken config is reported before anything is made
    if journal is not None:
        folder = Path(journal).expanduser().absolute()
        if not folder.is_dir():
            raise JournalError(f"{folder} is not a folder.", hint="Create it first, or name another.")
        _name_journal(resolve_home(home), folder)
        if os.environ.get("SYNAPTIC_JOURNAL"):
            notices.append("SYNAPTIC_JOURNAL is set, and it wins over config.toml.")
    with open_workspace(load_config(home)) as ws:
        found = status(ws)
        return Adopted(
            home=found.home,
            journal=found.journal,
            files=found.files,
            entries=found.entries,
            issues=found.issues,
            new_entries_go_to=ws.config.journal / ws.journal.day_path(ws.clock()),
            notices=tuple(notices),
        )


def _name_journal(home: Path, folder: Path) -> None:
    path = home / "config.toml"
    line = f"journal = {json.dumps(str(folder), ensure_ascii=False)}"
    with disk_errors(path, "changed"):
        make_dirs(home, private=True)
        old = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
        new = _with_journal(old, str(folder)) or f"{line}\n{old}"
        if tomllib.loads(new) != tomllib.loads(old) | {"journal": str(folder)}:
            raise ConfigError(f"{path} cannot be changed safely.", hint=f"Put this line at its top: {line}")
        if new != old:
            overwrite(path.resolve(), new.encode())


def _with_journal(toml: str, folder: str) -> str:
    """The file with another `journal` and every other character unchanged; "" if it names no journal."""
    import tomlkit

    document = tomlkit.parse(toml)
    if "journal" not in document:
        return ""
    document["journal"] = folder
    return tomlkit.dumps(document)
