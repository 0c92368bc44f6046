"""The program, and what makes a function one of its commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import typer

from ...config import load_config
from ...workspace.workspace import Workspace, open_workspace

Command = TypeVar("Command", bound=Callable[..., int | None])

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def open_home(home: str | None) -> Workspace:
    return open_workspace(load_config(home))


def command(name: str, *flags: inspect.Parameter, opens: bool = True) -> Callable[[Command], Command]:
    """Makes a function the command `name`. It is called with a Workspace, or with the home where `opens` is False.

    Flags that were left out are not passed on, so that the verbs' own defaults hold. An int that it returns is the
    exit status.
    """

    def register(run: Command) -> Command:
        def called(ctx: typer.Context, **given: Any) -> int | None:
            given = {flag: value for flag, value in given.items() if value is not None and value != []}
            if not opens:
                return run(ctx.obj, **given)
            with open_home(ctx.obj) as ws:
                return run(ws, **given)

        called.__doc__ = run.__doc__
        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        called.__signature__ = inspect.Signature([context, *flags])  # type: ignore[attr-defined]
        app.command(name)(called)
        return run

    return register
