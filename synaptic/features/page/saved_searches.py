"""Saved searches: the links to the search page in one note of the journal.

The note is a person's own: each link `[name](/search?q=…)` in it is a saved search, also one
with the whole address of a page, and who removes a line removes a search.
"""

import re
from contextlib import suppress
from urllib.parse import unquote_plus

from ...errors import InvalidArgument, NotFound, Refused
from ...journal.writer import Draft, Stat
from ...models import Texts, frozen
from ...notes.blocks import usual_line_end, without_masked
from ...notes.privacy import mask_private
from ...notes.screening import Screen
from ...verbs.receipts import index_now, logged
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .translation import translate

NOTE = "Saved searches.md"
"""The note of the saved searches, at the top of the journal."""
MOST_CHARS = 100, 2000
"""The most characters of the name and of the address of a search."""
_LINK = re.compile(
    r"\[((?:\\.|[^\]\\\n])+)\]\(<?(?:https?://[^/\s()<>]+)?(/search\?[^\s()<>]+)>?\)"
)
_SIGN = re.compile(r"[\\`*_\[\]<>#$]|:(?=:)")
"""A sign that could be more than text within a link, such as the `#` of a tag."""


@frozen
class SavedSearch:
    """A search with its name, and the address of its page, such as `/search?q=boat`."""

    name: str
    address: str


def saved_searches(ws: Workspace) -> list[SavedSearch]:
    """The saved searches, in the order of their note; none without it."""
    if NOTE in in_step(ws, lambda _: ws.index.paths()):
        with suppress(NotFound):
            return _links_in_note(ws.journal.read(NOTE))
    return []


@logged("save a search")
def save_search(ws: Workspace, name: str, address: str) -> Texts:
    """Adds a link to the note of saved searches, which it begins if needed; returns notices.

    Raises InvalidArgument for a name that is empty or too long and for a search that is saved
    already, and Refused for a secret or a private passage.
    """
    name = " ".join(name.split())
    if not name or len(name) > MOST_CHARS[0]:
        raise InvalidArgument(
            translate("A saved search needs a name."),
            translate("Name it in a few words."),
            valid=(translate("a name of 1 to %(most)s characters", most=MOST_CHARS[0]),),
        )
    if address.endswith("?") or len(address) > MOST_CHARS[1]:
        raise InvalidArgument(
            translate("Only a search with words or filters can be saved."),
            translate("Search for something first, in fewer words than a text has."),
        )
    words = f"{name}\n{unquote_plus(address)}"
    if Screen(ws.config.secrets).text("text", words) != words:
        raise Refused(
            translate("The search holds a secret or private text, and was not saved."),
            translate("Search for other words."),
        )
    line = f"- [{_SIGN.sub(_escape, name)}]({address})"

    def add(data: bytes, status: Stat) -> Draft:
        for search in _links_in_note(data):
            if search.address == address:
                raise InvalidArgument(
                    translate("This search is saved already, as “%(name)s”.", name=search.name),
                    translate("To rename it, edit %(note)s.", note=NOTE),
                )
        end = usual_line_end(data)
        before = data or b"# Saved searches" + end
        if not before.endswith(b"\n"):
            before += end
        if not _links_in_note(before):
            before += end
        after = before + line.encode() + end
        if SavedSearch(name, address) not in _links_in_note(after):
            raise Refused(
                translate(
                    "%(note)s hides its end: a <private> is not closed there; nothing was "
                    "saved.",
                    note=NOTE,
                ),
                translate("Close it in your editor."),
            )
        return Draft(after)

    with ws.own_journal.writing():
        ws.own_journal.writer.change(NOTE, add)
    return index_now(ws, NOTE)


def _escape(sign: re.Match[str]) -> str:
    return f"\\{sign[0]}"


def _links_in_note(data: bytes) -> list[SavedSearch]:
    text = without_masked(mask_private(data)).decode("utf-8", "replace")
    return [
        SavedSearch(re.sub(r"\\(.)", r"\1", link[1]), link[2]) for link in _LINK.finditer(text)
    ]
