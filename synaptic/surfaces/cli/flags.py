"""The arguments and flags of the commands: names, help and completion. They are the verbs'
parameters.
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
    said = f"{help}: {', '.join(values)}."
    completion = _starting(lambda _: [(value, "") for value in values])
    return _option(kind, name, metavar, said, autocompletion=completion, **more)


def _starting(
    values: Callable[[typer.Context], Iterable[tuple[str, str]]],
) -> Callable[..., list[tuple[str, str]]]:
    """A completion of a word by the first 50 of the values that begin with it; beside each
    stands what it is.
    """

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

WORDS = _argument(list[str] | None, "text", "TEXT", "Its words need no quotes.")
ID = _argument(str, "id", "ID", "Whole, or four or more characters of it.", **_AN_ID)
DELETED = _argument(
    str | None, "id", "ID", "Left out, the deleted entries are listed.", **_AN_ID
)
IDS = _argument(
    list[str], "ids", "ID", "Whole ids, or four or more characters of each.", **_AN_ID
)
SOME_IDS = _argument(
    list[str] | None, "ids", "ID", "Left out, the pinned entries are listed.", **_AN_ID
)
ID_OR_NUMBER = _argument(
    str, "id", "ID", "Or N, the Nth of the last search, find or recent.", **_AN_ID
)
NAME = _argument(list[str] | None, "name", "NAME", "An id, title, page, alias or path.")
DATE = _argument(
    list[str] | None, "date", "DATE", "2026-11-17, yesterday, last tuesday; else today."
)
AS_JSON = _switch("as_json", "Answer in JSON, errors too.", "--json")

# what an entry is marked with
TYPE = _one_of("type", "TYPE", TYPES, default="note")
NEW_TYPE = _one_of("type", "TYPE", TYPES)
TAGS = _texts(
    "tags", "TAG", "A topic; may be given several times.", "--tag", "--tags", **_A_TAG
)
ADD_TAGS = _texts(
    "add_tags", "TAG", "A tag to add; repeatable.", "--add-tag", "--add-tags", **_A_TAG
)
REMOVE_TAGS = _texts(
    "remove_tags",
    "TAG",
    "A tag to take away; repeatable.",
    "--remove-tag",
    "--remove-tags",
    **_A_TAG,
)
TITLE = _text("title", "TEXT", "The heading; else the first sentence.")
IMPORTANCE = _option(int | None, "importance", "N", "0 to 10; normally 5.")
FILES = _texts("files", "PATH", "A path it is about; repeatable.", "--file", "--files")
PROJECT = _text(
    "project", "NAME", "Else the git repository around the working directory.", **_A_PROJECT
)
NEW_PROJECT = _text("project", "NAME", "The project; empty takes it away.", **_A_PROJECT)
PARENT = _text("parent", "ID", "The entry it continues.", **_AN_ID)
SUPERSEDES = _texts("supersedes", "ID", "An entry it replaces; repeatable.", **_AN_ID)
AT = _text(
    "at", "TIME", "When it happened: 2026-11-21T09:31, yesterday 18:00, 2 hours ago. Else now."
)
PIN = _switch("pin", "Every session of its project begins with it.")
EXPIRES = _text(
    "expires",
    "DATE",
    "Its last day among the first: 2026-12-31, next friday. Empty: it has none.",
)
FORCE = _switch("force", "Save it even if it was saved just so a moment ago.")

# which entries: what `build_filters` calls them
IN_TYPES = _one_of("type", "TYPE", TYPES, kind=list[str] | None)
IN_TAGS = _texts("tags", "TAG", "Has any of these; repeatable.", "--tag", "--tags", **_A_TAG)
IN_FILES = _texts("file", "PATH", "Is about any of these; repeatable.", "--file", "--files")
IN_PATHS = _texts(
    "path",
    "PATH",
    "Stands in any of these folders or files of the journal, en/ or *.md; repeatable.",
)
IN_PROJECTS = _texts(
    "project", "NAME", "Of any of these; repeatable. '*': this one not first.", **_A_PROJECT
)
DAYS = _option(int | None, "days", "N", "The last N days, today included.")
SINCE = _text("since", "DATE", "2026-11-03, yesterday, 'last week', Q2: its first day.")
UNTIL = _text("until", "DATE", "Likewise: its last day, included.")
OF_PARENT = _text("parent", "ID", "Continues this entry.", **_AN_ID)
HAS_BODY = _parameter(
    bool | None,
    "has_body",
    typer.Option("--has-body/--no-body", help="With or without text below its heading."),
)
HAS_FILES = _parameter(
    bool | None,
    "has_files",
    typer.Option("--has-files/--no-files", help="With or without files."),
)
HAS_TASKS = _parameter(
    bool | None,
    "has_tasks",
    typer.Option("--has-tasks/--no-tasks", help="With or without tasks."),
)
WHERE = _texts(
    "where",
    "NAME=VALUE",
    "Has this in its front matter or properties; all must hold. Repeatable.",
)
LINKS_TO = _text(
    "links_to", "NAME", "Links to this entry or page: an id, title, alias or path."
)
SESSIONS = _switch(
    "sessions", "Only what agents' sessions left: what was asked, answered, edited and run."
)
SOURCE_LINES = _switch(
    "source", "The lines of the transcript that the digest of a session was made of."
)
MIN_IMPORTANCE = _option(
    int | None, "min_importance", "N", "0 to 10; without one an entry counts as 5."
)
MAX_IMPORTANCE = _option(int | None, "max_importance", "N", "0 to 10.")
SUPERSEDED = _switch("include_superseded", "Also what a later entry replaces.")

# how they are answered
LIMIT = _option(
    int | None,
    "limit",
    "N",
    "1 to 100; without it an answer ends where nothing more fits, at most 8.",
)
NEWEST = _option(int | None, "limit", "N", "1 to 100; without it 10, of a TEXT those that fit.")
LENGTH = _option(int, "limit", "N", "1 to 100.", default=20)
STRATEGY = _one_of("strategy", "NAME", STRATEGIES, default="auto")
BUDGET_MS = _option(float | None, "budget_ms", "MS", "How long an automatic search may take.")
PRESET = _one_of("preset", "NAME", PRESETS, "Weights by name")
WEIGHTS = _texts(
    "weight", "NAME=N", f"0 to 1, of {', '.join(SIGNALS)}; repeatable.", "--weight", "--weights"
)
PREFER = _texts(
    "prefer",
    "NAME=VALUE",
    "Raise what has this type, tag or project: --prefer tag=db. Repeatable.",
)
MIN_SIMILARITY = _option(
    float | None,
    "min_similarity",
    "N",
    "Leave out what is less near in meaning; a cosine, 0 to 1.",
)
SUB_QUERIES = _texts(
    "sub_queries", "TEXT", "Of a smart search: what to ask besides; repeatable.", "--sub-query"
)
MAX_ROUNDS = _option(int, "max_rounds", "N", "Of a smart search: 0 to 3.", default=2)
EXPLAIN = _switch("explain", "Say why each hit stands where it stands.")
AS_NOTE = _switch("note", "The text is a note, not a question.")
ORDER = _one_of("order", "NAME", ORDERS)
AROUND = _text("around", "ID", "What happened before and after this entry.", **_AN_ID)
FACETS = _switch("facets", "Also count types, tags and projects.")
CURSOR = _text("cursor", "TEXT", "Go on after the answer that gave this cursor.")

# what a command does
BROKEN = _switch("broken", "All links that lead nowhere.")
DONE = _parameter(
    bool,
    "done",
    typer.Option("--done/--open", help="Those that are done, or, the default, open."),
    False,
)
DUE = _text("due", "WHEN", "Due by then: today, friday, 'next week'.")
EVENT = _argument(
    str, "event", "EVENT", "session-start, user-prompt, stop, pre-compact or session-end."
)
HOOK_CLIENT = _text("client", "NAME", "The client that calls it; claude-code if left out.")
JOURNAL = _text("journal", "DIR", "The folder of Markdown to use as journal.")
CONTENT = _text("content", "TEXT", "The new text; - reads standard input.")
APPEND = _text("append", "TEXT", "Text to add at its end; - reads standard input.")
YES = _switch("yes", "Do not ask.", "--yes", "-y")
PURGE = _switch("purge", "Leave no copy in the trash.")
FRESH = _switch("fresh", "Embed everything again.")
REMOVE = _switch("remove", "Undo it.")
CLIENT = _argument(
    list[str] | None,
    "clients",
    "CLIENT",
    "Else all on this machine.",
    autocompletion=_starting(_clients),
)
SCOPE = _text("scope", "SCOPE", "user, the default, or project: only in this folder.")
OF_PROJECT = _text(
    "project",
    "NAME",
    "The project of agents that are started outside its repository.",
    **_A_PROJECT,
)
URL = _text(
    "url",
    "URL",
    "Register `synaptic serve` at this address; clients have its token in SYNAPTIC_TOKEN.",
)
NO_HOOKS = _switch("no_hooks", "Leave the client's hooks as they are.")
CAPTURE = _switch("capture", "From now on keep a digest of each session of an agent.")
GUIDANCE = _switch(
    "guidance", "Also add ten lines to what its agents read: CLAUDE.md, AGENTS.md or GEMINI.md."
)
DRY_RUN = _switch("dry_run", "Say what would be done.")
SHOW = _switch("show", "Show what to paste where.", "--print")
USE = _switch(
    "use", "Count what agents were shown, opened and did not find, by week; numbers only."
)
STATUS = _switch("status", "Say where Synaptic is registered.")
FIX = _switch("fix", "Mend what is safe to mend.")
RESTORE = _text("restore", "ID", "Put a vanished entry back.")
DISMISS = _text("dismiss", "ID", "Forget a vanished entry.")
ANSWER = _argument(
    list[str] | None, "words", "[ANSWER FINDING]", "As the list says it: keep open:7k3m9q2x."
)
MODEL = _argument(list[str] | None, "words", "[use NAME|FOLDER]", "Which to use from now on.")
QUESTIONS = _option(int | None, "questions", "N", "How many at most, 1 to 300; 300 without it.")
KEEP = _switch("save", "Keep the result; the next run compares itself with it.")
SOURCE = _argument(
    str | None,
    "source",
    "[SOURCE]",
    f"One of {', '.join((*READERS, *IN_PLACE))}.",
    autocompletion=_starting(lambda _: [(source, "") for source in (*READERS, *IN_PLACE)]),
)
PLACE = _argument(
    str | None, "place", "[PATH]", "A file or folder; else where the program keeps it."
)
FROM_DATE = _text("since", "DATE", "What is older stays out: 2026-01-01, last month.")
FOR_PROJECT = _texts(
    "project",
    "NAME",
    "Only what is of it; what is of no project gets this one. Repeatable.",
    **_A_PROJECT,
)
SESSION = _text(
    "session", "ID", "The session, as its client names it, or the id of its digest."
)
INTO = _text(
    "into",
    "FOLDER",
    "A folder of the journal for their day files; else they join the journal's own.",
)
UNDO = _text("undo", "RUN", "Take an import back, by the name that it said.")
TO_FILE = _argument(str | None, "to", "FILE", "A new file; left out, standard output.")
AS_CSV = _switch("as_csv", "A table, for spreadsheets.", "--csv")
AS_LANCE = _text(
    "lance",
    "DIR",
    "Passages and vectors as a table in Lance format; needs synaptic-journal[lance].",
)
AS_ROWS = _switch("as_json", "An array of objects, one a line.", "--json")
SECRETS = _switch("secrets", "Look for passwords, tokens and keys.")

# the server over HTTP
HOST = _text(
    "host",
    "ADDRESS",
    "Where it listens; beyond this machine it needs --token-file.",
    default="127.0.0.1",
)
PORT = _option(
    int,
    "port",
    "N",
    "0 takes a free one; `setup --url` needs a fixed one.",
    default=0,
    min=0,
    max=65535,
)
OPEN_IT = _switch("open_it", "Open it in the browser.", "--open")
READ_ONLY = _switch("read_only", "Nothing can be written.")
TOKEN_FILE = _text(
    "token_file", "FILE", "The tokens that open it; else tokens.toml in the home."
)
ALLOW_HOST = _texts(
    "allow_host", "NAME", "A name by which a proxy is asked for it; repeatable."
)
TOKEN_NAME = _argument(str | None, "name", "[NAME]", "Who gets it; what it saves is signed so.")
TOKEN_PROJECT = _text(
    "project", "NAME", "Of what it saves, and first in what it finds.", **_A_PROJECT
)
FOR_PAGE = _switch("page", "It opens the page, as a person, and no tool.")
