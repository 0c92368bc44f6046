"""The edits that put Synaptic's server, its hooks and its guidance for agents into a client's
files.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..config import CLIENT_WAITS_S
from ..files import DATA
from ..models import Json
from ..serving.tool_lists import FLAG, HEADER
from . import jsonc, toml
from .clients import NAME, PROGRAMS, Client, Server, client_path

EVENTS = (
    "session-start",
    "subagent-start",
    "user-prompt",
    "stop",
    "pre-compact",
    "session-end",
    "pre-tool",
    "tool-failure",
)
"""The names of the hook events of Synaptic."""

_LAST_TIMEOUT_S = 3
"""Seconds that a client waits for the hook at the end of a session; Codex allows no more."""
_USER_FIELDS = ("enabled", "type", "timeout", "startup_timeout_sec")
"""Fields of a server's settings whose present value is kept, because a user may have set it."""
_OWN_HOOK = re.compile(
    rf"\bsynaptic[^/\s]*(?: --home .+)? hook (?:--client \S+ )?(?:{'|'.join(EVENTS)})\b"
)
"""A command that runs a hook of Synaptic."""


class Part(NamedTuple):
    """The server, the hooks or the guidance of Synaptic in one file of a client. `noun` names
    it in a sentence, `check` says how a person sees that it works.

    `edit(text)` returns the file's text with it, `edit(text, drop=True)` without it. It raises
    an error of `FORM_ERRORS` where the text cannot be edited safely.
    """

    client: Client
    name: str
    noun: str
    file: Path
    check: str
    edit: Callable[..., str]


def client_parts(client: Client, server: Server, events: Sequence[str]) -> list[Part]:
    """Returns the server, the hooks for these events, and the guidance, as far as the client
    supports them.
    """
    edit = partial(_edit_server, client, server)
    parts = [Part(client, "server", NAME, client.file, client.check, edit)]
    hooks = client.hooks
    if hooks:
        events = _known_events(client, events)
        if "template" in hooks:
            program = _hook_program(client, server, events)
            edit = partial(_edit_block, "/*", "*/", program)
        else:
            edit = partial(_edit_hooks, _hook_groups(client, server, events))
        noun = f"hooks ({', '.join(events)})"
        parts.append(
            Part(client, "hooks", noun, client_path(hooks["file"]), hooks["check"], edit)
        )
    if client.memory:
        guidance = (DATA / "guidance.md").read_text("utf-8")
        edit = partial(_edit_block, "<!--", "-->", guidance)
        parts.append(
            Part(
                client,
                "guidance",
                "guidance",
                client_path(client.memory),
                "its agents read it when they start",
                edit,
            )
        )
    return parts


# -- the server
# ----------------------------------------------------------------------------------------------


def _edit_server(client: Client, server: Server, text: str, *, drop: bool = False) -> str:
    """Returns the settings with this server registered, or with `drop` without it. A
    registration that starts Synaptic gets the new values and keeps its other fields. Raises
    ValueError for any other registration of that name.
    """
    form = toml if client.file.suffix == ".toml" else jsonc
    path = (client.key, NAME)
    if drop:
        return str(form.drop(text, path))
    entry = client.build_entry(server)
    there = form.parse(text).get(client.key, {}).get(NAME)
    if there is None:
        return str(form.put(text, path, entry))
    starts_both = _starts_synaptic(there) and "command" in entry
    if not starts_both and not _without_header(there).items() >= _without_header(entry).items():
        raise ValueError(
            f"a server named {NAME} is registered with other settings; "
            f"`synaptic setup {client.name} --remove` removes it"
        )
    for name, value in entry.items():
        present = there.get(name)
        if present is not None and name in _USER_FIELDS:
            continue
        if isinstance(present, dict):
            value = {key: present[key] for key in present if key != HEADER} | value
        if value != present:
            text = form.put(text, (*path, name), value)
    return text


def _starts_synaptic(there: Mapping[str, Any]) -> bool:
    """True when a registration starts Synaptic's server, wherever its program is; False with a
    --home among its arguments, which a new registration would lose.
    """
    command = there.get("command")
    words = command if isinstance(command, list) else [command, *there.get("args", ())]
    programs = [word for word in words if Path(str(word)).stem in PROGRAMS]
    if words[-2:-1] == [FLAG]:
        words = words[:-2]
    return bool(programs) and words[-1] == "mcp" and "--home" not in words


