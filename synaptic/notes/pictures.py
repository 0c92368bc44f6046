"""Removes metadata from pictures, such as where, when and by whom they were taken, without
decoding their pixels. Pure.

| kind | what stays                                                               |
|------|--------------------------------------------------------------------------|
| JPEG | the image, its colour profile, and the way it is turned                  |
| PNG  | the image, its frames, colours, transparency, profile and size in print  |
| WebP | the image, its frames, transparency and profile                          |
| HEIC | all but what stands in the items with EXIF and XMP; AVIF likewise        |

EXIF, XMP, IPTC, comments, thumbnails and whatever follows the image go. JPEG: ITU-T T.81, Annex
B, and EXIF 2.32 for the way it is turned; PNG: RFC 2083; WebP: RFC 9649; HEIC: ISO/IEC 14496-12
and 23008-12.
"""

import re
import struct
from collections.abc import Callable, Iterator, Sequence

from ..errors import Sentence

_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
"""Finds the marker with which the next segment of a JPEG begins."""
_END_OF_IMAGE, _START_OF_SCAN = 0xD9, 0xDA
_COMMENT, _JFIF, _PROFILE, _ADOBE = 0xFE, 0xE0, 0xE2, 0xEE
_ORIENTATION = 0x0112
_PNG_KEPT = set(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP sBIT bKGD pHYs acTL fcTL fdAT".split()
)
_WEBP_KEPT = {b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"}
_EMPTY_EXIF = struct.pack(">I2sHIHI", 0, b"MM", 42, 8, 0, 0)
"""EXIF without a field, as an item of HEIC holds it."""
_EXIF_AND_XMP = 0b1100
"""The flags in a WebP header that say that EXIF or XMP data follow."""
BROKEN = Sentence("The picture file is cut off or broken, so its metadata cannot be removed.")


def remove_metadata(data: bytes, kind: str) -> Sequence[bytes | memoryview] | None:
    """The bytes of a picture, in parts, without its metadata; None if its media type is not
    supported. Raises ValueError if the picture is broken.
    """
    read = _READERS.get(kind)
    if not read:
        return None
    try:
        return list(read(memoryview(data)))
    except (IndexError, struct.error) as error:
        raise ValueError(BROKEN) from error


def _clean_jpeg(data: memoryview) -> Iterator[bytes | memoryview]:
    yield data[:2]
    at = 2
    while True:
        marker = _MARKER.search(data, at)
        if not marker:
            raise ValueError(BROKEN)
        kind = marker[1][0]
        start = marker.end()
        if kind == _END_OF_IMAGE:
            yield data[marker.end() - 2 : marker.end()]
            return
        [length] = struct.unpack_from(">H", data, start)
        body = data[start + 2 : start + length]
        at = start + length
        if length < 2 or len(body) != length - 2:
            raise ValueError(BROKEN)
        if kind == 0xE1 and bytes(body[:6]) == b"Exif\0\0":
            yield _orientation_segment(body[6:])
        elif _is_of_image(kind, body):
            yield data[start - 2 : at]
        if kind == _START_OF_SCAN:
            ends = _MARKER.search(data, at)
            if not ends:
                raise ValueError(BROKEN)
            yield data[at : ends.start()]
            at = ends.start()


def _is_of_image(kind: int, body: memoryview) -> bool:
    """True for a JPEG segment that the image needs, False for metadata."""
    if kind == _PROFILE:
        return bytes(body[:11]) == b"ICC_PROFILE"
    if 0xE0 <= kind <= 0xEF:
        return kind in (_JFIF, _ADOBE)
    return kind != _COMMENT


def _orientation_segment(exif: memoryview) -> bytes:
    """An EXIF segment with only the picture's orientation; empty if `exif` has none."""
    order = {b"II": "<", b"MM": ">"}.get(bytes(exif[:2]))
    if order is None:
        return b""
    try:
        [at] = struct.unpack_from(f"{order}I", exif, 4)
        [count] = struct.unpack_from(f"{order}H", exif, at)
        for number in range(count):
            tag, _, _, way = struct.unpack_from(f"{order}HHIH", exif, at + 2 + 12 * number)
            if tag == _ORIENTATION and 1 < way <= 8:
                tiff = struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, tag, 3, 1, way, 0, 0)
                return struct.pack(">BBH", 0xFF, 0xE1, 8 + len(tiff)) + b"Exif\0\0" + tiff
    except struct.error:
        pass
    return b""


