"""The arguments and flags of the commands, with help and completion.

A flag is named as the parameter of the verb that takes it.
"""

from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from ..config import load_config
from ..errors import SynapticError
from ..filters import FILTERS, LISTS, Filter
from ..index.plain_index import NameKind, PlainIndex
from ..models import ORDERS, STRATEGIES, TYPES
from ..search.ranking import PRESETS, SIGNALS
from ..verbs.totals import GROUPS

EXPERTS = "For experts"
"""The heading in the help of the options that ask for knowledge of how a search works."""


def _build_parameter(kind: Any, name: str, about: Any, default: Any) -> Parameter:
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, about]
    )


def argument(kind: Any, name: str, metavar: str, help: str, **more: Any) -> Parameter:
    """Returns the declaration of a positional argument for `command`; None if it is optional
    and left out.
    """
    default = None if kind in (list[str] | None, str | None) else Parameter.empty
    return _build_parameter(
        kind, name, typer.Argument(metavar=metavar, help=help, **more), default
    )


def option(
    kind: Any,
    name: str,
    help: str,
    *flags: str,
    default: Any = None,
    metavar: str = "",
    **more: Any,
) -> Parameter:
    """Returns the declaration of a flag that takes a value, for `command`. Without `flags` it
    is named as the parameter `name`. Without a `metavar` a number is an N, and any other value
    is named as the parameter.
    """
    is_number = kind in (int, float, int | None, float | None)
    metavar = metavar or ("N" if is_number else name.upper())
    about = typer.Option(*flags, metavar=metavar, help=help, **more)
    return _build_parameter(kind, name, about, default)


text_option = partial(option, str | None)
texts_option = partial(option, list[str] | None)


def switch(
    name: str, help: str, *flags: str, default: bool | None = False, **more: Any
) -> Parameter:
    """Returns the declaration of a flag without a value. With the default None, a switch that
    is left out gives None, neither True nor False.
    """
    kind = bool if default is False else bool | None
    flags = flags or (f"--{name.replace('_', '-')}",)
    return _build_parameter(kind, name, typer.Option(*flags, help=help, **more), default)


def choice_option(
    name: str,
    values: Iterable[str],
    kind: Any = str | None,
    default: Any = None,
    help: str = "",
    **more: Any,
) -> Parameter:
    """Returns the declaration of a flag that takes one of `values`, which the help lists and
    the shell completes.
    """

    help = f"{help} One of: {', '.join(values)}.".lstrip()
    return option(kind, name, help, default=default, **complete_from(lambda: values), **more)


def complete_from(values: Callable[[], Iterable[str]]) -> dict[str, Any]:
    """Returns the argument for Typer that completes a typed beginning with one of the values.
    They are asked for only then.
    """

    def complete(incomplete: str) -> list[str]:
        return [value for value in values() if value.startswith(incomplete)]

    return {"autocompletion": complete}


def _client_names() -> list[str]:
    from ..setup.clients import CLIENTS  # every command imports this module

    return [client.name for client in CLIENTS]


