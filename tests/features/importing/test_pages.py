"""What Notion and Apple Notes export, page by page."""

from __future__ import annotations

import zipfile
from datetime import datetime
from pathlib import Path

from exported import DATA, check_zips, read


def test_pages_keep_links_tasks_and_pictures(tmp_path: Path) -> None:
    for form in ("notion-md", "notion-html"):
        (scratch := tmp_path / form).mkdir()
        check_zips("notion", DATA / form, scratch)
        found, skipped = read("notion", DATA / form)
        kitchen = found["0123456789abcdef0123456789abcdef"]
        assert (kitchen.title, kitchen.at) == (
            "Kitchen renovation: plan",
            datetime(2026, 3, 4, 15, 4),
        )
        assert kitchen.tags == ("house", "money") and "See [[Tiles]]" in kitchen.text
        [(name, get)] = kitchen.pictures
        assert f"![](attachments/imported/{name})" in kitchen.text and get().startswith(
            b"\xff\xd8\xff"
        )
        assert (
            found["fedcba9876543210fedcba9876543210"].title == "Tiles"
            and len(found) == 2
            and not skipped
        )
    assert "- [x] measure" in kitchen.text and "- [ ] order tiles" in kitchen.text
    notes, _ = read("apple-notes", DATA / "apple-notes")
    bread, shopping = notes["Recipes/Bread.html"], notes["Shopping/Shopping.md"]
    assert bread.title == "Bread" and bread.text.startswith(
        "**Flour**, water, salt\n\n- knead\n- wait"
    )
    assert len(bread.pictures) == 2 and all(
        data().startswith(b"\xff\xd8\xff") for _, data in bread.pictures
    )
    assert len(bread.text) < 200 and shopping.text == "For [[Bread]]: flour"
    check_zips("apple-notes", DATA / "apple-notes", tmp_path)


def test_a_hostile_zip_reaches_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    with zipfile.ZipFile(tmp_path / "tricks.zip", "w") as archive:
        archive.writestr(
            "../../secret.md", "# Out\n\n![](../../../secret.png) ![](/etc/passwd)"
        )
    [note] = read("apple-notes", tmp_path / "tricks.zip")[0].values()
    assert not note.pictures and sorted(one.name for one in tmp_path.iterdir()) == [
        "secret.png",
        "tricks.zip",
    ]

    (folder := tmp_path / "export").mkdir()
    (folder / "a.md").write_text("# A\n\n![](linked.png)")
    (folder / "linked.png").symlink_to(tmp_path / "secret.png")
    assert not read("apple-notes", folder)[0]["a.md"].pictures
