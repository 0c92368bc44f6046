"""Exports of other programs: where they are kept, and what the readers say of them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from synaptic.features.importing.readers.record import Record, find_reader

DATA = Path(__file__).parents[1] / "data" / "exports"
WRONG = (b"", b"{", b'{"entries": []}', b"[]", b"\xff\xfe\x00", b"PK\x03\x04")
"""What the files hold of other programs, and torn ones."""


def read(source: str, place: Path) -> tuple[dict[str, Record], list[str]]:
    """The records by key, and what was skipped."""
    skipped: list[str] = []
    records = list(
        find_reader(source).read(place, lambda where, why: skipped.append(f"{where}: {why}"))
    )
    assert len({record.key for record in records}) == len(records)
    return {record.key: record for record in records}, skipped


def check_zips(source: str, folder: Path, scratch: Path) -> None:
    """A zip of the folder, and a zip that holds that zip, give the records that the folder
    gives, but for times.
    """
    known, _ = read(source, folder)
    (scratch / "zips").mkdir()
    with zipfile.ZipFile(scratch / "zips" / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    with zipfile.ZipFile(scratch / "zips" / "b.zip", "w") as archive:
        archive.write(scratch / "zips" / "a.zip", "Part-1.zip")
    for zipped in (scratch / "zips").iterdir():
        found, _ = read(source, zipped)
        assert (
            list(map(_said, found.values())) == [_said(known[key]) for key in found]
            and found.keys() == known.keys()
        )


def _said(record: Record) -> object:
    pictures = [(name, data()) for name, data in record.pictures]
    return record.title, record.text, record.tags, record.importance, pictures
