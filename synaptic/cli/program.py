"""The Typer program of the command line, and the decorator that adds a command to it."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import typer
from typer.core import TyperGroup

from ..config import load_config
from ..doors import call_features
from ..errors import SynapticError
from ..journal.changelog import Actor, acting
from ..models import PERSON
from ..render.terminal import say
from ..serving.arguments import agent_name
from ..workspace.past import as_of
from ..workspace.workspace import Workspace, open_workspace
from .asking import print_waiting_preferences
from .flags import AS_JSON
from .replies import IN_JSON

Command = TypeVar("Command", bound=Callable[..., int | None])

GROUPS = {
    "Write": "save update delete restore undo rename tick today edit open",
    "Find": "search find recent get day week tasks due links tags history",
    "Keep tidy": "init import review status doctor backup book export forget",
    "Share": "serve token sync git-setup publish",
    "For your agents": "setup brief pin confirm blame",
    "For experts": "model rebuild-index evaluate analyze replay hook mcp",
}
"""The commands under their headings, in the order in which the help lists them."""


class GroupedHelp(TyperGroup):
    """The program, whose help lists the commands in groups, each with its whole first
    paragraph.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        left = {name: one for name, one in self.commands.items() if not one.hidden}
        for heading, names in GROUPS.items():
            rows = [(name, left.pop(name)) for name in names.split() if name in left]
            _write_commands(formatter, heading, rows)
        _write_commands(formatter, "Others", [*left.items()])


def _write_commands(formatter: Any, heading: str, rows: Sequence[tuple[str, Any]]) -> None:
    """Writes one group of commands into the help."""
    lines = []
    for name, one in rows:
        paragraph, _, _ = inspect.cleandoc(one.help or "").partition("\n\n")
        lines.append((name, " ".join(paragraph.split())))
    if lines:
        with formatter.section(heading):
            formatter.write_dl(lines)


app = typer.Typer(
    cls=GroupedHelp,
    suggest_commands=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@contextmanager
def open_home(home: str | None) -> Iterator[Workspace]:
    """Opens the workspace of a command. At its end a person is told which preferences are not
    confirmed.
    """
    own = Actor(agent_name() or PERSON, "command line")
    with acting(own), open_workspace(load_config(home)) as ws:
        if ws.journal.has_unfinished_rename:
            _finish_rename(ws)
        yield ws
        print_waiting_preferences(ws)


def _finish_rename(ws: Workspace) -> None:
    """Finishes a rename that was killed, and says so."""
    from ..verbs.many_edits import finish_edits  # rarely needed

    with suppress(SynapticError):  # the command itself says what is wrong
        done = finish_edits(ws)
        if done:
            say(f"note: The rename {done.run} had been interrupted and is finished now.")
            if done.stay:
                say(f"      Changed meanwhile, and not renamed: {', '.join(done.stay)}")


def command(
    name: str, *flags: inspect.Parameter, opens: bool = True, json: bool = True
) -> Callable[[Command], Command]:
    """Returns a decorator that makes a function the command `name`. The function is called with
    a Workspace, or with the path of the home where `opens` is False. With the flag --as-of the
    Workspace shows the journal at that time.

    With `json` it has the flag --json too. Flags that were left out are not passed on, so that
    the verbs' own defaults hold. An int that it returns is the exit status.
    """

    def register(run: Command) -> Command:
        def run_command(ctx: typer.Context, **values: Any) -> int | None:
            IN_JSON.set(values.pop("as_json", False))
            values = {name: value for name, value in values.items() if value not in (None, [])}
            if not opens:
                return run(ctx.obj, **values)
            with open_home(ctx.obj) as ws:
                if any((ws.config.state / "capture").glob("[!.]*")):
                    call_features("catch_up", ws)
                with as_of(ws, values.pop("as_of", None)) as then:
                    return run(then, **values)

        run_command.__doc__ = run.__doc__
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter("ctx", keyword, annotation=typer.Context), *flags]
        if json:
            parameters.append(AS_JSON)
        run_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        app.command(name)(run_command)
        return run

    return register
