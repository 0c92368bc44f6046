"""The report of `doctor --report`, made to be pasted into a public issue: versions, counts and
findings by their kind. Every word of it is Synaptic's own or a package's.
"""

import platform
import re
from collections import Counter
from dataclasses import fields
from importlib.metadata import version

from ..config import DEFAULT_MODEL, Config, load_config
from ..errors import SynapticError
from ..index.database import SQLITE_VERSION
from ..models import Json
from ..plugin import plug_in_entry_points
from ..render.present import outline_text
from ..setup.clients import has_claude_plugin
from ..verbs.doctor import run_checkup
from ..verbs.status import status
from ..version import installed_version
from ..workspace.workspace import Workspace, open_workspace
from .replies import print_answer
from .setup_command import find_registered

_PACKAGES = ("apsw", "sqlite-vec", "numpy", "onnxruntime", "tokenizers", "mcp", "typer")


def print_report(home: str | None) -> int:
    """Prints the report, also where the home cannot be opened. Returns 1 while something needs
    a person, as `doctor` does.
    """
    report = _describe_program()
    is_sound = False
    try:
        report["clients"] = _describe_clients(home)
        # not open_home, which names preferences that wait
        with open_workspace(load_config(home)) as ws:
            checkup = run_checkup(ws)
            kinds = Counter(f"{one.level} {one.code}" for one in checkup.findings)
            report |= {**_describe_home(ws), "findings": dict(kinds)}
            is_sound = checkup.ok
    except SynapticError as error:
        report["stopped_by"] = error.code
    print_answer(report, outline_text(report))
    return 0 if is_sound else 1


def _describe_program() -> Json:
    # without what the builder of a kernel added, which may be a name
    release = re.match(r"[\d.]*", platform.release())
    return {
        "synaptic": installed_version(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {release[0] if release else ''} {platform.machine()}",
        "sqlite": SQLITE_VERSION,
        "packages": {name: version(name) for name in _PACKAGES},
        "plug_ins": len(plug_in_entry_points()),
    }


def _describe_clients(home: str | None) -> Json:
    """By client on this machine the states of its server, hooks and guidance."""
    clients: Json = {"claude-code": {"plugin": "on"}} if has_claude_plugin() else {}
    for step in find_registered(home):
        client = step.part.client
        if client.is_present or step.state != "not registered":
            clients.setdefault(client.name, {})[step.part.name] = step.state
    return {
        name: [f"{part} {state}" for part, state in clients[name].items()] for name in clients
    }


def _describe_home(ws: Workspace) -> Json:
    now = status(ws)
    sizes = [stamp.size for stamp in ws.journal.scan()]
    return {
        "settings": _changed_settings(ws.config),
        "model": "shipped" if ws.config.model.casefold() == DEFAULT_MODEL else "another",
        "journal": {
            "entries": now.entries,
            "files": now.files,
            "bytes": sum(sizes),
            "tags": len(now.facets.tags),
            "projects": len(now.facets.projects),
            "sources": len(ws.config.sources),
        },
        "index": {
            "parts": now.chunks,
            "not_by_meaning_yet": now.pending_vectors,
            "bytes": now.index_bytes,
        },
        "left_out": dict(Counter(one.reason for one in now.left_out)),
    }


def _changed_settings(config: Config) -> list[str]:
    """The names of the settings that are not the defaults."""
    default = Config(home=config.home, journal=config.home / "journal", notices=config.notices)
    return [
        field.name
        for field in fields(config)
        if getattr(config, field.name) != getattr(default, field.name)
    ]
