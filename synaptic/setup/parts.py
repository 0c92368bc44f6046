"""The parts of Synaptic in a client's files: its server, its hooks, and guidance for agents."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..files import DATA
from . import jsonc, toml
from .clients import NAME, PROGRAMS, Client, Server, client_path

EVENTS = (
    "session-start",
    "user-prompt",
    "stop",
    "pre-compact",
    "session-end",
    "pre-tool",
    "tool-failure",
)

_TIMEOUT_S = 10
"""A client waits this long for a hook; a hook gives up sooner, by its own `timeout_s`."""
_LAST_TIMEOUT_S = 3
"""A client that ends waits this long; Codex allows no more."""
_USER_FIELDS = ("enabled", "type", "timeout", "startup_timeout_sec")
"""Fields of a server's entry whose present value is kept."""
_OWN_HOOK = re.compile(
    rf"\bsynaptic[^/\s]*(?: --home .+)? hook (?:--client \S+ )?(?:{'|'.join(EVENTS)})\b"
)


class Part(NamedTuple):
    """A part in one file: `noun` names it in a sentence, `check` says how to see it work.

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
    """Returns the parts of this client, with hooks of these events."""
    edit = partial(_edit_server, client, server)
    parts = [Part(client, "server", NAME, client.file, client.check, edit)]
    hooks = client.hooks
    if hooks:
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
    """Returns the text with this server; an entry of ours gets the new values, and keeps what
    is not named anew. Raises ValueError for an entry of another kind.
    """
    form = toml if client.file.suffix == ".toml" else jsonc
    path = (client.key, NAME)
    if drop:
        return str(form.drop(text, path))
    entry = client.build_entry(server)
    there = form.parse(text).get(client.key, {}).get(NAME)
    if there is None:
        return str(form.put(text, path, entry))
    if (
        not (_starts_synaptic(there) and "command" in entry)
        and not there.items() >= entry.items()
    ):
        raise ValueError(
            f"{NAME} is registered in another way; "
            f"`synaptic setup {client.name} --remove` takes that out"
        )
    for name, value in entry.items():
        old = there.get(name)
        if old is not None and name in _USER_FIELDS:
            continue
        if isinstance(old, dict):
            value = old | value
        if value != old:
            text = form.put(text, (*path, name), value)
    return text


def _starts_synaptic(there: Mapping[str, Any]) -> bool:
    """True when an entry starts Synaptic's server, by a program in any place; a home among
    the arguments would be lost.
    """
    command = there.get("command")
    words = command if isinstance(command, list) else [command, *there.get("args", ())]
    programs = [word for word in words if Path(str(word)).stem in PROGRAMS]
    return bool(programs) and words[-1] == "mcp" and "--home" not in words


# -- hooks
# ----------------------------------------------------------------------------------------------


def _hook_program(client: Client, server: Server, events: Sequence[str]) -> str:
    """Returns the program that runs the hooks of a client without a list of hooks."""
    program: str = (DATA / client.hooks["template"]).read_text("utf-8")
    command = json.dumps(server.hook_words(client.name), ensure_ascii=False)
    program = program.replace('["synaptic"]', command)
    return program.replace('["session-start"]', json.dumps(events))


def _hook_groups(client: Client, server: Server, events: Sequence[str]) -> dict[str, Any]:
    """Returns the group with the hook of each event, by the client's name of the event."""
    hooks = {}
    for event, name in zip(EVENTS, client.hooks["events"], strict=True):
        if event not in events or not name:
            continue
        seconds = _LAST_TIMEOUT_S if event == "session-end" else _TIMEOUT_S
        hook = {
            "type": "command",
            "command": server.hook_line(event, client.name),
            "timeout": seconds * client.hooks.get("second", 1),
        }
        tools = client.hooks["tools"].get(event)
        hooks[name] = {"matcher": tools, "hooks": [hook]} if tools else {"hooks": [hook]}
    return hooks


def _edit_hooks(wanted: Mapping[str, Any], text: str, *, drop: bool = False) -> str:
    """Returns the text with these hooks of Synaptic and no others, in the form
    {"hooks": {event: [{"hooks": [{"command": ..., "timeout": ...}]}]}}.
    """
    if drop:
        wanted = {}
    there = jsonc.parse(text).get("hooks", {})
    for event in {**there, **wanted}:
        path = ("hooks", event)
        old = there.get(event, [])
        new = _replace_own_hook(old, wanted.get(event))
        if new == old:
            continue
        text = jsonc.put(text, path, new) if new else jsonc.drop(text, path)
    return text


def _replace_own_hook(groups: list[Any], wanted: Mapping[str, Any] | None) -> list[Any]:
    """Returns the groups with the wanted hook in place of an older one, else its group last:
    Codex knows approved hooks by their places.
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
    """Returns the text with the content between two markers, which are comments of the file's
    language. Raises ValueError for a marker without the other.
    """
    begin = f"{opening} synaptic:begin {closing}"
    end = f"{opening} synaptic:end {closing}"
    pattern = rf"{re.escape(begin)}.*?{re.escape(end)}\n?"
    blocks = re.findall(pattern, text, re.DOTALL)
    if text.count(begin) != len(blocks):
        raise ValueError(f"{begin} has no {end}")
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