def _without_header(entry: Mapping[str, Any]) -> Json:
    """Returns the registration without the header that names the list of tools."""
    bare = dict(entry)
    if "headers" in entry:
        headers = entry["headers"]
        bare["headers"] = {name: headers[name] for name in headers if name != HEADER}
    return bare


# -- hooks
# ----------------------------------------------------------------------------------------------


def _known_events(client: Client, events: Sequence[str]) -> list[str]:
    """Returns those of the events that the client has. A client without a list of events runs a
    program of ours, which leaves subagents out.
    """
    names = client.hooks.get("events")
    if names is None:
        return [event for event in events if event != "subagent-start"]
    name_by_event = dict(zip(EVENTS, names, strict=True))
    return [event for event in events if name_by_event[event]]


def _hook_program(client: Client, server: Server, events: Sequence[str]) -> str:
    """Returns the code of the plugin that runs the hooks, for a client that has no list of
    hooks.
    """
    program: str = (DATA / client.hooks["template"]).read_text("utf-8")
    command = json.dumps(server.hook_words(client.name), ensure_ascii=False)
    program = program.replace('["synaptic"]', command)
    return program.replace('["session-start"]', json.dumps(events))


def _hook_groups(client: Client, server: Server, events: Sequence[str]) -> dict[str, Any]:
    """Returns the settings of the hook for each event, by the client's name of the event."""
    hooks = {}
    for event, name in zip(EVENTS, client.hooks["events"], strict=True):
        if event not in events:
            continue
        seconds = _LAST_TIMEOUT_S if event == "session-end" else CLIENT_WAITS_S
        hook = {
            "type": "command",
            "command": server.hook_line(event, client.name),
            "timeout": seconds * client.hooks.get("second", 1),
        }
        tools = client.hooks["tools"].get(event)
        hooks[name] = {"matcher": tools, "hooks": [hook]} if tools else {"hooks": [hook]}
    return hooks


def _edit_hooks(wanted: Mapping[str, Any], text: str, *, drop: bool = False) -> str:
    """Returns the settings with the hooks in `wanted` as the only hooks of Synaptic, or with
    `drop` without any. Hooks stand in the form {"hooks": {event: [{"hooks": [{"command": ...,
    "timeout": ...}]}]}}.
    """
    if drop:
        wanted = {}
    there = jsonc.parse(text).get("hooks", {})
    for event in {**there, **wanted}:
        path = ("hooks", event)
        groups = there.get(event, [])
        new_groups = _replace_own_hook(groups, wanted.get(event))
        if new_groups == groups:
            continue
        text = jsonc.put(text, path, new_groups) if new_groups else jsonc.drop(text, path)
    return text


def _replace_own_hook(groups: list[Any], wanted: Mapping[str, Any] | None) -> list[Any]:
    """Returns the hook groups of an event with the wanted hook in place of the old hook of
    Synaptic, else as the last group. The order is kept, because Codex knows approved hooks by
    their positions.
    """
    edited = []
    for group in groups:
        hooks = []
        for hook in group["hooks"]:
            command = hook.get("command", "")
            if not _OWN_HOOK.search(command):
                hooks.append(hook)
            elif wanted:
                hooks.append({**hook, "command": wanted["hooks"][0]["command"]})
                wanted = None
        if hooks or not group["hooks"]:
            edited.append({**group, "hooks": hooks})
    if wanted:
        edited.append(dict(wanted))
    return edited


# -- blocks of text
# ----------------------------------------------------------------------------------------------


def _edit_block(
    opening: str, closing: str, content: str, text: str, *, drop: bool = False
) -> str:
    """Returns the text with `content` between two marker comments, in place of a former
    content, or with `drop` without it. Raises ValueError if the second marker is missing.
    """
    begin = f"{opening} synaptic:begin {closing}"
    end = f"{opening} synaptic:end {closing}"
    pattern = rf"{re.escape(begin)}.*?{re.escape(end)}\n?"
    blocks = re.findall(pattern, text, re.DOTALL)
    if text.count(begin) != len(blocks):
        raise ValueError(f"the line {begin} has no line {end} below it")
    if drop:
        with_blank_line = rf"(?:(?<=\n)\n)?{pattern}"
        return re.sub(with_blank_line, "", text, flags=re.DOTALL)
    block = f"{begin}\n{content}{end}\n"
    if blocks:
        return text.replace(blocks[0], block)
    if not text:
        return block
    gap = "\n" if text.endswith("\n") else "\n\n"
    return text + gap + block
