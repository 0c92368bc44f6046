"""The Typer program of the command line, and the decorator that adds a command to it."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ..config import load_config
from ..errors import SynapticError
from ..journal.changelog import Actor, acting
from ..models import PERSON
from ..plugin import CATCH_UP, with_doors
from ..render.terminal import say
from ..serving.arguments import agent_name
from ..workspace.past import as_of
from ..workspace.workspace import Workspace, open_workspace
from .asking import print_waiting_preferences
from .flags import AS_JSON
from .replies import IN_JSON

Command = TypeVar("Command", bound=Callable[..., int | None])

FIRST = "save search today recent get edit undo import serve setup status doctor"
"""The commands that the help lists first, in this order."""
GROUPS = {
    "Write": "save update delete restore undo rename tick today edit",
    "Find": "search find recent get day week tasks links tags history",
    "Keep tidy": "init import review status doctor backup book export forget",
    "Share": "serve token sync git-setup publish",
    "For your agents": "setup brief pin confirm blame",
    "For experts": "model rebuild-index evaluate analyze replay hook mcp",
}
"""All commands under their headings, in the order in which `help --all` lists them."""
MORE = (
    ("help --all", "Lists all commands by group; rebuild-index is among them."),
    ("help COMMAND", "Explains one command and its options."),
)
"""The last lines of the help."""
LISTS_ALL = "synaptic.lists_all"
"""The key in the context by which the help lists all commands."""


class GroupedHelp(TyperGroup):
    """The program, whose help lists the first commands, or all in groups; each with its whole
    first paragraph.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        left = {name: one for name, one in self.commands.items() if not one.hidden}
        groups = GROUPS if ctx.meta.get(LISTS_ALL) else {"Commands": FIRST}
        for heading, names in groups.items():
            rows = [(name, left.pop(name)) for name in names.split() if name in left]
            _write_section(formatter, heading, _first_paragraphs(rows))
        if groups is GROUPS:
            _write_section(formatter, "Others", _first_paragraphs(left.items()))
        else:
            _write_section(formatter, "More", MORE)


class SectionedHelp(TyperCommand):
    """A command whose help lists the options for experts by themselves, and its arguments as a
    person types them. It drops no value of an option that is given twice.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, typed = self.make_parser(ctx).parse_args(args=[*args])
        for one, times in Counter(typed).items():
            is_option = one.param_type_name == "option" and not getattr(one, "is_flag", False)
            if times > 1 and is_option and not one.multiple:
                ctx.fail(f"{one.opts[0]} takes one value, and was given {times} times.")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*map(show_argument, arguments_of(self)), "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        arguments = [(one.metavar, one.help) for one in arguments_of(self)]
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": arguments, "Options": []}
        for one in self.get_params(ctx):
            help_record = one.get_help_record(ctx)
            if help_record and one.param_type_name == "option":
                name, about = help_record
                for plural in plurals(one.opts):
                    name = name.replace(f", {plural}", "")
                heading = getattr(one, "rich_help_panel", None) or "Options"
                sections.setdefault(heading, []).append((name, about))
        for heading, rows in sections.items():
            _write_section(formatter, heading, rows)


def arguments_of(command: Any) -> list[Any]:
    """Returns the arguments that a command takes by their place."""
    return [one for one in command.params if one.param_type_name == "argument"]


def show_argument(argument: Any) -> str:
    """Returns an argument as a usage shows it: `ID`, `[ID]` if it may be left out, `[ID...]` if
    it may be repeated, too.
    """
    several = argument.nargs != 1 and " " not in argument.metavar
    name = f"{argument.metavar}..." if several else argument.metavar
    return name if argument.required else f"[{name}]"


def plurals(flags: Sequence[str]) -> list[str]:
    """Returns the flags that are another one with an s, as `--tags` beside `--tag`; they are
    read, and no help names them.
    """
    return [flag for flag in flags if flag[:-1] in flags]


def first_paragraph(help: str | None) -> str:
    """Returns the first paragraph of the help of a command, as one line."""
    paragraph, _, _ = inspect.cleandoc(help or "").partition("\n\n")
    return " ".join(paragraph.split())


def _first_paragraphs(commands: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(name, first_paragraph(one.help)) for name, one in commands]


def _write_section(formatter: Any, heading: str, rows: Sequence[tuple[str, str]]) -> None:
    """Writes a section of the help; nothing if it is empty."""
    if rows:
        with formatter.section(heading):
            formatter.write_dl(rows)


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
    opened = with_doors(open_workspace(load_config(home)))
    with acting(own), opened as ws:
        if ws.journal.has_unfinished_rename:
            _finish_rename(ws)
        yield ws
        print_waiting_preferences(ws)


def _finish_rename(ws: Workspace) -> None:
    """Finishes a rename that was killed, and says so."""
    from ..workspace.many_edits import finish_edits  # rarely needed

    with suppress(SynapticError):  # the command itself says what is wrong
        done = finish_edits(ws)
        if done:
            say(f"note: The rename {done.run} had been interrupted and is finished now.")
            if done.stay:
                say(f"      Changed meanwhile, and not renamed: {', '.join(done.stay)}")


def command(
    name: str,
    *flags: inspect.Parameter,
    opens: bool = True,
    json: bool = True,
    hidden: bool = False,
) -> Callable[[Command], Command]:
    """Returns a decorator that makes a function the command `name`. The function is called with
    a Workspace, or with the path of the home where `opens` is False. With the flag --as-of the
    Workspace shows the journal at that time.

    With `json` it has the flag --json too. Flags that were left out are not passed on, so that
    the verbs' own defaults hold. An int that it returns is the exit status. A `hidden` command
    is the old name of another one: it works, and no help lists it.
    """

    def register(run: Command) -> Command:
        def run_command(ctx: typer.Context, **values: Any) -> int | None:
            IN_JSON.set(values.pop("as_json", False))
            values = {name: value for name, value in values.items() if value not in (None, [])}
            if not opens:
                return run(ctx.obj, **values)
            with open_home(ctx.obj) as ws:
                if any((ws.config.state / "capture").glob("[!.]*")):
                    CATCH_UP.ask_each(ws)
                with as_of(ws, values.pop("as_of", None)) as then:
                    return run(then, **values)

        run_command.__doc__ = run.__doc__
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter("ctx", keyword, annotation=typer.Context), *flags]
        if json:
            parameters.append(AS_JSON)
        # by which Typer learns the flags, instead of the function's own (PEP 362)
        vars(run_command)["__signature__"] = inspect.Signature(parameters)
        app.command(name, cls=SectionedHelp, hidden=hidden)(run_command)
        return run

    return register
