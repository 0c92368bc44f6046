"""Screens every text before it is written into the journal: removes private passages, and
redacts or refuses secrets. Pure.

`draft` passes each given text through one `Screen` before it composes an entry. A title is
made of the text, and a token that the title cuts short could no longer be found.
"""

import re
from collections.abc import Iterable

from ..config import Secrets
from ..errors import InvalidArgument, Refused, Sentence
from .privacy import unclosed_tags, without_private
from .redaction import INVISIBLE, Secret, find_secrets, line_number, merge_secrets, redact

_MARKUP = (
    r"\\[!-/:-@\[-`{-~]|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|(?<![^\s(\[\"'])[*_]+(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])[*_]+(?=[\s.,;:!?)\]\"']|\Z)"
    r"|(?:(?<=[^\s*])\*+|(?<=\S)~~|(?<=[^\s`])`+)(?=\S)"
    r"|(?<=[^\s<>=:(\[\"'])(?:</?[A-Za-z][^<>\n]{0,200}>)+(?=[^\s<>)\]\"'])"
)
"""Marks inside a word that a reader of rendered Markdown does not see: escapes, emphasis, code,
entities, HTML.
"""


def visible_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in a text as written and as rendered from Markdown, in order, without
    overlaps.

    So `ghp_**abc**` counts as `ghp_abc`, the token that a reader sees. Linear in the text's
    length.
    """
    secrets = list(find_secrets(text))
    unseen = f"{_MARKUP}|{INVISIBLE}"
    if re.search(_MARKUP, text):
        for secret in find_secrets(text, unseen):
            value = text[secret.start : secret.end]
            # `hun****r2` was left out by a person, unless it is a token all the same
            if "****" not in value or find_secrets(value, unseen):
                secrets.append(secret)
    return merge_secrets(secrets)


class Screen:
    """Screens the texts of one save or update. `policy` is the setting `secrets`: redact,
    refuse or allow secrets.
    """

    def __init__(self, policy: Secrets) -> None:
        self._policy = policy
        self._redacted: dict[str, None] = {}
        self._private = self._unclosed = False

    def notices(self) -> tuple[str, ...]:
        """A sentence for the user about each kind of change that the screen made."""
        sentences: list[str] = []
        if self._redacted:
            text = "Redacted before it was written: {secrets}."
            sentences.append(Sentence(text, secrets=", ".join(self._redacted)))
        if self._private:
            sentences.append(
                Sentence(
                    "The text between <private> and </private> was left out; it is "
                    "saved nowhere."
                )
            )
        if self._unclosed:
            sentences.append(
                Sentence(
                    "A <private> that is never closed hides nothing; it was saved as text."
                )
            )
        return tuple(sentences)

    def text(self, name: str, text: str, *, after: str = "") -> str:
        """Screens one text and returns it without private passages and secrets. `after` is the
        text before it in the file, because a secret may span both.

        Raises Refused if the policy is to refuse and the text holds a secret; the message names
        kind and line, never the value. Raises InvalidArgument for a NUL, which makes tools take
        a file for no text, or if all is private.
        """
        if "\0" in text and name in ("text", "title", "tag"):
            raise InvalidArgument(
                "The {name} holds a NUL character; nothing was saved.",
                "Remove the character U+0000, and save again.",
                of=[name] if name != "text" else (),
                name=Sentence(name),
            )
        public = without_private(text)
        if public != text:
            self._private = True
            if not public.strip():
                raise InvalidArgument(
                    "The whole {name} is marked as private, which Synaptic never "
                    "saves; nothing was saved.",
                    "Remove the marks, or write it with an editor: `synaptic edit` opens one.",
                    of=[name] if name != "text" else (),
                    name=Sentence(name),
                )
        self._unclosed |= bool(unclosed_tags(public.encode("utf-8", "surrogatepass")))
        return self.redact_secrets(name, public, after=after)

    def redact_secrets(self, name: str, text: str, *, after: str = "") -> str:
        """The text without its secrets. `after` and errors are as for `text`."""
        if self._policy == "allow":
            return text
        above = f"{after}\n" if after else ""
        begin = len(above)
        mine = [
            Secret(kind, max(start - begin, 0), end - begin)
            for kind, start, end in visible_secrets(above + text)
            if end > begin
        ]
        if not mine:
            return text
        if self._policy == "refuse":
            places = [f"{s.kind} in line {line_number(text, s.start)}" for s in mine[:5]]
            raise Refused(
                "The {name} holds secrets: {places}; nothing was saved.",
                "Save it without them; name the place where each one is stored instead.",
                of=[name] if name != "text" else (),
                name=Sentence(name),
                places=", ".join(places),
            )
        self._redacted |= dict.fromkeys(
            s.kind if name == "text" else f"{s.kind} ({name})" for s in mine
        )
        # a token that adjoined another one is recognised only now
        return self.redact_secrets(name, redact(text, mine), after=after)

    def mark(self, name: str, value: str) -> str:
        """Screens a value for an entry's comment; "" if nothing is left of it."""
        public = without_private(value)
        self._private |= public != value
        return self.redact_secrets(name, public).strip()

    def texts(self, name: str, texts: Iterable[str]) -> list[str]:
        """Screens each text and returns them."""
        return [self.text(name, text) for text in texts]
