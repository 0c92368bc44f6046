"""Every error that Synaptic raises on purpose, in one tree.

    SynapticError
    ├── InvalidArgument     a value outside what is valid (usage)
    ├── ConfigError         config.toml or the environment cannot be used, or lacks a package
    ├── NotFound            no such entry, file or copy
    ├── Ambiguous           a short id fits several entries
    ├── Refused             a rule forbids the save or the edit
    ├── Changed             the file changed under an edit; nothing was written
    ├── Busy                another process holds a lock
    ├── Withdrawn           the client cancelled its call before anything was changed
    ├── JournalError        the disk, git or a client's file failed: full, read-only, missing
    ├── IndexUnusable       the index cannot be opened (a stranger's database, no permission)
    │   └── IndexFailed     SQLite failed on the index: damage, the disk, too large a question
    │       └── IndexBusy   another process is writing the index
    ├── ModelError          the embedding model cannot be loaded
    ├── PlugInError         another package's plug-in cannot be loaded
    └── Unreachable         the server that writes the journal gave no answer, or refused

A message says what happened; `valid` lists the values that would have worked; `hint` is the
next step. `of` are the parameters that the message names. They become answers at the edge: in
`cli/main.py` and `mcp`, which name each parameter as it was typed, and on the page.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Literal, TypeVar

FREE_SPACE = "Free some space and try again. What was saved stays saved."
Cure = Literal["reset", "detach", "again", ""]
Name = TypeVar("Name", bound=str)


class Sentence(str):
    """An English sentence, which is read as any text. By its template (of `str.format`) and
    values, which may be sentences, the page says it in the language of its reader.
    """

    template: str
    values: dict[str, object]

    def __new__(cls, template: str, /, **values: object) -> "Sentence":
        if isinstance(template, Sentence):
            return template
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template, made.values = template, values
        return made


def join_sentences(sentences: Sequence[str], by: str = "{one} {other}") -> str:
    """Returns the sentences as one, joined by a template: a blank between them, or `and`."""
    return reduce(lambda one, other: Sentence(by, one=one, other=other), sentences)


class SynapticError(Exception):
    """The base class of all our errors. `code` is stable and meant for programs, the texts for
    people.
    """

    code = "error"

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        valid: Iterable[str] = (),
        of: Iterable[str] = (),
        **values: object,
    ) -> None:
        self.message: str = Sentence(message, **values)
        super().__init__(self.message)
        self.valid = tuple(valid)
        self.hint: str = Sentence(hint, **values)
        self.of = tuple(of)

    def __str__(self) -> str:
        """The message, the valid values and the hint in one line."""
        parts = [self.message]
        if self.valid:
            values = join_sentences(self.valid, "{one}, {other}")
            parts.append(Sentence("Valid: {values}.", values=values))
        if self.hint:
            parts.append(self.hint)
        return join_sentences(parts)


@contextmanager
def naming_parameter(name: str) -> Iterator[None]:
    """A context in which an error about an id names the parameter that holds this id."""
    try:
        yield
    except (NotFound, Ambiguous) as error:
        if not error.of:
            error.message = Sentence("{name}: {text}", name=Sentence(name), text=error.message)
            error.of = (name,)
        raise


class InvalidArgument(SynapticError):
    code = "invalid-argument"


class ConfigError(SynapticError):
    code = "bad-config"


class NotFound(SynapticError):
    code = "not-found"


class Ambiguous(SynapticError):
    code = "ambiguous-id"


class Refused(SynapticError):
    code = "refused"


class Changed(SynapticError):
    code = "changed"


class Busy(SynapticError):
    code = "busy"


class Withdrawn(SynapticError):
    code = "withdrawn"


class JournalError(SynapticError):
    code = "journal-error"


class IndexUnusable(SynapticError):
    code = "index-error"


class IndexFailed(IndexUnusable):
    """SQLite failed on the index with the message `reason`. `cure` says how `Database.heal`
    reacts: `reset` makes a damaged file anew, `detach` continues in memory because the disk
    refuses writes, `again` checks whether the file or the query is at fault; "": nothing helps.
    """

    def __init__(self, reason: str, cure: Cure = "") -> None:
        if cure == "detach":
            super().__init__(
                "The index cannot be written: {reason}.", FREE_SPACE, reason=reason
            )
        else:
            hint = "The journal is untouched; `synaptic doctor` says more."
            super().__init__("The index cannot be used: {reason}.", hint, reason=reason)
        self.reason = reason
        self.cure = cure


class IndexBusy(IndexFailed):
    """Another process was still writing the index when the waiting time was over."""


class ModelError(SynapticError):
    code = "model-error"


class PlugInError(SynapticError):
    code = "plug-in-error"


class Unreachable(SynapticError):
    code = "unreachable"


def match_valid_name(names: Iterable[Name], value: str, what: str) -> Name:
    """Returns the item of `names` that equals `value`, ignoring case and outer blanks. Raises
    InvalidArgument listing the names; `what`, which begins with the parameter's name, says
    in its message what was given.
    """
    for name in names:
        if name == value.strip().lower():
            return name
    raise InvalidArgument(
        "{what} {value!r} is unknown.",
        valid=names,
        of=what.split()[:1],
        what=Sentence(what),
        value=value,
    )


def check_range(name: str, value: float | None, low: float, high: float) -> None:
    """Raises InvalidArgument for a value that is not from `low` to `high`; None passes. `name`
    begins with the parameter's.
    """
    if value is not None and not low <= value <= high:
        message = Sentence("{name} is {value}.", name=Sentence(name), value=value)
        raise InvalidArgument(message, valid=(f"{low} to {high}",), of=name.split()[:1])
