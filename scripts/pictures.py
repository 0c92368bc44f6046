"""Makes docs/pictures anew: the pages of `synaptic serve` on an invented journal, light and
dark, at 360 and 1280 px, and Today in each language of the page, at 390 px.

    .venv/bin/python scripts/pictures.py              # all pages, and the icons
    .venv/bin/python scripts/pictures.py day search   # these alone
    .venv/bin/python scripts/pictures.py --full --to DIR   # each page to its end, to look at

The journal is tests/data/tidewatch and the clock stands still, so two runs differ only by the
machine's fonts.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from pathlib import Path

from environment import ROOT
from PIL import Image
from playwright.sync_api import Page

sys.path.insert(0, str(ROOT / "tests" / "helpers"))
from served import browsing, driving, logged_in, served
from tidewatch import NOW, PAGES, make_home, synaptic

WIDTHS = {1280: 800, 360: 720}
"""The height of the picture for each width."""
PHONE = {"width": 390, "height": 844}
LANGUAGES = ("en", "de", "ja")
COLOURS = 96
MORE = {"tasks": "/tasks", "composer": "/", "palette": "/"}
TYPED = {
    "composer": {"n": "Station 9340 is calm again. #tides"},
    "palette": {"Control+k": "postgres"},
}
"""Keys that are pressed on a page first, each with the text that is typed after it."""
ICON_SIZES = (192, 512)
STATIC = ROOT / "synaptic" / "features" / "page" / "static"


def main() -> None:
    """Takes the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join([*PAGES, *MORE, 'empty', 'icons', 'languages'])}",
    )
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--full", action="store_true", help="to the end of each page")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    if not given.names or "icons" in given.names:
        draw_icons()
    person = Path(
        tempfile.gettempdir(), "ines"
    )  # pages show paths: they are the same each time
    person.mkdir()
    try:
        synaptic(make_home(person / ".synaptic"), "rebuild-index")
        take(person / ".synaptic", PAGES | MORE, given.names, given.to, full=given.full)
        if not given.names or "languages" in given.names:
            take_languages(person / ".synaptic", given.to, full=given.full)
        take(person / "empty", {"empty": "/"}, given.names, given.to, full=given.full)
    finally:
        shutil.rmtree(person)


def take(home: Path, pages: dict[str, str], names: list[str], to: Path, *, full: bool) -> None:
    """A picture of each of these pages, or of those that are named, in each mode and width."""
    with (
        served(home, SYNAPTIC_NOW=NOW, TZ="UTC", HOME=str(home.parent)) as server,
        driving() as playwright,
        browsing(playwright) as browser,
    ):
        for mode in ("light", "dark"):
            for width, height in WIDTHS.items():
                context = logged_in(
                    browser,
                    server,
                    color_scheme=mode,
                    viewport={"width": width, "height": height},
                    reduced_motion="reduce",
                )
                page = context.new_page()
                for name, path in pages.items():
                    if not names or name in names:
                        page.goto(path)
                        for key, text in TYPED.get(name, {}).items():
                            page.keyboard.press(key)
                            page.keyboard.type(text)
                        _keep(page, to / f"{name}-{mode}-{width}.png", full=full)
                context.close()


def take_languages(home: Path, to: Path, *, full: bool) -> None:
    """A picture of Today in each language, on a phone; Japanese needs a font."""
    with (
        served(home, SYNAPTIC_NOW=NOW, TZ="UTC", HOME=str(home.parent)) as server,
        driving() as playwright,
        browsing(playwright) as browser,
    ):
        for language in LANGUAGES:
            context = logged_in(
                browser, server, locale=language, viewport=PHONE, reduced_motion="reduce"
            )
            page = context.new_page()
            page.goto("/")
            _keep(page, to / f"today-{language}-390.png", full=full)
            context.close()


def draw_icons() -> None:
    """Draws static/icon.svg as the PNG files that a page on a home screen needs."""
    with driving() as playwright, browsing(playwright) as browser:
        for size in ICON_SIZES:
            page = browser.new_page(viewport={"width": size, "height": size})
            page.goto((STATIC / "icon.svg").as_uri())
            page.screenshot(path=STATIC / f"icon-{size}.png", omit_background=True)
            page.close()


def _keep(page: Page, path: Path, *, full: bool) -> None:
    """The picture with few colours, so that all of them together stay small."""
    page.evaluate("document.activeElement.blur()")  # a cursor blinks
    shot = Image.open(
        io.BytesIO(page.screenshot(full_page=full, animations="disabled", caret="hide"))
    )
    shot.convert("RGB").quantize(
        COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
    ).save(path, optimize=True)


if __name__ == "__main__":
    main()
