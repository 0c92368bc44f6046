"""The kinds of pictures, by the signatures of files and by their names. Pure."""

from pathlib import PurePath

PICTURES: dict[str, tuple[int, tuple[bytes, ...], tuple[str, ...]]] = {
    "image/png": (0, (b"\x89PNG\r\n\x1a\n",), (".png",)),
    "image/jpeg": (0, (b"\xff\xd8\xff",), (".jpg", ".jpeg")),
    "image/gif": (0, (b"GIF8",), (".gif",)),
    "image/webp": (8, (b"WEBP",), (".webp",)),
    "image/avif": (4, (b"ftypavif",), (".avif",)),
    "image/heic": (4, (b"ftypheic", b"ftypheix", b"ftyphevc", b"ftypmif1"), (".heic", ".heif")),
}
"""For each media type of a picture: (the offset of its signature, the possible signatures, the
suffixes of its file names). SVG does not count as a picture, because it can hold programs.
"""
PICTURE_BYTES = 50_000_000
"""The most bytes of a picture that is shown or imported."""


def picture_media_type(begin: bytes) -> str | None:
    """The media type (`image/png`) of a file that begins with the 32 bytes `begin`; None if it
    is not a picture.
    """
    for kind, (at, signs, _) in PICTURES.items():
        if begin.startswith(signs, at):
            return kind
    return None


def is_picture_name(name: str) -> bool:
    """True if the file name or path has the suffix of a picture."""
    suffix = PurePath(name).suffix.lower()
    return any(suffix in suffixes for *_, suffixes in PICTURES.values())
