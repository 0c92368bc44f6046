"""Turns what went wrong into an error with a text for its user, at the edges."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from logging import getLogger

from ..errors import FREE_SPACE, ConfigError, JournalError, SynapticError


def to_synaptic_error(error: BaseException) -> SynapticError | None:
    """`error` as a SynapticError, if it is one, or if a full disk or a missing package caused
    it; None for any other error, which is a defect.
    """
    if isinstance(error, SynapticError):
        return error
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        file = error.filename or "A file"
        return JournalError("{file} cannot be written: disk full.", FREE_SPACE, file=file)
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        if package != __name__.partition(".")[0]:
            return ConfigError(
                f"This needs the Python package {package}, which is not installed.",
                "`pip install synaptic-journal` installs all that Synaptic uses.",
            )
    return None


def to_user_error(error: BaseException) -> SynapticError:
    """Returns a SynapticError with a text for the user, and logs the details of an unexpected
    error.
    """
    own = to_synaptic_error(error)
    if own:
        return own
    getLogger(__name__).error("a defect", exc_info=error)
    return SynapticError(
        "Synaptic failed ({kind}); the server's log has the details.",
        hint="What was saved stays saved. `synaptic doctor` looks for the cause.",
        kind=type(error).__name__,
    )


def name_as_typed(error: SynapticError, words: Mapping[str, str]) -> None:
    """Names each parameter of the error's message by its word in `words`, as `--tag` for
    `tags`. A name may lack the `s` of the plural.
    """
    typed = {name.removesuffix("s"): word for name, word in words.items()}
    named = []
    for name in error.of:
        word = typed.get(name.removesuffix("s"), name)
        # the first one: the value behind it may hold the name, too
        error.message = re.sub(rf"\b{name}\b", word, error.message, count=1)
        error.valid = tuple(word if one == name else one for one in error.valid)
        named.append(word)
    error.of = tuple(named)
