"""What a client's files hold of Synaptic: its server, its hooks, and guidance for its agents. Text in, text out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import jsonc, toml
from .clients import DATA, Client, expand
from .jsonc import Unreadable, holder
from .server import Judgement, Server, judge, judge_commands, same_command

BEGIN, END = "<!-- synaptic:begin -->", "<!-- synaptic:end -->"
TIMEOUT_S = 10
"""What a client waits for a hook; a hook gives up sooner, by its own `timeout_s`."""

_BLOCK = re.compile(rf"{BEGIN}.*?{END}", re.DOTALL)
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
    client: Client, scope: str, server: Server, where: Mapping[str, Path], events: Iterable[str]
) -> dict[str, Part]:
    """The parts that this client can have, by name, in the order in which they are put in; hooks of these events."""
    parts = [_server(client, client.file(scope, where), server)]
    if client.hooks:
        make = _hooks if "events" in client.hooks else _program
        parts.append(make(client, expand(client.hooks[scope], where), server, events))
    if client.memory:
        parts.append(_guidance(expand(client.memory[scope], where)))
    return {part.name: part for part in parts}


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


def _hooks(client: Client, file: Path, server: Server, events: Iterable[str]) -> Part:
    """Hooks in JSON: {event: [{"hooks": [{"type": "command", "command": ..., "timeout": ...}]}]}."""
    names = client.hooks["events"]
    wanted = {name: server.hook(event, client.name) for event, name in names.items() if event in events}

    def judged(text: str) -> Judgement:
        return judge_commands([(event, command) for (event, *_), command in _ours(text).items()], wanted)

    def put(text: str) -> str:
        there = _ours(text)
        for (event, group, number), command in reversed(there.items()):
            if event not in wanted:
                text = _without(text, event, group, number)
            elif not same_command(command, wanted[event]):
                text = jsonc.put(text, ("hooks", event, group, "hooks", number, "command"), wanted[event])
        for event in [name for name in wanted if name not in {event for event, *_ in there}]:
            hook = {"type": "command", "command": wanted[event], "timeout": TIMEOUT_S * client.hooks["second"]}
            groups = holder(jsonc.parse(text), ("hooks", event)).get(event, [])
            new: Any = {"hooks": [hook]}
            # at the end: Codex knows the hooks that a person approved by their places
            at_end = ("hooks", event, len(groups)) if groups else ("hooks", event)
            text = jsonc.put(text, at_end, new if groups else [new])
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


def _program(client: Client, file: Path, server: Server, events: Iterable[str]) -> Part:
    """A program of the client's, which calls the hooks itself."""
    template = (DATA / client.hooks["template"]).read_text("utf-8")
    words = json.dumps(server.hook_words(client.name), ensure_ascii=False)
    asked = [event for event in events if event != "stop"]
    text = template.replace('["synaptic"]', words).replace('["session-start"]', json.dumps(asked))
    first = template.partition("\n")[0]

    def judged(there: str) -> Judgement:
        if there and not there.startswith(first):
            return Judgement("different")
        return Judgement("registered" if there == text else "other program" if there else "not registered")

    return Part("hooks", "its plugin", file, judged, lambda _: text, lambda _: "", client.hooks["check"])


def _guidance(file: Path) -> Part:
    """Ten lines between markers in what the client's agents read at each start."""
    block = f"{BEGIN}\n{(DATA / 'guidance.md').read_text('utf-8')}{END}"

    def shown(text: str) -> str:
        return block.replace("\n", "\r\n") if "\r\n" in text else block

    def judged(text: str) -> Judgement:
        found = _BLOCK.findall(text)
        if text.count(BEGIN) != len(found):
            raise Unreadable(text[: text.index(BEGIN)].count("\n") + 1, f"{BEGIN} has no {END}")
        known = Judgement("registered" if found == [shown(text)] else "other program")
        return known if found else Judgement("not registered")

    def put(text: str) -> str:
        if BEGIN in text:
            return _BLOCK.sub(lambda _: shown(text), text)
        end = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text else end if text.endswith("\n") else 2 * end
        return f"{text}{gap}{shown(text)}{end}"

    def drop(text: str) -> str:
        return re.sub(rf"(?:(?<=\n)\r?\n)?{_BLOCK.pattern}(?:\r?\n)?", "", text, flags=re.DOTALL)

    return Part("guidance", "guidance", file, judged, put, drop, "its agents read it when they start")
