"""What a client's files hold of Synaptic: its server, its hooks, and guidance for its agents. Text in, text out."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import jsonc, toml
from .clients import DATA, Client, expand
from .jsonc import Unreadable, holder
from .server import Judgement, Server, judge

TIMEOUT_S = 10
"""What a client waits for a hook; a hook gives up sooner, by its own `timeout_s`."""

_PROGRAM = re.compile(r"""(['"]?)(.+?)\1 """)
_OURS = re.compile(r"\bsynaptic[^/\s]*(?: --home .+)? hook (?:--client \S+ )?(?:session-start|user-prompt|stop)\b")


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that Synaptic puts into a client's file, as functions of the file's text; they raise Unreadable.

    `noun` names it in a sentence, `check` says how its user sees that it works. `holders` are the objects and arrays
    that were made for it, the innermost first: they go with it.
    """

    name: str
    noun: str
    file: Path
    judge: Callable[[str], Judgement]
    put: Callable[[str], str]
    drop: Callable[[str], str]
    check: str = ""
    holders: Sequence[jsonc.Path] = ()


def parts_of(
    client: Client, scope: str, server: Server, where: Mapping[str, Path], events: Sequence[str]
) -> list[Part]:
    """The parts that this client can have, in the order in which they are put in; hooks of these events."""
    parts = [_server(client, client.file(scope, where), server)]
    if "events" in client.hooks:
        parts.append(_hooks(client, expand(client.hooks[scope], where), server, events))
    elif client.hooks:
        program = (DATA / client.hooks["template"]).read_text("utf-8")
        program = program.replace('["synaptic"]', json.dumps(server.hook_words(client.name), ensure_ascii=False))
        program = program.replace('["session-start"]', json.dumps([event for event in events if event != "stop"]))
        file = expand(client.hooks[scope], where)
        parts.append(_block("hooks", "its plugin", file, program, "/*", "*/", client.hooks["check"]))
    if client.memory:
        text, file = (DATA / "guidance.md").read_text("utf-8"), expand(client.memory[scope], where)
        parts.append(_block("guidance", "guidance", file, text, "<!--", "-->", "its agents read it when they start"))
    return parts


def _server(client: Client, file: Path, server: Server) -> Part:
    form: Any = toml if file.suffix == ".toml" else jsonc
    path, shape = client.path, client.shape(server)

    def judged(text: str) -> Judgement:
        return judge(holder(form.parse(text), path).get(path[-1]), server)

    def put(text: str) -> str:
        if judged(text).state == "not registered":
            return str(form.put(text, path, shape))
        for name in shape.keys() & {"command", "args"}:  # whatever else a person wrote into it stays
            text = form.put(text, (*path, name), shape[name])
        return text

    made = (path[:1],) if form is jsonc else ()
    return Part("server", "synaptic", file, judged, put, lambda text: form.drop(text, path), client.check, made)


def _hooks(client: Client, file: Path, server: Server, events: Sequence[str]) -> Part:
    """Hooks in JSON: {event: [{"hooks": [{"type": "command", "command": ..., "timeout": ...}]}]}."""
    names = client.hooks["events"]
    wanted = {name: server.hook(event, client.name) for event, name in names.items() if event in events}

    def judged(text: str) -> Judgement:
        found = {(event, command) for (event, *_), command in _ours(text).items()}
        if not found or found == set(wanted.items()):
            return Judgement("registered" if found else "not registered")
        programs = (match[2] for _, command in found if (match := _PROGRAM.match(command)))
        lost = next((program for program in programs if shutil.which(program) is None), None)
        return Judgement("gone", Server(lost, ()), gone=True) if lost else Judgement("other program")

    def put(text: str) -> str:
        there = _ours(text)
        for event, group, number in reversed(there):
            if event not in wanted:
                text = _without(text, event, group, number)
            else:
                text = jsonc.put(text, ("hooks", event, group, "hooks", number, "command"), wanted[event])
        for event in [name for name in wanted if name not in {event for event, *_ in there}]:
            hook = {"type": "command", "command": wanted[event], "timeout": TIMEOUT_S * client.hooks["second"]}
            if groups := holder(jsonc.parse(text), ("hooks", event)).get(event):
                # at the end: Codex knows the hooks that a person approved by their places
                text = jsonc.put(text, ("hooks", event, len(groups)), {"hooks": [hook]})
            else:
                text = jsonc.put(text, ("hooks", event), [{"hooks": [hook]}])
        return text

    def drop(text: str) -> str:
        for event, group, number in reversed(_ours(text)):
            text = _without(text, event, group, number)
        return text

    made = (*(("hooks", name) for name in names.values()), ("hooks",))
    noun = f"hooks ({', '.join(event for event in names if names[event] in wanted)})"
    return Part("hooks", noun, file, judged, put, drop, client.hooks["check"], made)


def _ours(text: str) -> dict[tuple[str, int, int], str]:
    """The commands of Synaptic's hooks by (event, number of the group, number in the group)."""
    events = holder(jsonc.parse(text), ("hooks", "")).items()
    return {
        (str(event), number, place): hook["command"]
        for event, groups in events
        for number, group in enumerate(groups if isinstance(groups, list) else ())
        for place, hook in enumerate(group.get("hooks", ()) if isinstance(group, dict) else ())
        if isinstance(hook, dict) and _OURS.search(str(hook.get("command")))
    }


def _without(text: str, event: str, group: int, number: int) -> str:
    """The text without this hook, and without its group where it was alone in it."""
    path: jsonc.Path = ("hooks", event, group)
    alone = len(holder(jsonc.parse(text), (*path, "hooks"))["hooks"]) == 1
    return jsonc.drop(text, path if alone else (*path, "hooks", number))


def unapproved(file: Path, text: str, config: str) -> tuple[str, ...]:
    """The events of Synaptic's hooks that Codex does not run, as its config.toml has them neither approved nor on."""
    states = toml.parse(config).get("hooks", {}).get("state", {})
    waiting = []
    for event, group, number in _ours(text):
        label = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
        state = states.get(f"{file}:{label}:{group}:{number}", {})
        if "trusted_hash" not in state or state.get("enabled") is False:
            waiting.append(event)
    return tuple(waiting)


def _block(name: str, noun: str, file: Path, content: str, opening: str, closing: str, check: str) -> Part:
    """Lines between two markers, which are comments of the file's language."""
    begin, end = (f"{opening} synaptic:{place} {closing}" for place in ("begin", "end"))
    pattern = f"{re.escape(begin)}.*?{re.escape(end)}"
    whole = f"{begin}\n{content}{end}"

    def lines(text: str, block: str) -> str:
        return block.replace("\n", "\r\n") if "\r\n" in text else block

    def judged(text: str) -> Judgement:
        found = re.findall(pattern, text, re.DOTALL)
        if text.count(begin) != len(found):
            raise Unreadable(text[: text.index(begin)].count("\n") + 1, f"{begin} has no {end}")
        same = found == [lines(text, whole)]
        return Judgement("registered" if same else "other program" if found else "not registered")

    def put(text: str) -> str:
        if begin in text:
            return re.sub(pattern, lambda _: lines(text, whole), text, flags=re.DOTALL)
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return text + lines(text, f"{gap}{whole}\n")

    def drop(text: str) -> str:
        return re.sub(rf"(?:(?<=\n)\r?\n)?{pattern}(?:\r?\n)?", "", text, flags=re.DOTALL)

    return Part(name, noun, file, judged, put, drop, check)
