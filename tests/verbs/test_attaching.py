"""Attached files: where they are kept, and what leaves a picture."""

from __future__ import annotations

import json
import struct
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from homes import open_home
from hypothesis import given, settings
from hypothesis import strategies as st
from photos import (
    JPEG,
    PICTURES,
    PLACE,
    PNG,
    PNG_IMAGE,
    PROFILE,
    SCAN,
    WEBP_IMAGE,
    segment,
    webp_of,
)

from synaptic import Workspace
from synaptic.errors import InvalidArgument, NotFound, Refused
from synaptic.journal.draft_files import DraftFiles
from synaptic.notes.pictures import remove_metadata
from synaptic.verbs import attaching
from synaptic.verbs.attaching import attach_draft_files, attach_to_draft, new_files
from synaptic.verbs.doctor import list_secrets
from synaptic.verbs.removing import delete
from synaptic.verbs.saving import save

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return open_home(tmp_path / "home")


def attach(ws: Workspace, name: str, data: bytes) -> tuple[str, str]:
    """The path of a file that is attached to a note, and the remark about it."""
    with new_files(ws) as files:
        return files.add(name, data), "".join(files.remarks)


def attach_from_draft(ws: Workspace, box: str, name: str) -> str:
    """The text of a note that was a draft with a link to this file."""
    with new_files(ws) as files:
        return attach_draft_files(files, box, f"![My Cat](draft:{name})")


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_loses_its_place_and_nothing_of_its_image(kind: str) -> None:
    parts = remove_metadata(PICTURES[kind], kind)
    assert parts is not None
    left = b"".join(parts)
    assert PLACE not in left and PLACE[:7] not in left
    if kind == "image/jpeg":
        assert left.count(SCAN) == 2 and PROFILE in left and left.endswith(b"\xff\xd9")
        assert b"MPF" not in left and segment(0xC4, b"tables") in left
        turned = left[left.index(b"Exif") :]
        assert struct.unpack_from(">HHIH", turned, 16) == (0x0112, 3, 1, 6)
    if kind == "image/png":
        assert left == b"\x89PNG\r\n\x1a\n" + b"".join(PNG_IMAGE)
    if kind == "image/webp":
        assert left == webp_of((b"VP8X", bytes(10)), WEBP_IMAGE)
    again = remove_metadata(left, kind)
    assert again is not None and b"".join(again) == left


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(PICTURES)), st.data())
def test_a_broken_picture_is_refused_or_loses_its_place_as_well(
    kind: str, data: st.DataObject
) -> None:
    whole = PICTURES[kind]
    ends = data.draw(st.integers(12, len(whole)))
    at = data.draw(st.integers(0, ends - 1))
    bent = whole[:at] + data.draw(st.binary(min_size=1, max_size=4)) + whole[at + 1 : ends]
    try:
        parts = remove_metadata(bent, kind)
    except ValueError:
        return
    assert parts is not None
    assert len(b"".join(parts)) <= len(bent) + 64


def test_a_picture_in_boxes_keeps_its_image_and_its_length() -> None:
    from PIL import Image  # as the phone writes it, but for the pixels

    place = Image.Exif()
    place[0x010E] = PLACE.decode()
    place[0x8825] = {1: "N", 2: (47.0, 22.0, 36.0)}
    file = BytesIO()
    image = Image.new("RGB", (40, 40), "red")
    image.save(file, "AVIF", exif=place, xmp=b"<x:xmpmeta>" + PLACE + b"</x:xmpmeta>")
    data = file.getvalue()
    assert data.count(PLACE) == 2
    parts = remove_metadata(data, "image/avif")
    assert parts is not None
    clean = b"".join(parts)
    assert PLACE not in clean and len(clean) == len(data)
    with Image.open(BytesIO(clean)) as again:
        assert again.size == (40, 40)
        assert max(again.getpixel((20, 20))) > 250
        assert not dict(again.getexif())
    for cut in range(0, len(data), 11):
        with suppress(ValueError):
            left = remove_metadata(data[:cut], "image/avif")
            assert left is not None and PLACE not in b"".join(left)


def test_files_are_kept_under_names_of_ours(ws: Workspace) -> None:
    first = attach(ws, "../../My Photo (1).JPEG", JPEG)
    assert first == ("attachments/2026-11-21-my-photo-1.jpg", "")
    assert attach(ws, "my photo 1.png", JPEG)[0] == "attachments/2026-11-21-my-photo-1-2.jpg"
    path, remark = attach(ws, ".hidden", b"<svg onload=alert(1)>")
    assert path == "attachments/2026-11-21-hidden.bin" and "may hold the place" in remark
    assert attach(ws, "notes.txt", b"Tea.") == ("attachments/2026-11-21-notes.txt", "")
    assert "may hold the place" in attach(ws, "photo.txt", b"II*\0")[1]
    assert attach(ws, "setup.py", b"x")[0] == "attachments/2026-11-21-setup-py.bin"
    kept = ws.config.journal / path
    assert kept.read_bytes() == b"<svg onload=alert(1)>"
    long = attach(ws, f"{'tax ' * 30}2026.pdf", b"%PDF-1.7")[0]
    assert long.endswith("-tax-tax.pdf") and len(long) < 100


