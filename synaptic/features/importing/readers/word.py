"""Reads Word documents (`.docx`) as HTML, with their pictures."""

import re
import zipfile
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from io import BytesIO
from typing import Any

from ....files import PICTURE_FOLDER
from ....notes.picture_kinds import PICTURE_BYTES, PICTURES
from .archive import ExportedFile
from .record import Skipped

XML_BYTES, DOCX_BYTES = 16_000_000, 400_000_000
"""The most bytes to which the text of a Word document may unpack (its reader takes 40 times as
much memory), and the whole document.
"""
_NO_PICTURE = re.compile(r'<img(?: alt="[^"]*")? src="" ?/>')


def read_docx(
    name: str, file: ExportedFile, pictures: dict[str, Callable[[], bytes]], skipped: Skipped
) -> str:
    """Returns the text of a Word document as HTML, and adds its pictures to `pictures`. Raises
    ValueError beyond a limit.
    """
    import mammoth

    data = file.read(DOCX_BYTES)
    _check_docx(data)

    def place_picture(image: Any) -> dict[str, str]:
        kinds = PICTURES.get(image.content_type)
        if not kinds:
            skipped(name, f"a picture of the kind {image.content_type} is left out")
            return {"src": ""}
        with image.open() as stream:
            digest = sha256(stream.read(PICTURE_BYTES + 1)).hexdigest()
        stored = f"{digest[:32]}{kinds[2][0]}"
        pictures[stored] = partial(_read_picture, file, digest)
        return {"src": f"{PICTURE_FOLDER}/{stored}"}

    result = mammoth.convert_to_html(
        BytesIO(data),
        convert_image=mammoth.images.img_element(place_picture),
        include_embedded_style_map=False,
        external_file_access=False,
    )
    return _NO_PICTURE.sub("", str(result.value))


def _check_docx(data: bytes) -> None:
    """Raises ValueError if a Word document unpacks to more than the limits, or declares
    entities, which no program writes.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) > DOCX_BYTES:
                raise ValueError(f"it would unpack to more than {DOCX_BYTES:,} bytes")
            xml = [one for one in infos if not one.filename.startswith("word/media/")]
            if sum(info.file_size for info in xml) > XML_BYTES:
                raise ValueError(
                    f"its text would unpack to more than {XML_BYTES:,} bytes; split it"
                )
            for info in xml:
                if re.search(rb"<!\0?(?:D\0?O|E\0?N)", archive.read(info)):
                    raise ValueError(f"{info.filename} in it declares a document type")
    except zipfile.BadZipFile as error:
        raise ValueError("it is not a Word document (.docx)") from error


def _read_picture(file: ExportedFile, digest: str) -> bytes:
    """Reads the picture with this hash out of a Word document again, because a plan may hold
    thousands.
    """
    with zipfile.ZipFile(BytesIO(file.read(DOCX_BYTES))) as archive:
        for info in archive.infolist():
            if info.filename.startswith("word/media/") and info.file_size <= PICTURE_BYTES:
                picture = archive.read(info)
                if sha256(picture).hexdigest() == digest:
                    return picture
    raise ValueError("the picture is gone from the document")
