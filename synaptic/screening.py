"""What every text meets on its way into the journal: private passages are left out, secrets redacted or refused.

`writing` passes each text that it was given through one `Screen`, before anything is composed of it: a title is
made of the text, and a token cut short there would be found no more. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from .config import Secrets
from .errors import InvalidArgument, Refused
from .privacy import unclosed_tags, without_private
from .redaction import Secret, find_secrets, line_of, redact


class Screen:
    """One save or update. `policy` is the setting `secrets`: redact, refuse or allow."""

    def __init__(self, policy: Secrets) -> None:
        self._policy = policy
        self._redacted: dict[str, None] = {}
        self._private = self._unclosed = False

    def notices(self) -> tuple[str, ...]:
        """What was changed, for the receipt."""
        said = []
        if self._redacted:
            said.append(f"Redacted before it was written: {', '.join(self._redacted)}.")
        if self._private:
            said.append("What stood between <private> and </private> was left out; it is saved nowhere.")
        if self._unclosed:
            said.append("A <private> that is never closed hides nothing; it was saved as text.")
        return tuple(said)

    def text(self, name: str, text: str, *, after: str = "") -> str:
        """`text` as it may be written. `after` stands before it already: a secret may be torn over both.

        Raises Refused, naming kind and line, never the value, where the policy is to refuse; InvalidArgument where
        all of the text is private.
        """
        shown = without_private(text)
        if shown != text:
            self._private = True
            if not shown.strip():
                raise InvalidArgument(
                    f"All of the {name} is private; nothing was saved.", hint="Write it into the file itself."
                )
        self._unclosed |= bool(unclosed_tags(shown.encode("utf-8", "surrogatepass")))
        if self._policy == "allow":
            return shown
        begin = len(after) + 1 if after else 0
        found = find_secrets(f"{after}\n{shown}" if after else shown)
        mine = [Secret(s.kind, max(s.start - begin, 0), s.end - begin) for s in found if s.end > begin]
        if mine and self._policy == "refuse":
            places = ", ".join(f"{_with_article(s.kind)} in line {line_of(shown, s.start)}" for s in mine[:5])
            raise Refused(
                f"The {name} holds {places}; nothing was saved.",
                hint="Leave it out, and say where it is kept instead.",
            )
        self._redacted |= dict.fromkeys(s.kind if name == "text" else f"{s.kind} ({name})" for s in mine)
        return redact(shown, mine)

    def texts(self, name: str, texts: Iterable[str]) -> list[str]:
        """Each of the texts as it may be written."""
        return [self.text(name, text) for text in texts]


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'AEIOaeio' else 'a'} {kind}"
