"""The parts of Synaptic in a client's files: its server, its hooks, and guidance for agents.

Each part judges a file's text, puts itself into it and drops itself out of it again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from . import jsonc, toml
from .clients import DATA, NAME, PROGRAMS, Client, Server, expand
from .jsonc import Unreadable, table

TIMEOUT_S = 10
"""A client waits this long for a hook; a hook gives up sooner, by its own `timeout_s`."""
LAST_TIMEOUT_S = 3
"""A client that ends waits this long; Codex allows no more."""
HOOKS_CHECK = "/hooks lists them"
EVENTS = ("session-start", "user-prompt", "stop", "pre-compact", "session-end")

_PROGRAM = re.compile(r"""(['"]?)(.+?)\1 """)
_OWN_HOOK = re.compile(
    rf"\bsynaptic[^/\s]*(?: --home .+)? hook (?:--client \S+ )?(?:{'|'.join(EVENTS)})\b"
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The state of a part in a file, and the server that its entry starts, if that is known.

    | state          | the entry                                         | setup        |
    |----------------|---------------------------------------------------|--------------|
    | not registered | is not there                                      | adds it      |
    | registered     | starts this program                               | does nothing |
    | other program  | starts another Synaptic, with the usual arguments | replaces it  |
    | gone           | names a command that is not there                 | replaces it  |
    | different      | has other arguments, another home, project or     | leaves it    |
    |                | address, or is another thing                      |              |
    """

    state: str
    server: Server | None = None
    off: bool = False


@dataclass(frozen=True, slots=True)
class Part(ABC):
    """A part in one file: `noun` names it in a sentence, `check` says how to see it work. All
    methods raise Unreadable.
    """

    name: str
    noun: str
    file: Path
    check: str

    @abstractmethod
    def judge(self, text: str) -> Judgement:
        """Returns the state of this part in the text."""

    @abstractmethod
    def put(self, text: str) -> str:
        """Returns the text with this part."""

    @abstractmethod
    def drop(self, text: str) -> str:
        """Returns the text without this part."""


def parts_of(
    client: Client, scope: str, server: Server, where: Mapping[str, Path], events: Sequence[str]
) -> list[Part]:
    """Returns the parts of this client in the order in which they are put in; hooks of these
    events.
    """
    file = client.file(scope, where)
    parts: list[Part] = [ServerPart("server", "synaptic", file, client.check, client, server)]
    if client.hooks:
        file = expand(client.hooks[scope], where)
        check = client.hooks.get("check", HOOKS_CHECK)
        if "events" in client.hooks:
            parts.append(_hooks_part(client, file, check, server, events))
        else:
            program = _program(client, server, events)
            parts.append(BlockPart("hooks", "its plugin", file, check, program, "/*", "*/"))
    if client.memory:
        file = expand(client.memory[scope], where)
        check = "its agents read it when they start"
        guidance = (DATA / "guidance.md").read_text("utf-8")
        parts.append(BlockPart("guidance", "guidance", file, check, guidance, "<!--", "-->"))
    return parts


def _program(client: Client, server: Server, events: Sequence[str]) -> str:
    """Returns the program that runs the hooks of a client without a list of hooks."""
    program: str = (DATA / client.hooks["template"]).read_text("utf-8")
    command = json.dumps(server.hook_words(client.name), ensure_ascii=False)
    told = json.dumps([event for event in events if event != "stop"])
    return program.replace('["synaptic"]', command).replace('["session-start"]', told)


# -- the server
# ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ServerPart(Part):
    """The entry of the server among the client's servers, in JSON or TOML."""

    client: Client
    wanted: Server

    @property
    def _form(self) -> Any:
        return toml if self.file.suffix == ".toml" else jsonc

    @property
    def _path(self) -> tuple[str, str]:
        return self.client.key, NAME

    def judge(self, text: str) -> Judgement:
        servers = table(self._form.parse(text), (self.client.key,))
        return _judge(servers.get(NAME), self.wanted)

    def put(self, text: str) -> str:
        entry = self.client.shape(self.wanted)
        if self.judge(text).state == "not registered":
            return str(self._form.put(text, self._path, entry))
        for name in ("command", "args"):  # its user's other words in the entry stay
            if name in entry:
                text = str(self._form.put(text, (*self._path, name), entry[name]))
        return text

    def drop(self, text: str) -> str:
        text = str(self._form.drop(text, self._path))
        if self._form is jsonc and table(jsonc.parse(text), ()).get(self.client.key) == {}:
            text = jsonc.drop(text, (self.client.key,))
        return text


def _judge(entry: object, wanted: Server) -> Judgement:
    """Returns the state of an entry in a client's configuration; None: there is none."""
    if entry is None:
        return Judgement("not registered")
    server = _server_of(entry)
    if not isinstance(entry, dict) or server is None:
        return Judgement("different")
    off = entry.get("disabled") is True or entry.get("enabled") is False
    if server.url or wanted.url:
        same = server.url == wanted.url
        return Judgement("registered" if same else "different", server, off)
    by_name = server.args == ("mcp",) and Path(server.command).stem in PROGRAMS
    usual = by_name or server.args == ("-m", "synaptic", "mcp")
    if not usual or server.env != {**server.env, **wanted.env}:
        return Judgement("different", server, off)
    if shutil.which(server.command) is None:
        return Judgement("gone", server, off)
    same_program = os.path.realpath(server.command) == os.path.realpath(wanted.command)
    here = same_program and Path(server.command).is_absolute() and server.args == wanted.args
    return Judgement("registered" if here else "other program", server, off)


def _server_of(entry: object) -> Server | None:
    """Returns the server of an entry in any client's shape."""
    if not isinstance(entry, dict):
        return None
    url = entry.get("url") or entry.get("httpUrl") or entry.get("serverUrl")
    if isinstance(url, str):
        return Server("", (), url=url)
    command, args = entry.get("command"), entry.get("args", [])
    if isinstance(command, list) and command:
        command, args = command[0], command[1:]
    words: list[Any] = [command, *args] if isinstance(args, list) else [None]
    if not all(isinstance(word, str) for word in words):
        return None
    env = entry.get("env", entry.get("environment"))
    if not isinstance(env, dict):
        env = {}
    home, project = env.get("SYNAPTIC_HOME"), env.get("SYNAPTIC_PROJECT")
    return Server(
        words[0],
        tuple(words[1:]),
        str(home) if home else None,
        str(project) if project else None,
    )


# -- hooks
# ----------------------------------------------------------------------------------------------


class _Hook(NamedTuple):
    """A hook of Synaptic: its event, the numbers of its group and in the group, and itself."""

    event: str
    group: int
    number: int
    hook: dict[str, Any]


def _own_hooks(data: Any) -> list[_Hook]:
    hooks = []
    for event, groups in table(data, ("hooks",)).items():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            members = group.get("hooks") if isinstance(group, dict) else None
            for place, hook in enumerate(members or ()):
                if isinstance(hook, dict) and _OWN_HOOK.search(str(hook.get("command"))):
                    hooks.append(_Hook(event, number, place, hook))
    return hooks


@dataclass(frozen=True, slots=True)
class HooksPart(Part):
    """Commands by event in JSON: {event: [{"hooks": [{"command": ..., "timeout": ...}]}]}.

    `second` is a second in the unit of the client's timeouts.
    """

    commands: Mapping[str, str]
    second: int

    def judge(self, text: str) -> Judgement:
        commands = {
            (hook.event, hook.hook["command"]) for hook in _own_hooks(jsonc.parse(text))
        }
        if not commands:
            return Judgement("not registered")
        if commands == set(self.commands.items()):
            return Judgement("registered")
        for _, command in commands:
            program = _PROGRAM.match(command)
            if program and shutil.which(program[2]) is None:
                return Judgement("gone", Server(program[2], ()))
        return Judgement("other program")

    def put(self, text: str) -> str:
        return self._write(text, self.commands)

    def drop(self, text: str) -> str:
        return self._write(text, {})

    def _write(self, text: str, commands: Mapping[str, str]) -> str:
        data = jsonc.parse(text)
        there = _own_hooks(data)
        if not there and not commands:
            return text
        events = table(data, ("hooks",))
        for event, group, number, hook in reversed(there):
            if event in commands:
                hook["command"] = commands[event]
            else:
                _remove_hook(events, event, group, number)
        present = {hook.event for hook in there}
        for event, command in commands.items():
            if event in present:
                continue
            groups = events.setdefault(event, [])
            if not isinstance(groups, list):
                raise Unreadable(1, f"hooks.{event} is no array")
            # the last: Codex knows approved hooks by their places
            groups.append({"hooks": [self._hook(event, command)]})
        if not events:
            del data["hooks"]
        return jsonc.rewrite(text, data)

    def _hook(self, event: str, command: str) -> dict[str, Any]:
        seconds = LAST_TIMEOUT_S if event == "SessionEnd" else TIMEOUT_S
        return {"type": "command", "command": command, "timeout": seconds * self.second}


def _remove_hook(events: dict[str, Any], event: str, group: int, number: int) -> None:
    hooks = events[event][group]["hooks"]
    if len(hooks) > 1:
        del hooks[number]
        return
    del events[event][group]
    if not events[event]:
        del events[event]


def _hooks_part(
    client: Client, file: Path, check: str, server: Server, events: Sequence[str]
) -> HooksPart:
    names = dict(zip(EVENTS, client.hooks["events"], strict=True))
    chosen = [event for event in EVENTS if event in events and names[event]]
    commands = {names[event]: server.hook(event, client.name) for event in chosen}
    noun = f"hooks ({', '.join(chosen)})"
    second = client.hooks.get("second", 1)
    return HooksPart("hooks", noun, file, check, commands, second)


def unapproved(file: Path, text: str, config: str) -> tuple[str, ...]:
    """Returns the events of Synaptic's hooks that Codex does not run, because its config.toml
    has them neither approved nor on.
    """
    states = toml.parse(config).get("hooks", {}).get("state", {})
    waiting = []
    for hook in _own_hooks(jsonc.parse(text)):
        label = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", hook.event).lower()
        state = states.get(f"{file}:{label}:{hook.group}:{hook.number}", {})
        if "trusted_hash" not in state or state.get("enabled") is False:
            waiting.append(hook.event)
    return tuple(waiting)


# -- blocks of text
# ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlockPart(Part):
    """Lines between two markers, which are comments of the file's language."""

    content: str
    opening: str
    closing: str

    @property
    def _begin(self) -> str:
        return f"{self.opening} synaptic:begin {self.closing}"

    @property
    def _end(self) -> str:
        return f"{self.opening} synaptic:end {self.closing}"

    @property
    def _pattern(self) -> str:
        return f"{re.escape(self._begin)}.*?{re.escape(self._end)}"

    def _block(self, text: str) -> str:
        block = f"{self._begin}\n{self.content}{self._end}"
        return block.replace("\n", _newline(text))

    def judge(self, text: str) -> Judgement:
        blocks = re.findall(self._pattern, text, re.DOTALL)
        if text.count(self._begin) != len(blocks):
            line = text[: text.index(self._begin)].count("\n") + 1
            raise Unreadable(line, f"{self._begin} has no {self._end}")
        if not blocks:
            return Judgement("not registered")
        same = blocks == [self._block(text)]
        return Judgement("registered" if same else "other program")

    def put(self, text: str) -> str:
        block = self._block(text)
        if self._begin in text:
            return re.sub(self._pattern, lambda _: block, text, flags=re.DOTALL)
        newline = _newline(text)
        gap = newline if text.endswith("\n") else newline * 2
        return (text + gap if text else "") + block + newline

    def drop(self, text: str) -> str:
        pattern = rf"(?:(?<=\n)\r?\n)?{self._pattern}(?:\r?\n)?"
        return re.sub(pattern, "", text, flags=re.DOTALL)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
