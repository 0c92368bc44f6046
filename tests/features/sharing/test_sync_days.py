"""A day goes with its last entry on one machine, while another machine writes there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from homes import open_home
from hubs import git

from synaptic import delete, save, update
from synaptic.config import load_config
from synaptic.features.sharing.syncing import init_sync, sync
from synaptic.workspace.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")

TEXT = "Rowed up to the lock and back again, with Ida and the old dog in the bow of the boat."


def share(folder: Path) -> tuple[Workspace, Workspace, str]:
    """Two machines that share one day of one entry, and the id of that."""
    git(folder, "init", "-q", "--bare", "-b", "main", "hub.git")
    desk, laptop = (open_home(folder / name) for name in ("desk", "laptop"))
    id = save(desk, TEXT, at="2026-11-20 09:00").id
    for ws in (desk, laptop):
        init_sync(load_config(ws.config.home), str(folder / "hub.git"), lambda _: True)
    machines = [
        open_home(ws.config.home, sync=load_config(ws.config.home).sync)
        for ws in (desk, laptop)
    ]
    return machines[0], machines[1], id


@pytest.mark.parametrize(
    ("gone", "other", "days"),
    [
        ({"at": "2026-11-18"}, {"at": "2026-11-20 10:00"}, {"18": TEXT, "20": "Tea."}),
        ({}, {"at": "2026-11-20 10:00"}, {"20": "Tea."}),
        ({"at": "2026-11-18"}, {"append": "Tea."}, {"18": "Tea."}),
        ({}, {"append": "Tea."}, {"20": "Tea."}),
        ({"at": "2026-11-18"}, {}, {"18": TEXT}),
        ({}, {}, {}),
    ],
)
def test_no_entry_is_lost_or_gets_another_day(
    tmp_path: Path, gone: dict[str, Any], other: dict[str, Any], days: dict[str, str]
) -> None:
    desk, laptop, id = share(tmp_path)
    if gone:
        update(desk, id, **gone)
    else:
        delete(desk, id)
    assert not (desk.config.journal / "2026-11-20.md").exists()
    if "append" in other:
        update(laptop, id, **other)
    elif other:
        save(laptop, "Tea.", **other)
    for ws in (desk, laptop, desk):
        assert sync(load_config(ws.config.home)).conflicts == ()
    for ws in (desk, laptop):
        files = {file.stem[-2:]: file.read_text() for file in ws.config.journal.glob("*.md")}
        assert files.keys() == days.keys()
        assert all(text in files[day] for day, text in days.items())
        assert "".join(files.values()).count("syn:") == len(days)
        ws.close()
