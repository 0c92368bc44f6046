"""The command `setup`: registers Synaptic with each client, and says how to check it."""

import os
import shlex
import tomllib
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import typer

from ..config import load_config, resolve_home
from ..errors import InvalidArgument, SynapticError
from ..hooks.hooks import SETTINGS
from ..journal.settings import write_setting
from ..models import Json
from ..plugin import OFFER
from ..render.fence import clean
from ..render.terminal import emit, say
from ..setup.clients import (
    CLIENTS,
    Client,
    Server,
    clients_by_name,
    has_claude_plugin,
    local_server,
    remote_server,
    write_start_command,
)
from ..setup.parts import EVENTS, Part, client_parts
from ..setup.register import SetupStep, set_up_part
from .replies import IN_JSON, can_ask, print_answer

_TOOLS_QUESTION = (
    "Tell agents before an edit what the journal says of that file, and after a failed "
    "command what it says of that error?"
)
_LOCAL_ADDRESSES = ("http://127.0.0.1", "http://[::1]", "http://localhost")


class SetupOptions(NamedTuple):
    """The flags of the command `setup`."""

    dry_run: bool = False
    show: bool = False
    status: bool = False
    remove: bool = False
    no_hooks: bool = False
    guidance: bool = False
    capture: bool = False
    project: str | None = None
    url: str | None = None
    take_in: bool | None = None

    @property
    def reads(self) -> bool:
        """True if nothing is written."""
        return self.dry_run or self.show or self.status

    @property
    def adds(self) -> bool:
        """True if clients are registered."""
        return not (self.reads or self.remove)


def run_setup(home: str | None, names: Sequence[str], options: SetupOptions) -> int:
    """Registers Synaptic with clients, removes it, or shows what would change. Returns the exit
    status: 1 where a client's file could not be changed.
    """
    _check_options(options)
    server = _wanted_server(home, options)
    clients = clients_by_name(names, remote=bool(options.url))
    chosen = clients
    if not (names or options.show or options.status or options.remove):
        chosen = [client for client in clients if client.is_present]
    notices = _prepare_home(home, options, server, chosen)
    parts = _wanted_parts(home, options, server, chosen)
    if options.show and not IN_JSON.get():
        for part in parts:
            say(f"{part.client.title}, in {part.file}:")
            emit(clean(part.edit("")))
        return 0
    done = _set_up_parts(parts, options)
    if options.remove and not (names or options.reads):
        notices = _switch_off_capture(home)
    failed = any(step.action == "fail" for step in done)
    absent = [client.name for client in clients if client not in chosen]
    data = {"success": not failed, **_steps_json(done), "not_found": absent, "notices": notices}
    offers = options.adds and not options.url
    if offers and IN_JSON.get():
        for took_in in OFFER.ask_each(home, options.take_in):
            data |= took_in
    print_answer(data, _closing_remarks(done, absent, dry_run=options.dry_run), notices)
    if offers and not IN_JSON.get():
        OFFER.ask_each(home, options.take_in)
    return 1 if failed and not (options.show or options.status) else 0


def find_registered(home: str | None) -> list[SetupStep]:
    """Looks at all clients and returns the state of each part of Synaptic; changes nothing."""
    options = SetupOptions(status=True)
    parts = _wanted_parts(home, options, _wanted_server(home, options), CLIENTS)
    return [set_up_part(part) for part in parts]


def _check_options(options: SetupOptions) -> None:
    """Raises InvalidArgument for flags that exclude each other."""
    if options.show + options.status + options.remove > 1:
        raise InvalidArgument(
            "Only one of these flags may be given.", valid=("--print", "--status", "--remove")
        )
    if options.url and (options.project or options.capture):
        hint = "`synaptic token` sets a token's project. Give --capture where the journal is."
        raise InvalidArgument("--url cannot be given with --project or --capture.", hint)


def _wanted_server(home: str | None, options: SetupOptions) -> Server:
    """Returns the server to register: the one at the address that was given, else this
    program.
    """
    url, project = options.url, options.project
    server = remote_server(url) if url else local_server(home, project)
    return server._replace(tool_list=load_config(home).tool_list)


