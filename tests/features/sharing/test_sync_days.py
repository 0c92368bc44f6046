"""A day goes with its last entry on one machine, while another machine writes there; a kill at
any moment of a sync leaves no false loss.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from killed import started, was_killed
from sharers import share_entry
from trials import drawn

from synaptic import delete, save, update
from synaptic.config import load_config
from synaptic.features.sharing.syncing import sync
from synaptic.journal import disk, losses
from synaptic.workspace.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")

TEXT = "Rowed up to the lock and back again, with Ida and the old dog in the bow of the boat."


def share(folder: Path) -> tuple[Workspace, Workspace, str]:
    """Two machines that share one day of one entry, and the id of that."""
    return share_entry(folder, TEXT, "2026-11-20 09:00")


@pytest.mark.sweep
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


def sync_until(home: Path, moment: int) -> None:
    """Syncs, and dies of SIGKILL at the step of this number."""
    left = moment

    def step(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    disk.inject_fault = step
    sync(load_config(home))


@pytest.mark.sweep
@pytest.mark.parametrize("moment", drawn("moments of a sync", range(42), 2))
def test_a_kill_at_any_moment_leaves_no_false_loss(tmp_path: Path, moment: int) -> None:
    desk, laptop, _ = share(tmp_path)
    days = range(10, 15)
    ids = [save(laptop, f"{TEXT} {day}", at=f"2026-11-{day} 09:00").id for day in days]
    machines = [load_config(ws.config.home) for ws in (laptop, desk)]
    for config in machines:
        sync(config)
    update(desk, ids[0], content="Changed by the desk.")
    update(desk, ids[1], at="2026-11-12")
    delete(desk, ids[2])
    update(desk, ids[3], append="More of the desk.")
    update(desk, ids[4], at="2026-11-19")
    update(laptop, ids[3], importance=8)
    save(laptop, "Of the laptop.", at="2026-11-12 10:00")
    sync(machines[1])
    home = laptop.config.home
    was_killed(started(lambda: sync_until(home, moment)))
    assert not losses.find_losses(laptop.journal)
    for config in (*machines, machines[0]):
        assert sync(config).conflicts == ()
    assert not losses.find_losses(laptop.journal)
    files = [
        {file.name: file.read_text() for file in ws.config.journal.glob("*.md")}
        for ws in (desk, laptop)
    ]
    assert files[0] == files[1]
    text = "".join(files[0].values())
    assert [text.count(id) for id in ids] == [1, 1, 0, 1, 1]
    assert "importance=8" in text and "More of the desk." in text and "Of the laptop." in text
    desk.close()
    laptop.close()
