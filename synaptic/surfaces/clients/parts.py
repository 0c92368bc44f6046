"""The parts of Synaptic in a client's files: its server, its hooks, and guidance for agents."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import jsonc, toml
from .clients import DATA, NAME, PROGRAMS, Client, Server, expand

EVENTS = ("session-start", "user-prompt", "stop", "pre-compact", "session-end")

_TIMEOUT_S = 10
"""A client waits this long for a hook; a hook gives up sooner, by its own `timeout_s`."""
_LAST_TIMEOUT_S = 3
"""A client that ends waits this long; Codex allows no more."""
_OWN_HOOK = re.compile(
    rf"\bsynaptic[^/\s]*(?: --home .+)? hook (?:--client \S+ )?(?:{'|'.join(EVENTS)})\b"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part in one file: `noun` names it in a sentence, `check` says how to see it work.

    `put` and `drop` return the file's text with and without it. They raise an error of `ODD`
    where the text cannot be edited safely.
    """

    client: Client
    name: str
    noun: str
    file: Path
    check: str
    put: Callable[[str], str]
    drop: Callable[[str], str]


def parts_of(
    client: Client, server: Server, where: Mapping[str, Path], events: Sequence[str]
) -> list[Part]:
    """Returns the parts of this client, with hooks of these events."""
    put: Callable[[str], str] = partial(_put_server, client, server)
    drop: Callable[[str], str] = partial(_form(client).drop, path=(client.key, NAME))
    parts = [Part(client, "server", NAME, client.file(where), client.check, put, drop)]
    if client.hooks:
        file = expand(client.hooks["file"], where)
        check = client.hooks.get("check", "/hooks lists them")
        if "events" in client.hooks:
            hooks = _hooks(client, server, events)
            noun = f"hooks ({', '.join(event for event in EVENTS if event in events)})"
            put, drop = partial(_with_hooks, hooks), partial(_with_hooks, {})
        else:
            noun = "its plugin"
            program = _program(client, server, events)
            put = partial(_with_block, "/*", "*/", program)
            drop = partial(_with_block, "/*", "*/", "")
        parts.append(Part(client, "hooks", noun, file, check, put, drop))
    if client.memory:
        file = expand(client.memory, where)
        put = partial(_with_block, "<!--", "-->", (DATA / "guidance.md").read_text("utf-8"))
        drop = partial(_with_block, "<!--", "-->", "")
        check = "its agents read it when they start"
        parts.append(Part(client, "guidance", "guidance", file, check, put, drop))
    return parts


# -- the server
# ----------------------------------------------------------------------------------------------


def _form(client: Client) -> Any:
    return toml if client.files[0].endswith(".toml") else jsonc


def _put_server(client: Client, server: Server, text: str) -> str:
    """Returns the text with this server; an entry for another place of the program gets the new
    one, and keeps its other words. Raises ValueError for an entry of another kind.
    """
    form, path = _form(client), (client.key, NAME)
    entry = client.shape(server)
    there = form.parse(text).get(client.key, {}).get(NAME)
    if there is None:
        return str(form.put(text, path, entry))
    if not _is_alike(there, entry, server):
        shown = json.dumps(there, ensure_ascii=False)
        raise ValueError(
            f"{NAME} is registered in another way, {shown}; "
            f"`synaptic setup {client.name} --remove` takes that out"
        )
    for name in ("command", "args"):
        if there.get(name) != entry.get(name):
            text = form.put(text, (*path, name), entry[name])
    return text


def _is_alike(there: Mapping[str, Any], entry: Mapping[str, Any], server: Server) -> bool:
    """True when an entry starts this server, perhaps by a program in another place."""
    if server.url:
        return entry.items() <= there.items()
    command = there.get("command")
    words = command if isinstance(command, list) else [command, *there.get("args", [])]
    program = str(words[0])
    env = there.get("env") or there.get("environment") or {}
    return (
        (program == server.command or Path(program).stem in PROGRAMS)
        and words[1:] == list(server.args)
        and server.env.items() <= env.items()
    )


# -- hooks
# ----------------------------------------------------------------------------------------------


def _program(client: Client, server: Server, events: Sequence[str]) -> str:
    """Returns the program that runs the hooks of a client without a list of hooks."""
    program: str = (DATA / client.hooks["template"]).read_text("utf-8")
    command = json.dumps(server.hook_words(client.name), ensure_ascii=False)
    told = json.dumps([event for event in events if event != "stop"])
    return program.replace('["synaptic"]', command).replace('["session-start"]', told)


def _hooks(client: Client, server: Server, events: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Returns the hook of each event, by the client's name of the event."""
    hooks = {}
    for event, name in zip(EVENTS, client.hooks["events"], strict=True):
        if event in events and name:
            seconds = _LAST_TIMEOUT_S if name == "SessionEnd" else _TIMEOUT_S
            hooks[name] = {
                "type": "command",
                "command": server.hook(event, client.name),
                "timeout": seconds * client.hooks.get("second", 1),
            }
    return hooks


def _with_hooks(wanted: Mapping[str, dict[str, Any]], text: str) -> str:
    """Returns the text with these hooks of Synaptic and no others, in the form
    {"hooks": {event: [{"hooks": [{"command": ..., "timeout": ...}]}]}}.
    """
    there = jsonc.parse(text).get("hooks", {})
    for event in {**there, **wanted}:
        old = there.get(event, [])
        new = _groups(old, wanted.get(event))
        if not new and old:
            text = jsonc.drop(text, ("hooks", event))
        elif new != old:
            text = jsonc.put(text, ("hooks", event), new)
    return text


def _groups(groups: list[Any], wanted: Mapping[str, Any] | None) -> list[Any]:
    """Returns the groups with the wanted hook in place of an older one, else in a last group:
    Codex knows approved hooks by their places.
    """
    kept: list[Any] = []
    for group in groups:
        hooks = []
        for hook in group["hooks"]:
            if not _OWN_HOOK.search(hook.get("command", "")):
                hooks.append(hook)
            elif wanted:
                hooks.append({**hook, "command": wanted["command"]})
                wanted = None
        if hooks or not group["hooks"]:
            kept.append({**group, "hooks": hooks})
    if wanted:
        kept.append({"hooks": [wanted]})
    return kept


# -- blocks of text
# ----------------------------------------------------------------------------------------------


def _with_block(opening: str, closing: str, content: str, text: str) -> str:
    """Returns the text with the content between two markers, which are comments of the file's
    language; without both for no content. Raises ValueError for a marker without the other.
    """
    begin, end = f"{opening} synaptic:begin {closing}", f"{opening} synaptic:end {closing}"
    blocks = re.compile(
        rf"((?<=\n)\r?\n)?{re.escape(begin)}.*?{re.escape(end)}(?:\r?\n)?", re.DOTALL
    )
    if text.count(begin) != len(blocks.findall(text)):
        raise ValueError(f"{begin} has no {end}")
    if not content:
        return blocks.sub("", text)
    newline = "\r\n" if "\r\n" in text else "\n"
    block = f"{begin}\n{content}{end}\n".replace("\n", newline)
    if begin in text:
        return blocks.sub(lambda found: (found[1] or "") + block, text)
    gap = newline if text.endswith("\n") else newline * 2
    return text + gap + block if text else block