def _prepare_home(
    home: str | None, options: SetupOptions, server: Server, clients: Sequence[Client]
) -> list[str]:
    """Writes the settings that clients need, and the start command, before clients are
    registered. Returns the notices for the person; none if clients are removed.
    """
    if options.adds and options.capture:
        write_setting(resolve_home(home), "capture", True)
    notices = [] if options.remove else _setup_notices(server)
    if options.adds and not options.url:
        write_start_command(server)
        if not options.no_hooks:
            _ask_about_tools(home, clients)
            notices += _switch_on_prompts(home, clients)
    return notices


def _wanted_parts(
    home: str | None, options: SetupOptions, server: Server, clients: Sequence[Client]
) -> list[Part]:
    """Returns the parts of these clients that the flags ask for."""
    is_wanted = {
        "server": True,
        "hooks": not (options.no_hooks or options.url),
        "guidance": options.guidance or options.status or options.remove,
    }
    events = _hook_events(home, options.capture, planned=not options.status)
    every = chain.from_iterable(client_parts(client, server, events) for client in clients)
    return [part for part in every if is_wanted[part.name]]


def _hook_events(home: str | None, capture: bool, *, planned: bool) -> list[str]:
    """Returns the names of the hook events that config.toml switches on, in the order of
    EVENTS; with `planned` as it will be after `_switch_on_prompts`.
    """
    config = load_config(home)
    capture = config.capture or capture
    wanted = {event: getattr(config.hooks, setting) for event, setting in SETTINGS.items()}
    if planned and "user_prompt" not in _hook_settings(home):
        wanted["user-prompt"] = True
    for event in EVENTS:
        wanted.setdefault(event, getattr(config.hooks, event.replace("-", "_"), capture))
    return [event for event in EVENTS if wanted[event]]


def _ask_about_tools(home: str | None, clients: Sequence[Client]) -> None:
    """Asks a person whether hooks should speak before edits and after failed commands, and
    writes the answer to config.toml. Asks nothing if config.toml has an answer, or if none of
    these clients has such hooks.
    """
    is_open = "tools" not in _hook_settings(home)
    can_speak = any("tools" in client.hooks for client in clients)
    if is_open and can_speak and can_ask():
        wanted = typer.confirm(_TOOLS_QUESTION, default=False, err=True)
        write_setting(resolve_home(home), "hooks.tools", wanted)


def _switch_on_prompts(home: str | None, clients: Sequence[Client]) -> list[str]:
    """Writes `user_prompt = true` to config.toml if it does not say yet whether prompts get
    entries, and if one of these clients has hooks. Returns the notices for the person.
    """
    if "user_prompt" in _hook_settings(home) or not any(client.hooks for client in clients):
        return []
    try:
        write_setting(resolve_home(home), "hooks.user_prompt", True)
    except SynapticError as error:
        return [f"Prompts get no entries: {error}"]
    return [
        "Agents get the entries that answer a prompt. To stop that, write user_prompt = false "
        "under [hooks] in config.toml and run `synaptic setup` again."
    ]


def _hook_settings(home: str | None) -> Json:
    """Returns the table `hooks` of config.toml as it is written; {} without one."""
    file = resolve_home(home) / "config.toml"
    settings = tomllib.loads(file.read_text("utf-8-sig")) if file.exists() else {}
    table: Json = settings.get("hooks", {})
    return table


def _switch_off_capture(home: str | None) -> list[str]:
    """Sets `capture` to false in config.toml, because no client reports ended sessions any
    more. Returns the notices for the person.
    """
    if not load_config(home).capture:
        return []
    write_setting(resolve_home(home), "capture", False)
    return [
        "No digests of sessions are made any more: config.toml says capture = false. Those "
        "that are there stay."
    ]


