"""Makes the pictures of a book: small enough to print, without metadata."""

import warnings
from contextlib import AbstractContextManager, suppress
from io import BytesIO
from typing import BinaryIO

from PIL import Image, ImageOps

from ...models import frozen

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF")
"""The formats that a book takes: those of `files.PICTURES` that Pillow reads by itself."""
BROKEN = (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError)
"""What Pillow's readers raise for broken files."""
QUALITY = 82
"""The quality of a JPEG, of 95: at 1,600 pixels no difference is seen on paper."""
PIXEL_BYTES = 0.2
"""The bytes that a pixel of a photo takes at QUALITY, to estimate the size of a book. Photos
took 0.12 to 0.29.
"""
DRAWING_BYTES = 1_000_000
"""A PNG or GIF of at most so many bytes is a drawing or a screen, and stays a PNG: as a JPEG
its letters would blur.
"""


@frozen
class Picture:
    """A picture of a book: its bytes, media type, and size in pixels."""

    data: bytes
    media_type: str
    width: int
    height: int

    @property
    def suffix(self) -> str:
        return "png" if self.media_type == "image/png" else "jpg"


def shrink_picture(file: BinaryIO | None, edge: int) -> Picture | None:
    """Returns the picture in `file`, which is closed, upright, without metadata but its colour
    profile, and with at most `edge` pixels on each side; None if it cannot be read.

    Of a picture that moves it is the first frame.
    """
    if not file:
        return None
    with file, suppress(*BROKEN):
        size = file.seek(0, 2)
        with _without_warnings(), Image.open(file, formats=FORMATS) as image:
            is_drawing = image.format in ("PNG", "GIF") and size <= DRAWING_BYTES
            return _encode(_upright(image, edge), is_drawing=is_drawing)
    return None


def estimate_bytes(file: BinaryIO, edge: int) -> int:
    """Returns about how many bytes `shrink_picture` will make of the picture in `file`, from
    the size in its header; 0 if it cannot be read.
    """
    try:
        with _without_warnings(), Image.open(file, formats=FORMATS) as image:
            width, height = image.size
    except BROKEN:
        return 0
    scale = min(1.0, edge / max(width, height))
    return round(width * scale * height * scale * PIXEL_BYTES)


def _without_warnings() -> AbstractContextManager[object]:
    """Returns a context without Pillow's warning of a picture above 89 megapixels: phones take
    some of 108, and of those above 178 it raises an error.
    """
    return warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning)


def _upright(image: Image.Image, edge: int) -> Image.Image:
    """Returns the picture in the mode L, RGB or RGBA, not larger than `edge`, turned as its
    metadata say.
    """
    has_alpha = "A" in image.mode or "transparency" in image.info
    mode = "RGBA" if has_alpha else "L" if image.mode in ("L", "1") else "RGB"
    smaller: Image.Image = image
    if image.mode != mode:
        smaller = image.convert(mode)
        smaller.info.pop("icc_profile", None)  # it is of other colours
    # a JPEG is not decoded larger than is needed
    smaller.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=1.0)
    return ImageOps.exif_transpose(smaller)


def _encode(image: Image.Image, *, is_drawing: bool) -> Picture:
    """Returns a picture as PNG if it is a drawing or shows what is behind it, else as JPEG."""
    profile = image.info.get("icc_profile")
    image.info.clear()  # comments, which Pillow would write again
    buffer = BytesIO()
    is_png = is_drawing or _is_transparent(image)
    if is_png:
        image.save(buffer, "PNG", icc_profile=profile)
    else:
        opaque = image.convert("RGB") if image.mode == "RGBA" else image
        opaque.save(buffer, "JPEG", quality=QUALITY, icc_profile=profile)
    kind = "image/png" if is_png else "image/jpeg"
    return Picture(buffer.getvalue(), kind, image.width, image.height)


def _is_transparent(image: Image.Image) -> bool:
    """True if a part of the picture lets through what is behind it."""
    if image.mode != "RGBA":
        return False
    lowest, _ = image.getchannel("A").getextrema()
    return isinstance(lowest, int | float) and lowest < 255
