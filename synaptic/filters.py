"""The filters, one row each: all that the rest of the package knows of a filter but its SQL.

A new filter needs its field in `Filters` and its row in `FILTERS`, both here, and its SQL in
`index/conditions`. The command line, the schemas of tools, the query language and the search
page are made from the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple

from .errors import InvalidArgument
from .models import TYPES, EntryType, Pairs, Texts

MAX_VALUES = 100
"""The most values of one filter, and of the tags of a save."""
MAX_VALUE_CHARS = 1_000
"""The most characters of one value of a filter, or of one tag."""


class Scope(NamedTuple):
    """A project as this machine knows it, and what proves that an entry belongs to it: a name
    alone travels, and proves nothing.

    `key` is the key of its name, "" without a project. `roots` are its root commits. `remotes`
    are addresses that mean one repository on every machine, `local` such as this machine alone
    knows to be this project's; `others` belong to other projects here. `by_name`: somebody
    named the project, and every entry of that name is wanted. `with_none`: as a filter it also
    passes entries of no project.
    """

    key: str = ""
    roots: frozenset[str] = frozenset()
    remotes: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    by_name: bool = False
    with_none: bool = False

    def covers(self, key: str, remote: str | None, root: str | None) -> bool:
        """True if an entry with this key of its project, and these marks of its repository,
        belongs to the project.

        | the entry has       | it belongs to the project if                              |
        |---------------------|-----------------------------------------------------------|
        | neither mark        | its name is the project's: this machine gave it           |
        | a known root        | the root is one of the project's                          |
        | a remote alone, or  | the remote means one repository everywhere, or this       |
        | a root to compare   | machine knows it under the project's name                 |
        | with none           |                                                           |
        """
        if self.by_name or not (remote or root):
            return bool(key) and key == self.key
        if remote in self.others:
            return False
        if root and self.roots:
            return root in self.roots
        return remote in self.remotes or (not root and remote in self.local and key == self.key)

    def reaches(self, key: str, remote: str | None, root: str | None) -> bool:
        """True if an entry belongs to the project, or to none."""
        return not (key or remote or root) or self.covers(key, remote, root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Hard filters, joined by AND; several values of one filter are joined by OR.

    A tag `a+b` is passed by entries that have both.
    Dates are local, `YYYY-MM-DD`, inclusive; an undated entry passes neither. `paths` are
    folders, files or globs. `words` are words, phrases and beginnings (`plug*`); an entry
    must hold all of `all_words`. `where` are (field in lower case, value) pairs, all of which
    must hold. `links_to` is a name in a link, `ids` are whole ids. `sources` are values of
    `via`, or the root (`@vault`) or `by hand` of entries without it. With `sessions` only
    digests of sessions pass. Entries that pass `without` are left out. `scope` passes the
    entries of a project by what proves it, and not by its name.
    """

    types: tuple[EntryType, ...] = ()
    tags: Texts = ()
    projects: Texts = ()
    files: Texts = ()
    paths: Texts = ()
    words: Texts = ()
    all_words: Texts = ()
    since: str | None = None
    until: str | None = None
    min_importance: int | None = None
    max_importance: int | None = None
    parent: str | None = None
    has_body: bool | None = None
    has_files: bool | None = None
    has_tasks: bool | None = None
    where: Pairs = ()
    links_to: str | None = None
    ids: Texts = ()
    sources: Texts = ()
    sessions: bool = False
    include_superseded: bool = False
    scope: Scope | None = None
    without: Filters | None = None

    def active_values(self) -> dict[str, Any]:
        """Maps the name of each filter that is set to its value."""
        values = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if value not in (each.default, ""):
                values[each.name] = value
        return values

    def leaving_out(self, others: Filters) -> Filters:
        """These filters, which also leave out what one of `others` lets pass."""
        before = self.without or Filters()
        joined: dict[str, Any] = {}
        for name, value in others.active_values().items():
            is_list = isinstance(getattr(Filters(), name), tuple)
            joined[name] = (*getattr(before, name), *value) if is_list else value
        return replace(self, without=replace(before, **joined))

    def one_by_one(self) -> dict[str, Filters]:
        """Maps the name of each filter that is set to a Filters with that filter alone; `since`
        and `until` stay together under the name `time`.
        """
        single = {}
        for name, value in self.active_values().items():
            if name not in ("since", "until"):
                single[name] = replace(Filters(), **{name: value})
        if self.since or self.until:
            single["time"] = Filters(since=self.since, until=self.until)
        return single


