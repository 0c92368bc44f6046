"""The arguments and flags of the commands, with help and completion.

A flag is named as the parameter of the verb that takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from inspect import Parameter
from typing import Annotated, Any

import apsw
import typer

from ...config import load_config
from ...errors import SynapticError
from ...index.lookup import known
from ...models import ORDERS, STRATEGIES, TYPES
from ...readers.record import IN_PLACE, READERS
from ...search.ranking import PRESETS, SIGNALS
from ...workspace.workspace import index_of


def _parameter(kind: Any, name: str, about: Any, default: Any = None) -> Parameter:
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, about]
    )


def _argument(kind: Any, name: str, metavar: str, help: str, **more: Any) -> Parameter:
    default = None if kind in (list[str] | None, str | None) else Parameter.empty
    return _parameter(kind, name, typer.Argument(metavar=metavar, help=help, **more), default)


def _option(
    kind: Any, name: str, metavar: str, help: str, *flags: str, default: Any = None, **more: Any
) -> Parameter:
    return _parameter(
        kind, name, typer.Option(*flags, metavar=metavar, help=help, **more), default
    )


_text, _texts = partial(_option, str | None), partial(_option, list[str] | None)


def _switch(name: str, help: str, *flags: str) -> Parameter:
    return _parameter(
        bool, name, typer.Option(*(flags or (f"--{name.replace('_', '-')}",)), help=help), False
    )


def _one_of(
    name: str,
    metavar: str,
    values: Iterable[str],
    help: str = "One of",
    kind: Any = str | None,
    **more: Any,
) -> Parameter:
    description = f"{help}: {', '.join(values)}."
    completion = _starting(lambda _: [(value, "") for value in values])
    return _option(kind, name, metavar, description, autocompletion=completion, **more)


def _starting(
    values: Callable[[typer.Context], Iterable[tuple[str, str]]],
) -> Callable[..., list[tuple[str, str]]]:
    """A completion with the first 50 values that begin with the typed word."""

    def complete(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        return [value for value in values(ctx) if value[0].startswith(incomplete)][:50]

    return complete


def _clients(_: typer.Context) -> list[tuple[str, str]]:
    from ..clients.clients import CLIENTS  # only one command needs it

    return [(client.name, "") for client in CLIENTS]


def _known(kind: str, ctx: typer.Context) -> list[tuple[str, str]]:
    with suppress(
        SynapticError, apsw.Error, OSError
    ):  # without an index there is nothing to complete
        config = load_config(ctx.find_root().params.get("home"))
        return known(config.state / index_of(config.model), kind)
    return []


_A_TAG, _A_PROJECT, _AN_ID = (
    {"autocompletion": _starting(partial(_known, kind))} for kind in ("tag", "project", "id")
)

WORDS = _argument(list[str] | None, "text", "TEXT", "Several words need no quotes.")
ID = _argument(str, "id", "ID", "A whole id, or at least four characters of it.", **_AN_ID)
DELETED = _argument(
    str | None, "id", "ID", "Without an ID the deleted entries are listed.", **_AN_ID
)
IDS = _argument(
    list[str], "ids", "ID", "Whole ids, or at least four characters of each.", **_AN_ID
)
SOME_IDS = _argument(
    list[str] | None, "ids", "ID", "Without an ID the pinned entries are listed.", **_AN_ID
)
ID_OR_NUMBER = _argument(
    str, "id", "ID", "An id, or N for entry N of the last search, find or recent.", **_AN_ID
)
NAME = _argument(list[str] | None, "name", "NAME", "An id, title, page, alias or path.")
DATE = _argument(
    list[str] | None, "date", "DATE", "2026-11-17, yesterday, last tuesday. [default: today]"
)
AS_JSON = _switch("as_json", "Answer in JSON, also errors.", "--json")

# what an entry is marked with
TYPE = _one_of("type", "TYPE", TYPES, default="note")
NEW_TYPE = _one_of("type", "TYPE", TYPES)
TAGS = _texts("tags", "TAG", "A topic; repeatable.", "--tag", "--tags", **_A_TAG)
ADD_TAGS = _texts(
    "add_tags", "TAG", "A tag to add; repeatable.", "--add-tag", "--add-tags", **_A_TAG
)
REMOVE_TAGS = _texts(
    "remove_tags",
    "TAG",
    "A tag to remove; repeatable.",
    "--remove-tag",
    "--remove-tags",
    **_A_TAG,
)
TITLE = _text("title", "TEXT", "The heading. [default: the first sentence]")
IMPORTANCE = _option(
    int | None, "importance", "N", "0 to 10. An entry without one counts as 5."
)
FILES = _texts(
    "files", "PATH", "A file that the entry is about; repeatable.", "--file", "--files"
)
PROJECT = _text(
    "project", "NAME", "Its project. [default: the git repository of this folder]", **_A_PROJECT
)
NEW_PROJECT = _text("project", "NAME", "The project; an empty NAME removes it.", **_A_PROJECT)
PARENT = _text("parent", "ID", "The entry that this one continues.", **_AN_ID)
SUPERSEDES = _texts(
    "supersedes", "ID", "An entry that this one replaces; repeatable.", **_AN_ID
)
AT = _text(
    "at",
    "TIME",
    "When it happened: 2026-11-21T09:31, yesterday 18:00, 2 hours ago. [default: now]",
)
PIN = _switch("pin", "Show it at the start of every session of its project.")
EXPIRES = _text(
    "expires",
    "DATE",
    "Rank it lower after this day: 2026-12-31, next friday. An empty DATE removes it.",
)
FORCE = _switch("force", "Save it although the same text was saved in the last ten minutes.")

# filters, named as in `build_filters`
IN_TYPES = _one_of("type", "TYPE", TYPES, kind=list[str] | None)
IN_TAGS = _texts(
    "tags", "TAG", "Entries with one of these tags; repeatable.", "--tag", "--tags", **_A_TAG
)
IN_FILES = _texts(
    "file", "PATH", "Entries about one of these files; repeatable.", "--file", "--files"
)
IN_PATHS = _texts(
    "path",
    "PATH",
    "Entries in these folders or files of the journal: en/, *.md; repeatable.",
)
IN_PROJECTS = _texts(
    "project",
    "NAME",
    "Entries of these projects; repeatable. '*': all projects alike.",
    **_A_PROJECT,
)
DAYS = _option(int | None, "days", "N", "Entries of the last N days, with today.")
SINCE = _text(
    "since", "DATE", "Only entries from this day on: 2026-11-03, yesterday, 'last week', Q2."
)
UNTIL = _text("until", "DATE", "Only entries up to this day.")
FILTERS = (IN_TYPES, IN_TAGS, IN_FILES, IN_PATHS, IN_PROJECTS, SINCE, UNTIL)
"""The filters of a list and of an export."""
OF_PARENT = _text("parent", "ID", "Entries that continue this one.", **_AN_ID)
HAS_BODY = _parameter(
    bool | None,
    "has_body",
    typer.Option(
        "--has-body/--no-body", help="Entries with or without text below the heading."
    ),
)
HAS_FILES = _parameter(
    bool | None,
    "has_files",
    typer.Option("--has-files/--no-files", help="Entries with or without files."),
)
HAS_TASKS = _parameter(
    bool | None,
    "has_tasks",
    typer.Option("--has-tasks/--no-tasks", help="Entries with or without tasks."),
)
WHERE = _texts(
    "where",
    "NAME=VALUE",
    "Entries with this front matter or property; repeat it to require several.",
)
LINKS_TO = _text(
    "links_to", "NAME", "Entries that link to this entry or page: an id, title, alias or path."
)
SESSIONS = _switch(
    "sessions", "Only digests of agents' sessions: questions, answers, edits and commands."
)
SOURCE_LINES = _switch(
    "source", "Also show the lines of the transcript from which the digest was made."
)
MIN_IMPORTANCE = _option(
    int | None, "min_importance", "N", "0 to 10. An entry without one counts as 5."
)
MAX_IMPORTANCE = _option(int | None, "max_importance", "N", "0 to 10.")
SUPERSEDED = _switch("include_superseded", "Also entries that a later one replaced.")

# how they are answered
LIMIT = _option(
    int | None,
    "limit",
    "N",
    "1 to 100 entries. [default: up to 8, while they fit the question]",
)
NEWEST = _option(
    int | None, "limit", "N", "1 to 100 entries. [default: 10; with TEXT, those that fit it]"
)
LENGTH = _option(int, "limit", "N", "1 to 100 entries.", default=20)
STRATEGY = _one_of("strategy", "NAME", STRATEGIES, default="auto")
BUDGET_MS = _option(
    float | None, "budget_ms", "MS", "Milliseconds that an automatic search may take."
)
PRESET = _one_of("preset", "NAME", PRESETS, "Weights by name")
WEIGHTS = _texts(
    "weight", "NAME=N", f"0 to 1, of {', '.join(SIGNALS)}; repeatable.", "--weight", "--weights"
)
PREFER = _texts(
    "prefer",
    "NAME=VALUE",
    "Rank entries of this type, tag or project higher: --prefer tag=db. Repeatable.",
)
MIN_SIMILARITY = _option(
    float | None,
    "min_similarity",
    "N",
    "Leave out entries below this similarity (a cosine, 0 to 1).",
)
SUB_QUERIES = _texts(
    "sub_queries", "TEXT", "One more question for a smart search; repeatable.", "--sub-query"
)
MAX_ROUNDS = _option(int, "max_rounds", "N", "Rounds of a smart search, 0 to 3.", default=2)
EXPLAIN = _switch("explain", "Say why each hit has its rank.")
AS_NOTE = _switch("note", "The text is a note, not a question.")
ORDER = _one_of("order", "NAME", ORDERS)
AROUND = _text("around", "ID", "List what happened before and after this entry.", **_AN_ID)
FACETS = _switch("facets", "Also count types, tags and projects.")
CURSOR = _text("cursor", "TEXT", "Continue the list that ended with this cursor.")

# what a command does
BROKEN = _switch("broken", "List all links that lead nowhere.")
DONE = _parameter(
    bool,
    "done",
    typer.Option("--done/--open", help="Finished or open tasks. [default: open]"),
    False,
)
DUE = _text("due", "WHEN", "Only tasks due by this day: today, friday, 'next week'.")
EVENT = _argument(
    str, "event", "EVENT", "session-start, user-prompt, stop, pre-compact or session-end."
)
HOOK_CLIENT = _text("client", "NAME", "The client that calls it. [default: claude-code]")
JOURNAL = _text("journal", "DIR", "The folder of Markdown files to use as journal.")
CONTENT = _text("content", "TEXT", "The new text; - reads standard input.")
APPEND = _text("append", "TEXT", "Text to add at the end; - reads standard input.")
YES = _switch("yes", "Do not ask.", "--yes", "-y")
PURGE = _switch("purge", "Leave no copy in the trash.")
FRESH = _switch("fresh", "Embed all entries again.")
REMOVE = _switch("remove", "Undo it.")
CLIENT = _argument(
    list[str] | None,
    "clients",
    "CLIENT",
    "[default: all clients on this machine]",
    autocompletion=_starting(_clients),
)
OF_PROJECT = _text(
    "project",
    "NAME",
    "The project for agents that start outside of its repository.",
    **_A_PROJECT,
)
URL = _text(
    "url",
    "URL",
    "Register `synaptic serve` at this address; clients read the token from SYNAPTIC_TOKEN.",
)
NO_HOOKS = _switch("no_hooks", "Do not change the client's hooks.")
CAPTURE = _switch("capture", "Keep a digest of every agent session from now on.")
GUIDANCE = _switch("guidance", "Also add ten lines to CLAUDE.md, AGENTS.md or GEMINI.md.")
DRY_RUN = _switch("dry_run", "Show the changes without making them.")
SHOW = _switch("show", "Show the lines to paste, and into which file.", "--print")
USE = _switch(
    "use", "Count by week how many entries agents were shown, opened and did not find."
)
STATUS = _switch("status", "Say where Synaptic is registered.")
FIX = _switch("fix", "Repair what can be repaired safely.")
RESTORE = _text("restore", "ID", "Put a vanished entry back.")
DISMISS = _text("dismiss", "ID", "Forget a vanished entry.")
ANSWER = _argument(
    list[str] | None,
    "words",
    "[ANSWER FINDING]",
    "An answer and a finding from the list: keep open:7k3m9q2x.",
)
MODEL = _argument(
    list[str] | None, "words", "[use NAME|FOLDER]", "The model to use from now on."
)
QUESTIONS = _option(
    int | None, "questions", "N", "At most N questions, 1 to 300. [default: 300]"
)
KEEP = _switch("save", "Keep the result, so that the next run is compared with it.")
SOURCE = _argument(
    str | None,
    "source",
    "[SOURCE]",
    f"One of {', '.join((*READERS, *IN_PLACE))}.",
    autocompletion=_starting(lambda _: [(source, "") for source in (*READERS, *IN_PLACE)]),
)
PLACE = _argument(
    str | None, "place", "[PATH]", "A file or folder. [default: where the program keeps it]"
)
FROM_DATE = _text("since", "DATE", "Only records from this day on: 2026-01-01, last month.")
FOR_PROJECT = _texts(
    "project",
    "NAME",
    "Only records of this project; records without a project get it. Repeatable.",
    **_A_PROJECT,
)
SESSION = _text("session", "ID", "The client's id of the session, or the id of its digest.")
INTO = _text(
    "into",
    "FOLDER",
    "A folder of the journal for new day files. [default: the journal's day files]",
)
UNDO = _text("undo", "RUN", "Undo the import with this name.")
TO_FILE = _argument(str | None, "to", "FILE", "A new file. [default: standard output]")
AS_CSV = _switch("as_csv", "Write a table for spreadsheets.", "--csv")
AS_LANCE = _text(
    "lance",
    "DIR",
    "Write passages and vectors as a Lance table; needs synaptic-journal[lance].",
)
AS_ROWS = _switch("as_rows", "Write a JSON array, one object a line.", "--json")
SECRETS = _switch("secrets", "Look for passwords, tokens and keys.")

# the server over HTTP
HOST = _text(
    "host",
    "ADDRESS",
    "The address to listen on; other machines need --token-file.",
    default="127.0.0.1",
)
PORT = _option(
    int,
    "port",
    "N",
    "The port; 0 takes a free one, but `setup --url` needs a fixed one.",
    default=0,
    min=0,
    max=65535,
)
OPEN_IT = _switch("open_it", "Open the page in the browser.", "--open")
READ_ONLY = _switch("read_only", "Refuse every change.")
TOKEN_FILE = _text(
    "token_file", "FILE", "The file of tokens. [default: tokens.toml in the home]"
)
ALLOW_HOST = _texts(
    "allow_host", "NAME", "A host name that a proxy uses for this server; repeatable."
)
TOKEN_NAME = _argument(
    str | None, "name", "[NAME]", "The name of its user; entries saved with it are signed so."
)
TOKEN_PROJECT = _text(
    "project", "NAME", "The project of new entries; its entries are listed first.", **_A_PROJECT
)
FOR_PAGE = _switch("page", "The token opens the page for a person, but no tools.")
