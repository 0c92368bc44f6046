"""Builds `synaptic-VERSION.mcpb`, a bundle that Claude Desktop installs with a click, and
checks it.

python3 scripts/build_bundle.py                # into dist/
python3 scripts/build_bundle.py --to DIR --keep DIR

The bundle holds the package and no dependency: its type is `uv`, so the host installs what
pyproject.toml names. The format's own program, from the npm registry, validates the manifest,
packs the bundle and reads it back.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from environment import PYTHON, ROOT, prepare

sys.path.append(str(ROOT / "scripts" / "clients"))
from install import Scratch, Unavailable

MCPB = "@anthropic-ai/mcpb@2.1.2"
CONTENT = (
    "synaptic",
    "plugin",
    ".claude-plugin",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE",
)
"""The package is built of these."""

ENTRY = "start.py"
START = '''"""The host starts this."""

from synaptic.mcp.start import start_server

start_server(tool_list="short")
'''


def manifest() -> dict[str, Any]:
    """The bundle's description of itself: what pyproject.toml, server.json and the server say."""
    from synaptic.mcp.tools import TOOL_LISTS  # which .venv has

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    command = ["run", "--quiet", "--directory", "${__dirname}", ENTRY]
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": entry["title"],
        "version": project["version"],
        "description": entry["description"],
        "author": {"name": "Synaptic contributors"},
        "license": project["license"],
        "keywords": ["memory", "notes", "markdown", "search"],
        "server": {
            "type": "uv",
            "entry_point": ENTRY,
            "mcp_config": {"command": "uv", "args": command},
        },
        "tools": [
            {"name": tool["name"], "description": tool["description"]}
            for tool in TOOL_LISTS["short"]
        ],
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": project["requires-python"]},
        },
    }


def assemble(folder: Path) -> Path:
    """The manifest in the folder, which now holds all of the bundle."""
    for name in CONTENT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    (folder / ENTRY).write_text(START, encoding="utf-8")
    (folder / "manifest.json").write_text(
        json.dumps(manifest(), indent=2) + "\n", encoding="utf-8"
    )
    return folder / "manifest.json"


def build(to: Path, scratch: Scratch) -> Path:
    """The bundle. Raises Unavailable where its validator cannot be had, and CalledProcessError
    where that objects.
    """
    bin, environ = scratch.node(MCPB)
    folder = Path(tempfile.mkdtemp(dir=scratch.homes))
    described = assemble(folder)
    to.mkdir(parents=True, exist_ok=True)
    bundle = to / f"synaptic-{manifest()['version']}.mcpb"
    for words in (
        ["validate", str(described)],
        ["pack", str(folder), str(bundle)],
        ["info", str(bundle)],
    ):
        subprocess.run([bin / "mcpb", *words], env=environ, check=True)
    return bundle


def main() -> int:
    """0 when the bundle was built and its validator has no objection."""
    parser = argparse.ArgumentParser(
        description="Builds the bundle for Claude Desktop, and checks it."
    )
    parser.add_argument(
        "--to", type=Path, default=ROOT / "dist", metavar="DIR", help="where the bundle goes"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the validator stays")
    given = parser.parse_args()
    prepare()
    if Path(sys.prefix) != PYTHON.parents[1]:
        return subprocess.run([PYTHON, *sys.argv], check=False).returncode
    with tempfile.TemporaryDirectory(prefix="synaptic-bundle-") as temporary:
        scratch = Scratch((given.keep or Path(temporary)).resolve(), Path(temporary))
        scratch.folder.mkdir(parents=True, exist_ok=True)
        try:
            bundle = build(given.to.resolve(), scratch)
        except (Unavailable, subprocess.CalledProcessError) as error:
            print(f"No bundle: {error}", file=sys.stderr)
            return 1
    print(f"{bundle}: {bundle.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
