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
        (name, get), *files = kitchen.pictures
        assert [one[0] for one in files] == (
            ["offer-65194c83.pdf"] if form[-2:] == "md" else []
        )
        assert f"](attachments/imported/{name})" in kitchen.text and get().startswith(
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


def test_properties_and_titles_date_a_page_before_its_file(tmp_path: Path) -> None:
    pages = {
        "Tides": "Created: March 4, 2026 3:30 PM\nDate: March 9, 2026\n\nHigh.",
        "Ebbe": "Erstellt: 4. März 2026 15:30\n\nNiedrig.",
        "Прилив": "Создано: 4 марта 2026, 15:30\n\nВысокий.",
        "潮汐": "日期: 2026年3月4日 15:30\n\n高.",
        "Harbour, 4 March 2026": "Crates.",
        "Log": "Date: soon\n\nNothing.",
    }
    for title, text in pages.items():
        (tmp_path / f"{title}.md").write_text(f"# {title}\n\n{text}\n")
    records, skipped = read("notion", tmp_path)
    days = {record.title: record.at.replace(tzinfo=None) for record in records.values()}
    assert not skipped and days.pop("Harbour, 4 March 2026") == datetime(2026, 3, 4)
    assert days.pop("Log") > datetime(2026, 3, 9)
    assert set(days.values()) == {datetime(2026, 3, 4, 15, 30)} and len(days) == 4