def test_files_of_a_note_that_is_not_saved_go(ws: Workspace) -> None:
    old, _ = attach(ws, "old.txt", b"Tea.")
    with pytest.raises(KeyboardInterrupt), new_files(ws, reuses_same=True) as files:
        new = files.add("new.txt", b"Tea.")
        assert (ws.config.journal / new).exists()
        assert files.add("old.txt", b"Tea.") == old
        assert files.add("old.txt", b"Coffee.") == old.replace("old", "old-2")
        raise KeyboardInterrupt
    kept = sorted(one.name for one in (ws.config.journal / "attachments").iterdir())
    assert kept == ["2026-11-21-old.txt"]
    assert not (ws.config.state / "unsaved").exists()


@pytest.mark.parametrize(
    ("setting", "folder"),
    [
        ("media/2026", "media/2026"),
        ("/", ""),
        ("./", ""),
        ("./files", "files"),
        ("../outside", "attachments"),
        (".trash", "attachments"),
        (7, "7"),
    ],
)
def test_they_stand_where_the_vault_keeps_its_attachments(
    ws: Workspace, setting: object, folder: str
) -> None:
    (ws.config.journal / ".obsidian").mkdir(parents=True)
    app = ws.config.journal / ".obsidian" / "app.json"
    app.write_text(json.dumps({"attachmentFolderPath": setting}), "utf-8")
    path, _ = attach(ws, "x.png", PNG)
    assert path.rpartition("/")[0] == folder
    app.write_text("[", "utf-8")
    assert attach(ws, "y.png", PNG)[0] == "attachments/2026-11-21-y.png"


def test_no_link_is_followed_out_of_the_journal(ws: Workspace, tmp_path: Path) -> None:
    ws.config.journal.mkdir(parents=True, exist_ok=True)
    (tmp_path / "outside").mkdir()
    (ws.config.journal / "attachments").symlink_to(tmp_path / "outside")
    with pytest.raises(Exception, match=r"outside|link"):
        attach(ws, "x.png", PNG)
    assert list((tmp_path / "outside").iterdir()) == []


def test_what_may_not_be_attached(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, data, said in (
        ("x.png", b"", "is empty"),
        ("falsch.jpg", b"Ein Text, kein Bild.", "is not a picture"),
        ("page.PNG", b"<!doctype html><p>Hello.", "is not a picture"),
        ("short.heic", b"no", "is not a picture"),
        ("x.png", PNG[:-30], "cut off or broken"),
        ("x.jpg", b"\xff\xd8\xff", "cut off or broken"),
        ("x.md", b"# A note", "is a note"),
        ("X.Markdown", b"# A note", "is a note"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            attach(ws, name, data)
    monkeypatch.setattr(attaching, "FILE_BYTES", 100)
    with pytest.raises(InvalidArgument, match="more than"):
        attach(ws, "x.bin", bytes(101))
    monkeypatch.setattr(attaching, "DAY_BYTES", 150)
    attach(ws, "x.bin", bytes(100))
    with pytest.raises(Refused, match="were attached today"):
        attach(ws, "y.bin", bytes(100))


def test_files_of_drafts_count_and_are_found_by_secrets_and_purge(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = "b" * 32
    webp = PICTURES["image/webp"]
    assert attach_to_draft(ws, box, "My Cat.png", PNG) == "my-cat.png"
    assert attach_to_draft(ws, box, "My Cat.webp", webp) == "my-cat.webp"
    assert attach_to_draft(ws, box, "keys.txt", f"key {TOKEN}".encode()) == "keys.txt"
    [secret] = list_secrets(ws).findings
    assert secret.message.startswith(".state/drafts/") and "keys.txt:1" in secret.message
    assert TOKEN not in secret.message

    text = attach_from_draft(ws, box, "my-cat.png")  # and a kill before the draft ended
    assert text == "![My Cat](attachments/2026-11-21-my-cat.png)"
    entry = save(ws, text)
    delete(ws, entry.id, purge=True)
    assert sorted(file.name for file in DraftFiles(ws.config.state).folder.glob("*/*")) == [
        "keys.txt",
        "my-cat.webp",
    ]
    with pytest.raises(NotFound, match="is gone"):
        attach_from_draft(ws, box, "my-cat.png")

    monkeypatch.setattr(attaching, "DAY_BYTES", DraftFiles(ws.config.state).size())
    with pytest.raises(Refused, match="GB"):
        attach_to_draft(ws, box, "again.png", PNG)
