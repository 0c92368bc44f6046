"""The arguments and flags of the commands: names, help and completion. They are the verbs' parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from ...models import ORDERS, STRATEGIES, TYPES
from ...search.ranking import PRESETS, SIGNALS


def _starting(values: Iterable[str], incomplete: str) -> list[str]:
    return [value for value in values if value.startswith(incomplete.lower())]


def _complete_type(incomplete: str) -> list[str]:
    return _starting(TYPES, incomplete)


def _complete_order(incomplete: str) -> list[str]:
    return _starting(ORDERS, incomplete)


def _complete_strategy(incomplete: str) -> list[str]:
    return _starting(STRATEGIES, incomplete)


def _complete_preset(incomplete: str) -> list[str]:
    return _starting(PRESETS, incomplete)


def _complete_client(incomplete: str) -> list[str]:
    from ..clients import CLIENTS  # only this command needs it

    return _starting([client.name for client in CLIENTS], incomplete)


_TYPE_HELP = f"One of: {', '.join(TYPES)}."

Words = Annotated[list[str] | None, typer.Argument(metavar="TEXT", help="Its words need no quotes.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="Whole, or four or more characters of it.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Whole ids, or four or more characters of each.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON, errors too.")]

# what an entry is marked with
OneType = Annotated[str, typer.Option("--type", metavar="TYPE", help=_TYPE_HELP, autocompletion=_complete_type)]
NewType = Annotated[str | None, typer.Option("--type", metavar="TYPE", help=_TYPE_HELP, autocompletion=_complete_type)]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", "--tags", metavar="TAG", help="A topic; may be given several times.")
]
AddTags = Annotated[
    list[str] | None, typer.Option("--add-tag", "--add-tags", metavar="TAG", help="A tag to add; repeatable.")
]
RemoveTags = Annotated[
    list[str] | None,
    typer.Option("--remove-tag", "--remove-tags", metavar="TAG", help="A tag to take away; repeatable."),
]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="The heading; else the first sentence.")]
Importance = Annotated[int | None, typer.Option(metavar="N", help="0 to 10; normally 5.")]
Files = Annotated[
    list[str] | None, typer.Option("--file", "--files", metavar="PATH", help="A path it is about; repeatable.")
]
Project = Annotated[
    str | None, typer.Option(metavar="NAME", help="Else the git repository around the working directory.")
]
NewProject = Annotated[str | None, typer.Option("--project", metavar="NAME", help="The project; empty takes it away.")]
Parent = Annotated[str | None, typer.Option(metavar="ID", help="The entry it continues.")]
Supersedes = Annotated[list[str] | None, typer.Option(metavar="ID", help="An entry it replaces; repeatable.")]
At = Annotated[
    str | None, typer.Option(metavar="TIME", help="When it happened: 2026-11-21T09:31 or 2026-11-21. Else now.")
]
Force = Annotated[bool, typer.Option("--force", help="Save it even if it was saved just so a moment ago.")]

# which entries
InTypes = Annotated[
    list[str] | None, typer.Option("--type", metavar="TYPE", help=_TYPE_HELP, autocompletion=_complete_type)
]
InTags = Annotated[
    list[str] | None, typer.Option("--tag", "--tags", metavar="TAG", help="Has any of these; repeatable.")
]
InFiles = Annotated[
    list[str] | None, typer.Option("--file", "--files", metavar="PATH", help="Is about any of these; repeatable.")
]
InProjects = Annotated[
    list[str] | None, typer.Option("--project", metavar="NAME", help="Belongs to any of these; repeatable.")
]
InProject = Annotated[str | None, typer.Option("--project", metavar="NAME", help="Only this project.")]
Days = Annotated[int | None, typer.Option(metavar="N", help="The last N days, today included.")]
Since = Annotated[
    str | None, typer.Option(metavar="DATE", help="2026-11-03, yesterday, 'last week', Q2: its first day.")
]
Until = Annotated[str | None, typer.Option(metavar="DATE", help="Likewise: its last day, included.")]
OfParent = Annotated[str | None, typer.Option("--parent", metavar="ID", help="Continues this entry.")]
HasBody = Annotated[bool | None, typer.Option("--has-body/--no-body", help="With or without text below its heading.")]
HasFiles = Annotated[bool | None, typer.Option("--has-files/--no-files", help="With or without files.")]
MinImportance = Annotated[int | None, typer.Option(metavar="N", help="0 to 10; without one an entry counts as 5.")]
MaxImportance = Annotated[int | None, typer.Option(metavar="N", help="0 to 10.")]
Superseded = Annotated[bool, typer.Option("--include-superseded", help="Also what a later entry replaces.")]

# how they are answered
Limit = Annotated[int, typer.Option(metavar="N", help="1 to 100.")]
Strategy = Annotated[
    str, typer.Option(metavar="NAME", help=f"One of: {', '.join(STRATEGIES)}.", autocompletion=_complete_strategy)
]
BudgetMs = Annotated[float | None, typer.Option(metavar="MS", help="How long an automatic search may take.")]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help=f"Weights by name: {', '.join(PRESETS)}.", autocompletion=_complete_preset),
]
Weights = Annotated[
    list[str] | None,
    typer.Option("--weight", "--weights", metavar="NAME=N", help=f"0 to 1, of {', '.join(SIGNALS)}; repeatable."),
]
Prefer = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Raise what has this type, tag or project: --prefer tag=db. Repeatable."),
]
MinSimilarity = Annotated[
    float | None, typer.Option(metavar="N", help="Leave out what is less near in meaning; a cosine, 0 to 1.")
]
SubQueries = Annotated[
    list[str] | None,
    typer.Option("--sub-query", metavar="TEXT", help="Of a smart search: what to ask besides; repeatable."),
]
MaxRounds = Annotated[int, typer.Option(metavar="N", help="Of a smart search: 0 to 3.")]
Explain = Annotated[bool, typer.Option("--explain", help="Say why each hit stands where it stands.")]
AsNote = Annotated[bool, typer.Option("--note", help="The text is a note, not a question.")]
Order = Annotated[
    str | None, typer.Option(metavar="NAME", help=f"One of: {', '.join(ORDERS)}.", autocompletion=_complete_order)
]
Around = Annotated[str | None, typer.Option(metavar="ID", help="What happened before and after this entry.")]
WithFacets = Annotated[bool, typer.Option("--facets", help="Also count types, tags and projects.")]
Cursor = Annotated[str | None, typer.Option(metavar="TEXT", help="Go on after the answer that gave this cursor.")]

# what a command does
Event = Annotated[str, typer.Argument(metavar="EVENT", help="session-start or user-prompt.")]
Home = Annotated[
    str | None, typer.Option("--home", metavar="DIR", help="Where Synaptic lives. [SYNAPTIC_HOME or ~/.synaptic]")
]
Journal = Annotated[str | None, typer.Option(metavar="DIR", help="The folder of Markdown to use as journal.")]
Content = Annotated[str | None, typer.Option(metavar="TEXT", help="The new text; - reads standard input.")]
Append = Annotated[str | None, typer.Option(metavar="TEXT", help="Text to add at its end; - reads standard input.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Purge = Annotated[bool, typer.Option("--purge", help="Leave no copy in the trash.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Embed everything again.")]
Remove = Annotated[bool, typer.Option("--remove", help="Undo it.")]
Clients = Annotated[
    list[str] | None,
    typer.Argument(metavar="CLIENT", help="Else all on this machine.", autocompletion=_complete_client),
]
Scope = Annotated[str | None, typer.Option(metavar="SCOPE", help="user, the default, or project: only in this folder.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")]
Print = Annotated[bool, typer.Option("--print", help="Show what to paste where.")]
ShowStatus = Annotated[bool, typer.Option("--status", help="Say where Synaptic is registered.")]
Fix = Annotated[bool, typer.Option("--fix", help="Mend what is safe to mend.")]
RestoreVanished = Annotated[str | None, typer.Option("--restore", metavar="ID", help="Put a vanished entry back.")]
Dismiss = Annotated[str | None, typer.Option("--dismiss", metavar="ID", help="Forget a vanished entry.")]
Secrets = Annotated[bool, typer.Option("--secrets", help="Look for passwords, tokens and keys.")]