ANY_PROJECT = "*"
"""The value of `Filters.projects` that all projects are."""
MINUS = ("-", "−", "–")
"""Each stands before one value of several of a filter, which is then left out: `-draft`. A
telephone types the last.
"""
ALL_TAGS = "+"
"""Stands between the tags of one value of `Filters.tags` of which an entry must have all."""
Form = Literal["texts", "text", "day", "integer", "switch", "yes or no"]
"""The type of a filter's value: several texts, of which an entry must match one; one text; a
day as people type it; a number from 0 on; a switch; yes, no, or not given.
"""

Offers = tuple[Literal["search", "find", "export", "book"], ...]
EXPORTS: Offers = ("search", "find", "export")
ALL: Offers = (*EXPORTS, "book")
LISTS: Offers = ("search", "find")


class Filter(NamedTuple):
    """A filter as people and agents give it.

    `name`: its name as a parameter and as a flag. `of`: its field in `Filters`, if that has
    another name. `values`: all that are valid, if these are few. `most`: the largest number.
    `for_experts`: its help stands below that heading. `check`: makes a value of one text, or
    raises InvalidArgument. Checks that know how notes are written stand in `language/query`,
    because this module is below the notes.

    - `commands` have the flag: `help` explains it, `flags` are its spellings, `metavar` stands
      for its value, and names of the kind `completes` complete it.
    - `tools` take it, of search and find: `about` explains it.
    - `key` names it within a query: `tag` in `tag:db`. With a colon it is a whole word of a
      query: `has:body`, with or without an `s`; its `synonyms` mean the same.
    - `page` is how the search page sets it: by a count beside the hits, in its form, or by a
      link. `label` names it there.

    Each of the four is empty where the filter is not offered.
    """

    name: str
    form: Form
    of: str = ""
    values: Texts = ()
    most: int = 1_000_000
    for_experts: bool = False
    check: Callable[[str], Any] = str
    commands: Offers = ()
    help: str = ""
    flags: Texts = ()
    metavar: str = ""
    completes: Literal["", "tag", "project", "id"] = ""
    tools: Offers = ()
    about: str = ""
    key: str = ""
    synonyms: Texts = ()
    page: Literal["", "count", "form", "link"] = ""
    label: str = ""

    @property
    def field(self) -> str:
        return self.of or self.name


