"""What a deletion takes, and what its undoing gives back."""

from __future__ import annotations

from pathlib import Path

import pytest

from synaptic import Workspace, delete, find, get, restore, save
from synaptic.errors import Refused

DAY = "2026-11-21.md"
SAMPLE = (
    "## 07:40 issue: Oiled the hinge #gate\n"
    "<!-- syn:20261121-aaaabbbb at=2026-11-21T07:40:00+00:00 h2=0 by=person -->\n\n"
    "It creaked.\n"
)
ABOVE = "# 2026-11-21\n\n## 08:00 Notes on the format\n\n"
BELOW = "\nThat was it.\n\n## 10:00 Tin order\n\nOn Friday.\n"


def day_file(ws: Workspace, text: str) -> Path:
    file = ws.config.journal / DAY
    file.write_text(text, "utf-8")
    return file


def id_of(ws: Workspace, title: str) -> str:
    [id] = [entry.id for entry in find(ws, limit=50).entries if entry.title == title]
    return id


# -- code fences
# ---------------------------------------------------------------------------------------


def test_a_deletion_takes_the_entry_with_its_sample_and_no_other(ws: Workspace) -> None:
    file = day_file(ws, f"{ABOVE}```markdown\n{SAMPLE}```\n{BELOW}")
    delete(ws, id_of(ws, "Notes on the format"))
    assert file.read_text("utf-8") == "# 2026-11-21\n\n## 10:00 Tin order\n\nOn Friday.\n"


@pytest.mark.parametrize("purge", [False, True])
@pytest.mark.parametrize("title", ["Oiled the hinge", "Notes on the format"])
def test_no_entry_between_two_fences_is_deleted_on_a_guess(
    ws: Workspace, title: str, purge: bool
) -> None:
    text = f"{ABOVE}```\n{SAMPLE}```\n{BELOW}"
    file = day_file(ws, text)
    with pytest.raises(Refused, match=f"{DAY}:.* code fence"):
        delete(ws, id_of(ws, title), purge=purge)
    assert file.read_text("utf-8") == text
    delete(ws, id_of(ws, "Tin order"))


def test_no_entry_is_deleted_whose_open_fence_hides_another(ws: Workspace) -> None:
    text = f"{ABOVE}```sh\nls\n{BELOW}"
    file = day_file(ws, text)
    with pytest.raises(Refused):
        delete(ws, id_of(ws, "Notes on the format"))
    assert file.read_text("utf-8") == text


def test_an_entry_comes_back_though_a_sample_has_its_id(ws: Workspace) -> None:
    id = save(ws, "Greased the lock.").id
    file = ws.config.journal / DAY
    block = file.read_text("utf-8").partition("\n\n")[2]
    quoted = f"{ABOVE}```md\n{block}```\n"
    day_file(ws, f"{quoted}\n{block}")
    delete(ws, id)
    restore(ws, id)
    assert file.read_text("utf-8") == f"{quoted}\n{block}"
    assert get(ws, [id]).entries[0].title == "Greased the lock."