def _clean_png(data: memoryview) -> Iterator[bytes | memoryview]:
    yield data[:8]
    at = 8
    kind = b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at : at + 12 + length]
        at += 12 + length
        if len(chunk) != 12 + length:
            raise ValueError(BROKEN)
        if kind in _PNG_KEPT:
            yield chunk


def _clean_webp(data: memoryview) -> Iterator[bytes | memoryview]:
    [size] = struct.unpack_from("<I", data, 4)
    end = 8 + size
    if end > len(data):
        raise ValueError(BROKEN)
    chunks: list[bytes | memoryview] = []
    at = 12
    while at < end:
        kind, length = struct.unpack_from("<4sI", data, at)
        chunk: bytes | memoryview = data[at : at + 8 + length + length % 2]
        if len(chunk) < 8 + length:
            raise ValueError(BROKEN)
        at += 8 + length + length % 2
        if kind == b"VP8X":
            chunk = bytes(chunk[:8]) + bytes((chunk[8] & ~_EXIF_AND_XMP,)) + bytes(chunk[9:])
        if kind in _WEBP_KEPT:
            chunks.append(chunk)
    if not chunks:
        raise ValueError(BROKEN)
    yield struct.pack("<4sI4s", b"RIFF", 4 + sum(map(len, chunks)), b"WEBP")
    yield from chunks


def _clean_boxes(data: memoryview) -> Iterator[bytes | memoryview]:
    """HEIC and AVIF: each item with metadata becomes an empty one of the same length, so that
    all other places in the file stay right.
    """
    clean = bytearray(data)
    boxes = dict(_boxes(data, 0, len(data)))
    if b"meta" not in boxes:
        raise ValueError(BROKEN)
    start, end = boxes[b"meta"]
    inner = dict(_boxes(data, start + 4, end))
    if b"iinf" in inner:
        items = dict(_metadata_items(data, *inner[b"iinf"]))
        idat = inner.get(b"idat", (0, 0))[0]
        for id, at, size in _extents(data, *inner[b"iloc"], idat) if items else ():
            if at + size > len(clean):
                raise ValueError(BROKEN)
            if id in items:
                clean[at : at + size] = items[id].ljust(size)[:size]
    yield bytes(clean)


def _boxes(data: memoryview, start: int, end: int) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Yields (type, (start, end) of the content) of each box between two offsets."""
    while start + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, start)
        head = 8
        if size == 1:
            [size] = struct.unpack_from(">Q", data, start + 8)
            head = 16
        size = size or end - start
        if size < head or start + size > end:
            raise ValueError(BROKEN)
        yield kind, (start + head, start + size)
        start += size


def _metadata_items(data: memoryview, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yields (id, how an empty one begins) of the items with EXIF or XMP in a box `iinf`."""
    head = 6 if data[start] == 0 else 8
    for kind, (at, _) in _boxes(data, start + head, end):
        version = data[at]
        if kind == b"infe" and version in (2, 3):
            id, _, type = struct.unpack_from(">HH4s" if version == 2 else ">IH4s", data, at + 4)
            if type in (b"Exif", b"mime"):
                yield id, _EMPTY_EXIF if type == b"Exif" else b""


def _extents(data: memoryview, start: int, _: int, idat: int) -> Iterator[tuple[int, int, int]]:
    """Yields (id, offset in the file, size) of each part of an item, by a box `iloc`; `idat` is
    where the content of the box `idat` begins.
    """
    version = data[start]
    sizes = int.from_bytes(data[start + 4 : start + 6], "big")
    offset_size, length_size = sizes >> 12, sizes >> 8 & 15
    base_size, index_size = sizes >> 4 & 15, sizes & 15 if version else 0
    at = start + 6

    def number(size: int) -> int:
        nonlocal at
        at += size
        if at > len(data):
            raise ValueError(BROKEN)
        return int.from_bytes(data[at - size : at], "big")

    id_size = 4 if version == 2 else 2
    for _item in range(number(id_size)):
        id = number(id_size)
        method = number(2) & 15 if version else 0
        number(2)
        base = number(base_size) + (idat if method == 1 else 0)
        for _extent in range(number(2)):
            number(index_size)
            offset = number(offset_size)
            length = number(length_size)
            yield id, base + offset, length


_READERS: dict[str, Callable[[memoryview], Iterator[bytes | memoryview]]] = {
    "image/jpeg": _clean_jpeg,
    "image/png": _clean_png,
    "image/webp": _clean_webp,
    "image/heic": _clean_boxes,
    "image/avif": _clean_boxes,
}