_ROWS = (
    Filter(
        "type",
        "texts",
        "types",
        values=TYPES,
        commands=EXPORTS,
        help="Entries of this type; repeatable.",
        tools=LISTS,
        key="type",
        page="count",
        label="Type",
    ),
    Filter(
        "tag",
        "texts",
        "tags",
        commands=ALL,
        help="Entries with this tag, or with both of a+b; repeated: with any of them.",
        flags=("--tag", "--tags"),
        metavar="TAG",
        completes="tag",
        tools=LISTS,
        about="any of; -old leaves out",
        key="tag",
        page="count",
        label="Tag",
    ),
    Filter(
        "project",
        "texts",
        "projects",
        commands=ALL,
        help="Entries of this project; repeatable. '*': all projects alike.",
        completes="project",
        tools=LISTS,
        about="else this one first; *: all alike",
        key="project",
        page="count",
        label="Project",
    ),
    Filter("source", "texts", "sources", page="count", label="Source"),
    Filter(
        "since",
        "day",
        commands=EXPORTS,
        help="Only entries from this day on: 2026-11-03, yesterday, 'last week', Q2.",
        tools=LISTS,
        about="2026-11-03, yesterday, last week",
        key="since",
        page="form",
        label="From",
    ),
    Filter(
        "until",
        "day",
        commands=EXPORTS,
        help="Only entries up to this day.",
        tools=LISTS,
        key="until",
        page="form",
        label="To",
    ),
    Filter(
        "file",
        "texts",
        "files",
        commands=EXPORTS,
        help="Entries that were saved about this file, src/cart.py; repeatable.",
        flags=("--file", "--files"),
        tools=LISTS,
        about="path",
        key="file",
    ),
    Filter(
        "path",
        "texts",
        "paths",
        commands=ALL,
        help="Entries in this folder or file of the journal, Daily/ or *.md; repeatable.",
        key="path",
    ),
    Filter(
        "where",
        "texts",
        commands=EXPORTS,
        metavar="NAME=VALUE",
        help="Entries whose front matter or property has this value, author=Zelazny; repeat it "
        "to require several.",
    ),
    Filter(
        "min_importance",
        "integer",
        most=10,
        for_experts=True,
        commands=EXPORTS,
        help="0 to 10. An entry without one counts as 5.",
        tools=LISTS,
        about="0 to 10; an entry without one counts as 5",
    ),
    Filter(
        "max_importance",
        "integer",
        most=10,
        for_experts=True,
        commands=LISTS,
        help="0 to 10. An entry without one counts as 5.",
        tools=LISTS,
        about="0 to 10",
    ),
    Filter(
        "sessions",
        "switch",
        commands=LISTS,
        help="Only digests of agents' sessions: questions, answers, edits and commands.",
        tools=LISTS,
        about="only digests of agents' sessions",
        page="link",
        label="Sessions",
    ),
    Filter(
        "include_superseded",
        "switch",
        commands=LISTS,
        help="Also entries that a later one replaced.",
        tools=LISTS,
        about="also entries that another one replaced",
        page="link",
        label="Superseded",
    ),
    Filter(
        "days",
        "integer",
        "since",
        most=400_000,
        commands=("search",),
        help="Entries of the last N days, with today.",
        tools=LISTS,
        about="the last N days, in place of since",
    ),
    Filter(
        "parent",
        "text",
        commands=("find",),
        help="Entries that continue this one.",
        metavar="ID",
        completes="id",
        tools=("find",),
        about="an id; entries that continue it",
    ),
    Filter(
        "has_body",
        "yes or no",
        commands=("find",),
        help="Entries with or without text below the heading.",
        tools=("find",),
        about="with or without text below the title",
        key="has:body",
    ),
    Filter(
        "has_files",
        "yes or no",
        commands=("find",),
        help="Entries that show files, link to them or are about them (--file), or none.",
        tools=("find",),
        about="showing, linking to or about files, or none",
        key="has:files",
        synonyms=("has:attachments", "has:pictures", "has:images"),
        page="form",
        label="Files",
    ),
    Filter(
        "has_tasks",
        "yes or no",
        commands=("find",),
        help="Entries with or without tasks.",
        key="has:task",
    ),
    Filter(
        "links_to",
        "text",
        commands=("find",),
        metavar="NAME",
        help="Entries that link to this entry or page: an id, title, alias or path.",
    ),
)
FILTERS: dict[str, Filter] = {row.name: row for row in _ROWS}
"""Every filter that people and agents give, by its name, in the order of the flags."""
KEYS: dict[str, Filter] = {row.key: row for row in _ROWS if row.key}
"""The filters that may stand within a query, by their key."""


def check_values(name: str, values: Sequence[str]) -> Sequence[str]:
    """Returns `values` unchanged. Raises InvalidArgument, with the `name` of the parameter, for
    more than MAX_VALUES of them or one of more than MAX_VALUE_CHARS characters.
    """
    if len(values) > MAX_VALUES:
        raise InvalidArgument(
            f"{name} has {len(values):,} values.",
            "Give fewer values.",
            valid=(f"up to {MAX_VALUES} values",),
            of=[name],
        )
    if any(len(one) > MAX_VALUE_CHARS for one in values):
        raise InvalidArgument(
            f"{name} has a value of {max(map(len, values)):,} characters.",
            "Shorten it.",
            valid=(f"up to {MAX_VALUE_CHARS:,} characters",),
            of=[name],
        )
    return values