def _set_up_parts(parts: Sequence[Part], options: SetupOptions) -> list[SetupStep]:
    """Registers or removes each part, or only looks at it, and prints a sentence for each.
    Returns the steps worth reporting.
    """
    done: list[SetupStep] = []
    remove = options.remove
    plugin = has_claude_plugin() and not remove
    for part in parts:
        # the part before hooks is the server
        if not remove and part.name == "hooks" and done[-1].action == "fail":
            continue  # beside another server they would speak of another journal
        brought = plugin and part.client.name == "claude-code" and part.name != "guidance"
        step = set_up_part(part, remove=remove, only_read=options.reads or brought)
        if brought:
            step.action = "nothing"
            step.why = "the plugin synaptic@synaptic brings the server, the hooks and a skill"
        idle = step.state == "not registered" and (options.status or step.action == "nothing")
        if idle and (remove or part.name != "server"):
            continue
        done.append(step)
        if not IN_JSON.get():
            sentence = _state_text(step) if options.status else _step_text(step, remove=remove)
            emit(clean(f"{part.client.title}: {sentence}"))
    return done


def _closing_remarks(done: Sequence[SetupStep], absent: Sequence[str], *, dry_run: bool) -> str:
    """Returns the lines printed below all steps: nothing registered, clients not found, dry
    run.
    """
    remarks = []
    if not done:
        remarks.append("Synaptic is registered with none of these clients.")
    if absent:
        remarks.append(
            f"Not found: {', '.join(absent)}. `synaptic setup NAME` registers one all the "
            f"same, --print shows what to paste."
        )
    if dry_run:
        remarks.append("Nothing was changed.")
    return "\n".join(remarks)


def _steps_json(steps: Sequence[SetupStep]) -> Json:
    """Returns the steps as JSON objects in the lists `clients` (the server), `hooks` and
    `guidance`.
    """
    by_part: Json = {"clients": [], "hooks": [], "guidance": []}
    for step in steps:
        part = step.part
        fields = {
            "client": part.client.name,
            "title": part.client.title,
            "found": part.client.is_present,
            "path": str(part.file),
            "state": step.state,
            "action": step.action,
            "done": step.done,
            "by": step.command,
            "message": step.why,
            "backup": str(step.backup) if step.backup else None,
            "snippet": part.edit(""),
            "check": part.check,
        }
        by_part[part.name if part.name in by_part else "clients"].append(fields)
    return by_part


def _setup_notices(wanted: Server) -> list[str]:
    """Returns notices on environment variables that clients will not see, and on the token of a
    server at an address.
    """
    if not wanted.url:
        unseen = ("SYNAPTIC_JOURNAL", "SYNAPTIC_MODEL", "SYNAPTIC_PROJECT")
        return [
            f"{name} is set here, but no client will see it; config.toml can hold it."
            for name in unseen
            if os.environ.get(name)
        ]
    notices = [
        "SYNAPTIC_TOKEN must hold the token where these clients start; `synaptic token NAME` "
        "makes one."
    ]
    if wanted.url.startswith("http:") and not wanted.url.startswith(_LOCAL_ADDRESSES):
        notices.append(
            f"Anyone on the way to {wanted.url} can read the token: put TLS in front."
        )
    return notices


# -- sentences
# ----------------------------------------------------------------------------------------------


def _step_text(step: SetupStep, *, remove: bool) -> str:
    """Returns the sentence on a step, its result, and what the person should do next."""
    part = step.part
    if step.action == "nothing":
        return _state_text(step)
    lines = [f"adds {part.noun} to {part.file}"]
    if step.action == "fail":
        lines = [f"{step.why} It is left as it is."]
        if remove:
            lines.append(f"  Take {part.noun} out of it.")
        else:
            lines.append(f"  Paste this into {part.file}:\n{part.edit('').rstrip()}")
    elif step.command:
        lines = [f"runs {shlex.join(step.command)}"]
    elif remove:
        lines = [f"takes {part.noun} out of {part.file}"]
    if step.done:
        lines.append("  Done.")
        if not remove:
            lines.append(f"  Check: {part.check}")
    return "\n".join(lines)


def _state_text(step: SetupStep) -> str:
    """Returns the sentence that says whether a part is registered with its client, and in which
    file.
    """
    part = step.part
    phrases = [step.why] if step.why else [step.state]
    if step.was_there:
        noun = "registered" if part.name == "server" else part.noun
        phrases = [f"{noun} in {part.file}", step.why]
    if step.state == "outdated":
        phrases.append("not up to date: the same setup again mends that")
    if not part.client.is_present:
        phrases.append("not found on this machine")
    return "; ".join(filter(None, phrases))
