"""What a client's files hold of Synaptic: its server, its hooks, and guidance for its agents.
Text in, text out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import jsonc, toml
from .clients import DATA, NAME, PROGRAMS, Client, Server, expand
from .jsonc import Unreadable, table

TIMEOUT_S = 10
"""What a client waits for a hook; a hook gives up sooner, by its own `timeout_s`."""
LAST_TIMEOUT_S = 3
"""What it waits where it ends itself; Codex allows no more."""
EVENTS = ("session-start", "user-prompt", "stop", "pre-compact", "session-end")

_PROGRAM = re.compile(r"""(['"]?)(.+?)\1 """)
_OURS = re.compile(
    rf"\bsynaptic[^/\s]*(?: --home .+)? hook (?:--client \S+ )?(?:{'|'.join(EVENTS)})\b"
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an entry is to the wanted server, in one word, and the server that it starts, if it
    can be told.

    | state          | the entry                                                        | setup              |
    |----------------|------------------------------------------------------------------|--------------------|
    | not registered | is not there                                                     | adds it            |
    | registered     | starts this program                                              | does nothing       |
    | other program  | starts another Synaptic, with the usual arguments                | puts this one in   |
    | gone           | names a command that is not there                                | puts this one in   |
    | different      | has other arguments, another home, project or address, or is another thing | leaves it |
    """

    state: str
    server: Server | None = None
    off: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that Synaptic puts into a client's file, as functions of the file's text; they
    raise Unreadable.

    `noun` names it in a sentence, `check` says how its user sees that it works. `holders` are
    the objects and arrays that were made for it, the innermost first: they go with it.
    """

    name: str
    noun: str
    file: Path
    judge: Callable[[str], Judgement]
    put: Callable[[str], str]
    drop: Callable[[str], str]
    check: str = ""
    holders: Sequence[Sequence[str]] = ()


def parts_of(
    client: Client, scope: str, server: Server, where: Mapping[str, Path], events: Sequence[str]
) -> list[Part]:
    """The parts that this client can have, in the order in which they are put in; hooks of
    these events.
    """
    parts = [_server(client, client.file(scope, where), server)]
    if "events" in client.hooks:
        parts.append(_hooks(client, expand(client.hooks[scope], where), server, events))
    elif client.hooks:
        program = (DATA / client.hooks["template"]).read_text("utf-8")
        program = program.replace(
            '["synaptic"]', json.dumps(server.hook_words(client.name), ensure_ascii=False)
        )
        program = program.replace(
            '["session-start"]', json.dumps([event for event in events if event != "stop"])
        )
        file = expand(client.hooks[scope], where)
        parts.append(
            _block("hooks", "its plugin", file, program, "/*", "*/", client.hooks["check"])
        )
    if client.memory:
        text, file = (
            (DATA / "guidance.md").read_text("utf-8"),
            expand(client.memory[scope], where),
        )
        parts.append(
            _block(
                "guidance",
                "guidance",
                file,
                text,
                "<!--",
                "-->",
                "its agents read it when they start",
            )
        )
    return parts


def _server(client: Client, file: Path, server: Server) -> Part:
    form: Any = toml if file.suffix == ".toml" else jsonc
    path, shape = (client.key, NAME), client.shape(server)

    def judged(text: str) -> Judgement:
        return _judge(table(form.parse(text), path[:-1]).get(NAME), server)

    def put(text: str) -> str:
        if judged(text).state == "not registered":
            return str(form.put(text, path, shape))
        for name in shape.keys() & {
            "command",
            "args",
        }:  # whatever else a person wrote into it stays
            text = form.put(text, (*path, name), shape[name])
        return text

    made = (path[:1],) if form is jsonc else ()
    return Part(
        "server",
        "synaptic",
        file,
        judged,
        put,
        lambda text: form.drop(text, path),
        client.check,
        made,
    )


def _hooks(client: Client, file: Path, server: Server, events: Sequence[str]) -> Part:
    """Hooks in JSON: {event: [{"hooks": [{"type": "command", "command": ..., "timeout":
    ...}]}]}.
    """
    names = client.hooks["events"]
    wanted = {
        name: server.hook(event, client.name)
        for event, name in names.items()
        if event in events
    }

    def judged(text: str) -> Judgement:
        found = {(event, hook["command"]) for event, _, hook in _ours(jsonc.parse(text))}
        if not found or found == set(wanted.items()):
            return Judgement("registered" if found else "not registered")
        programs = (match[2] for _, command in found if (match := _PROGRAM.match(command)))
        lost = next((program for program in programs if shutil.which(program) is None), None)
        return Judgement("gone", Server(lost, ())) if lost else Judgement("other program")

    def written(text: str, wanted: Mapping[str, str]) -> str:
        data = jsonc.parse(text)
        there = _ours(data)
        if not (there or wanted):
            return text
        events = table(data, ("hooks",))
        for event, (number, place), hook in reversed(there):
            group = events[event][number]["hooks"]
            if event in wanted:
                hook["command"] = wanted[event]
            elif len(group) > 1:
                del group[place]
            else:
                del events[event][number]
        for event in [name for name in wanted if name not in {event for event, *_ in there}]:
            seconds = LAST_TIMEOUT_S if event == "SessionEnd" else TIMEOUT_S
            hook = {
                "type": "command",
                "command": wanted[event],
                "timeout": seconds * client.hooks["second"],
            }
            if not isinstance(events.setdefault(event, []), list):
                raise Unreadable(1, f"hooks.{event} is no array")
            events[event].append(
                {"hooks": [hook]}
            )  # the last: Codex knows the hooks that it may run by their places
        return jsonc.rewrite(text, data)

    made = (*(("hooks", name) for name in names.values()), ("hooks",))
    noun = f"hooks ({', '.join(event for event in names if names[event] in wanted)})"
    put, drop = partial(written, wanted=wanted), partial(written, wanted={})
    return Part("hooks", noun, file, judged, put, drop, client.hooks["check"], made)


def _ours(data: Any) -> list[tuple[str, tuple[int, int], dict[str, Any]]]:
    """Synaptic's hooks, each with its event, the number of its group, and its number in the
    group.
    """
    return [
        (event, (number, place), hook)
        for event, groups in table(data, ("hooks",)).items()
        for number, group in enumerate(groups if isinstance(groups, list) else ())
        for place, hook in enumerate(
            group.get("hooks") or () if isinstance(group, dict) else ()
        )
        if isinstance(hook, dict) and _OURS.search(str(hook.get("command")))
    ]


def unapproved(file: Path, text: str, config: str) -> tuple[str, ...]:
    """The events of Synaptic's hooks that Codex does not run, as its config.toml has them
    neither approved nor on.
    """
    states = toml.parse(config).get("hooks", {}).get("state", {})
    waiting = []
    for event, (group, number), _ in _ours(jsonc.parse(text)):
        label = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
        state = states.get(f"{file}:{label}:{group}:{number}", {})
        if "trusted_hash" not in state or state.get("enabled") is False:
            waiting.append(event)
    return tuple(waiting)


def _block(
    name: str, noun: str, file: Path, content: str, opening: str, closing: str, check: str
) -> Part:
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
        return Judgement(
            "registered" if same else "other program" if found else "not registered"
        )

    def put(text: str) -> str:
        if begin in text:
            return re.sub(pattern, lambda _: lines(text, whole), text, flags=re.DOTALL)
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return text + lines(text, f"{gap}{whole}\n")

    def drop(text: str) -> str:
        return re.sub(rf"(?:(?<=\n)\r?\n)?{pattern}(?:\r?\n)?", "", text, flags=re.DOTALL)

    return Part(name, noun, file, judged, put, drop, check)


# -- what is there
# ---------------------------------------------------------------------------------------


def _judge(entry: object, wanted: Server) -> Judgement:
    """What this entry of a client's configuration is; None is one that is not there."""
    if not isinstance(entry, dict):
        return Judgement("not registered" if entry is None else "different")
    server = _server_of(entry)
    if server is None:
        return Judgement("different")
    off = entry.get("disabled") is True or entry.get("enabled") is False
    if server.url or wanted.url:
        return Judgement("registered" if server.url == wanted.url else "different", server, off)
    by_name = server.args == ("mcp",) and Path(server.command).stem in PROGRAMS
    usual = by_name or server.args == ("-m", "synaptic", "mcp")
    if not usual or any(server.env.get(name) != value for name, value in wanted.env.items()):
        return Judgement("different", server, off)
    if shutil.which(server.command) is None:
        return Judgement("gone", server, off)
    here = Path(server.command).is_absolute() and os.path.realpath(
        server.command
    ) == os.path.realpath(wanted.command)
    return Judgement(
        "registered" if here and server.args == wanted.args else "other program", server, off
    )


def _server_of(entry: Mapping[str, Any]) -> Server | None:
    """The server in any client's shape: its address, or command and arguments apart, or in one
    list.
    """
    if isinstance(
        url := entry.get("url") or entry.get("httpUrl") or entry.get("serverUrl"), str
    ):
        return Server("", (), url=url)
    command, args = entry.get("command"), entry.get("args", [])
    if isinstance(command, list) and command:
        command, args = command[0], command[1:]
    words = [command, *args] if isinstance(args, list) else []
    if not words or not all(isinstance(word, str) for word in words):
        return None
    env = entry.get("env", entry.get("environment"))
    told = (
        [env.get(name) for name in ("SYNAPTIC_HOME", "SYNAPTIC_PROJECT")]
        if isinstance(env, dict)
        else []
    )
    return Server(
        words[0], tuple(words[1:]), *(str(value) if value else None for value in told)
    )
