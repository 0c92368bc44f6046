"""The command `setup`: registers Synaptic with each client, and says how to check it."""

import os
import shlex
import tomllib
from collections.abc import Sequence

import typer

from ..config import load_config, resolve_home
from ..doors import call_only_feature
from ..errors import InvalidArgument, SynapticError
from ..hooks.hooks import SETTINGS
from ..journal.settings import write_setting
from ..models import Json
from ..render.fence import clean
from ..render.terminal import emit, say
from ..setup.clients import (
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
from .replies import can_ask, print_answer

_TOOLS_QUESTION = (
    "Tell agents before an edit what the journal says of that file, and after a failed "
    "command what it says of that error?"
)
_LOCAL_ADDRESSES = ("http://127.0.0.1", "http://[::1]", "http://localhost")


def run_setup(
    home: str | None,
    names: Sequence[str],
    *,
    as_json: bool,
    dry_run: bool,
    show: bool,
    status: bool,
    remove: bool,
    no_hooks: bool = False,
    guidance: bool = False,
    capture: bool = False,
    project: str | None = None,
    url: str | None = None,
    take_in: bool | None = None,
) -> int:
    """Registers Synaptic with clients, removes it, or shows what would change. Returns the exit
    status: 1 where a client's file could not be changed.
    """
    if show + status + remove > 1:
        raise InvalidArgument(
            "Only one of these flags may be given.", valid=("--print", "--status", "--remove")
        )
    if url and (project or capture):
        hint = "`synaptic token` sets a token's project. Give --capture where the journal is."
        raise InvalidArgument("--url cannot be given with --project or --capture.", hint)
    wanted = remote_server(url) if url else local_server(home, project)
    wanted = wanted._replace(tool_list=load_config(home).tool_list)
    clients = clients_by_name(names, remote=bool(url))
    chosen = clients
    if not (names or show or status or remove):
        chosen = [client for client in clients if client.is_present]
    reads = dry_run or show or status
    adds = not (reads or remove)
    if adds and capture:
        write_setting(resolve_home(home), "capture", True)
    notices = [] if remove else _setup_notices(wanted)
    if adds and not url:
        write_start_command(wanted)
        if not no_hooks:
            _ask_about_tools(home, chosen)
            notices += _switch_on_prompts(home, chosen)
    kinds = {"server": True, "hooks": not (no_hooks or url)}
    kinds["guidance"] = guidance or status or remove
    parts = []
    for client in chosen:
        every = client_parts(client, wanted, _hook_events(home, capture, planned=not status))
        parts += [part for part in every if kinds[part.name]]
    if show and not as_json:
        for part in parts:
            say(f"{part.client.title}, in {part.file}:")
            emit(clean(part.edit("")))
        return 0
    done = _set_up_parts(parts, status=status, remove=remove, reads=reads, as_json=as_json)
    failed = any(step.action == "fail" for step in done)
    if remove and not (names or reads):
        notices = _switch_off_capture(home)
    absent = [client.name for client in clients if client not in chosen]
    data = {"success": not failed, **_steps_json(done), "not_found": absent, "notices": notices}
    if adds and as_json and not url:
        data |= call_only_feature("offer", home, take_in)
    print_answer(data, _closing_remarks(done, absent, dry_run=dry_run), notices)
    if adds and not (url or as_json):
        call_only_feature("offer", home, take_in)
    return 1 if failed and not (show or status) else 0


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


def _set_up_parts(
    parts: Sequence[Part], *, status: bool, remove: bool, reads: bool, as_json: bool
) -> list[SetupStep]:
    """Registers or removes each part, or with `reads` only looks at it, and prints a sentence
    for each. Returns the steps worth reporting.
    """
    done: list[SetupStep] = []
    plugin = has_claude_plugin() and not remove
    for part in parts:
        if not remove and part.name == "hooks" and done[-1].action == "fail":
            continue  # beside another server they would speak of another journal
        brought = plugin and part.client.name == "claude-code" and part.name != "guidance"
        step = set_up_part(part, remove=remove, only_read=reads or brought)
        if brought:
            step.action = "nothing"
            step.why = "the plugin synaptic@synaptic brings the server, the hooks and a skill"
        idle = step.state == "not registered" and (status or step.action == "nothing")
        if idle and (remove or part.name != "server"):
            continue
        done.append(step)
        if not as_json:
            sentence = _state_text(step) if status else _step_text(step, remove=remove)
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
