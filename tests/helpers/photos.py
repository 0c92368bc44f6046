"""Small pictures that tell where they were taken."""

from __future__ import annotations

import struct
import zlib

PLACE = b"47.3769 N, 8.5417 E"


def segment(kind: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, kind, len(body) + 2) + body


def exif(order: str) -> bytes:
    """EXIF that says: turned by a quarter, and where."""
    sign = b"II" if order == "<" else b"MM"
    rows = struct.pack(f"{order}HHIHH", 0x0112, 3, 1, 6, 0)
    rows += struct.pack(f"{order}HHII", 0x8825, 4, 1, 38)
    return b"Exif\0\0" + struct.pack(f"{order}2sHIH", sign, 42, 8, 2) + rows + PLACE


SCAN = bytes(range(256)).replace(b"\xff", b"\xff\x00") + b"\xff\xd0" + b"\x01\x02"
"""Data of an image with a byte 255 and a restart in it."""
PROFILE = segment(0xE2, b"ICC_PROFILE\0colours")
JPEG = b"".join(
    (
        b"\xff\xd8",
        segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"),
        segment(0xE1, exif("<")),
        segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + PLACE),
        PROFILE,
        segment(0xE2, b"MPF\0" + PLACE),
        segment(0xED, b"Photoshop 3.0\0" + PLACE),
        segment(0xFE, PLACE),
        segment(0xDB, bytes(65)),
        segment(0xDA, b"\1\1\0\0\x3f\0"),
        SCAN,
        segment(0xC4, b"tables"),
        segment(0xDA, b"\1\2\0\0\x3f\0"),
        SCAN,
        b"\xff\xd9",
        b"a film of " + PLACE,
    )
)


def chunk(kind: bytes, body: bytes) -> bytes:
    return (
        struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))
    )


PNG_IMAGE = [
    chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
    chunk(b"IDAT", zlib.compress(b"\0\x7f")),
    chunk(b"IEND", b""),
]
PNG = b"".join(
    (
        b"\x89PNG\r\n\x1a\n",
        PNG_IMAGE[0],
        chunk(b"eXIf", PLACE),
        chunk(b"iTXt", PLACE),
        chunk(b"tIME", PLACE[:7]),
        *PNG_IMAGE[1:],
        PLACE,
    )
)


def webp_of(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP"
    for kind, data in chunks:
        body += struct.pack("<4sI", kind, len(data)) + data + b"\0" * (len(data) % 2)
    return struct.pack("<4sI", b"RIFF", len(body)) + body


WEBP_IMAGE = (b"VP8L", b"\x2f" + bytes(10))
WEBP = webp_of((b"VP8X", b"\x0c" + bytes(9)), WEBP_IMAGE, (b"EXIF", PLACE), (b"XMP ", PLACE))
PICTURES = {"image/jpeg": JPEG, "image/png": PNG, "image/webp": WEBP}