def _completion(kind: NameKind) -> dict[str, Any]:
    """Returns the argument for Typer that completes a typed beginning with up to 50 tags,
    projects or ids of the index.
    """

    def complete(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        # without an index there is nothing to complete
        with suppress(SynapticError, OSError):
            config = load_config(ctx.find_root().params.get("home"))
            with closing(PlainIndex.open(config.index_file)) as index:
                names = index.names(kind)
            return [name for name in names if name[0].startswith(incomplete)][:50]
        return []

    return {"autocompletion": complete}


TAG_COMPLETION = _completion("tag")
PROJECT_COMPLETION = _completion("project")
ID_COMPLETION = _completion("id")

WORDS = argument(list[str] | None, "text", "TEXT", "Several words need no quotes.")
ID_HELP = "An id, as `recent` and `search` show it; its first four characters are enough."
ID = argument(str, "id", "ID", ID_HELP, **ID_COMPLETION)
ID_OR_NUMBER = argument(
    str,
    "id",
    "ID",
    "An id, or 3 for the third entry of the last list, which numbers them on a terminal; a "
    "title works, too.",
    **ID_COMPLETION,
)
DATE = argument(
    list[str] | None, "date", "DAY", "2026-11-17, yesterday, last tuesday. [default: today]"
)
AS_JSON = switch("as_json", "Answer in JSON, errors too.", "--json")

# what an entry is marked with
NEW_TYPE = choice_option("type", TYPES, help="What it is.")

MARKS = (
    text_option("title", "The heading. [default: the first sentence]"),
    texts_option(
        "tags", "A topic; repeatable.", "--tag", "--tags", metavar="TAG", **TAG_COMPLETION
    ),
    option(int | None, "importance", "0 to 10. An entry without one counts as 5."),
    texts_option(
        "files",
        "A file that the entry is about; repeatable.",
        "--file",
        "--files",
        metavar="FILE",
    ),
    texts_option(
        "supersedes",
        "An entry that this one replaces; repeatable.",
        metavar="ID",
        **ID_COMPLETION,
    ),
    text_option(
        "expires",
        "The last day on which it holds; later it ranks lower: 2026-12-31, next friday. An "
        "empty text removes it.",
        metavar="DAY",
    ),
    text_option(
        "due",
        "When it is to be done: `tasks` lists it, and from that day on agents are told, until "
        "it has the tag done.",
        metavar="DAY",
    ),
)
"""The flags that a save sets and an update changes."""

ATTACH = option(
    list[Path] | None,
    "attach",
    "A file to keep beside the note, with a link to it; repeatable.",
    metavar="FILE",
)

# filters, of which each is a row of `filters`


def _filter_flag(row: Filter) -> Parameter:
    """Returns the declaration of the flag for a filter; `row.form` says if it is a switch or
    takes a value.
    """
    if row.form == "switch":
        return switch(row.name, row.help, *row.flags)
    about = f"{row.help} -NAME leaves out." if row.form == "texts" else row.help
    panel = {"rich_help_panel": EXPERTS} if row.for_experts else {}
    if row.form == "yes or no":
        dashed = row.name.replace("_", "-")
        flags = f"--{dashed}/--no-{dashed.removeprefix('has-')}"
        return switch(row.name, row.help, flags, default=None)
    kind: Any = {"texts": list[str] | None, "integer": int | None}.get(row.form, str | None)
    if row.values:
        return choice_option(row.name, row.values, kind=kind, help=about, **panel)
    more = _COMPLETIONS[row.completes] if row.completes else {}
    metavar = row.metavar or ("DAY" if row.form == "day" else "")
    return option(kind, row.name, about, *row.flags, metavar=metavar, **more, **panel)


_COMPLETIONS = {"tag": TAG_COMPLETION, "project": PROJECT_COMPLETION, "id": ID_COMPLETION}
_LIST_FILTERS = [row for row in FILTERS.values() if set(LISTS) <= set(row.commands)]
PROJECT = _filter_flag(FILTERS["project"])
LIST_FLAGS = (
    *map(_filter_flag, _LIST_FILTERS),
    choice_option("order", ORDERS, help="Which come first."),
)
"""The flags of all filters that both `search` and `find` have, and the flag of the order."""


def filter_flags(command: str) -> list[Parameter]:
    """Returns the flags of the filters of a command; for `search` and `find` without
    LIST_FLAGS.
    """
    rows = [row for row in FILTERS.values() if command in row.commands]
    if command in LISTS:
        rows = [row for row in rows if row not in _LIST_FILTERS]
    return list(map(_filter_flag, rows))


# how they are answered
AS_OF = text_option(
    "as_of",
    "Answer as on that day: 2026-06-01, 'last friday', 'yesterday 18:00'.",
    metavar="DAY",
)
LIMIT = option(int, "limit", "1 to 100 entries.", default=20)
STRATEGY = choice_option(
    "strategy", STRATEGIES, default="auto", help="How to search.", rich_help_panel=EXPERTS
)
PRESET = choice_option(
    "preset", PRESETS, help="Rank by these weights.", rich_help_panel=EXPERTS
)
WEIGHTS = texts_option(
    "weight",
    f"Change a weight, from 0 to 1, of {', '.join(SIGNALS)}; repeatable.",
    "--weight",
    "--weights",
    metavar="NAME=N",
    rich_help_panel=EXPERTS,
)

SUM = text_option(
    "sum_of", "Add up a field, such as hours:: 1.5 in entries.", "--sum", metavar="FIELD"
)
BY = text_option(
    "by",
    f"Group the sums, or count entries: by {', '.join(GROUPS)}, or by the values of a field.",
    **complete_from(lambda: GROUPS),
)

# what a command does
YES = switch("yes", "Do not ask.", "--yes", "-y")
REMOVE = switch("remove", "Take it out again.")
CLIENT = argument(
    list[str] | None,
    "clients",
    "CLIENT",
    "[default: all clients on this machine]",
    **complete_from(_client_names),
)
DRY_RUN = switch("dry_run", "Show the changes without making them.")

# the server over HTTP
READ_ONLY = switch("read_only", "Refuse every change.")
INSECURE = switch(
    "insecure", "Connect to a database elsewhere without proof that it is that host."
)
TOKEN_FILE = text_option(
    "token_file", "The file of tokens. [default: tokens.toml in the home]", metavar="FILE"
)
