"""What the documentation says is so."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from forks import ForkedHome, Forks, forked

from synaptic.cli.main import whole_program
from synaptic.cli.program import GROUPS
from synaptic.config import load_config
from synaptic.features.importing.readers.record import READERS
from synaptic.filters import KEYS
from synaptic.mcp.tools import TOOLS
from synaptic.models import STRATEGIES
from synaptic.notes.markdown import parse_entries
from synaptic.search.doubt import MOST_HITS, NONE_FIT
from synaptic.search.ranking import PRESETS
from synaptic.setup.clients import CLIENTS, Client, Server

pytestmark = pytest.mark.whole


ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "SECURITY.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "AGENTS.md",
    "CHANGELOG.md",
    "plugin/README.md",
    "plugin/skills/memory/SKILL.md",
    "synaptic/data/README.md",
    "tests/data/README.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
)
FORGE = sorted(str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.*"))
"""The files that a forge reads: workflows, forms, the template of a pull request."""
OTHER_HOMES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME")
"""Where clients may keep their files instead of the home folder."""


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return [
        m[2]
        for m in re.finditer(
            rf"^(`{{3,}}){language}\n(.*?)^\1$", page(name), re.MULTILINE | re.DOTALL
        )
    ]


def rows(name: str, first: str) -> list[list[str]]:
    """The cells of the tables whose heading begins with this cell, without heading and rule."""
    tables = re.findall(
        rf"^\| {re.escape(first)} \|.*\n\|[-| ]+\n((?:\|.*\n)+)", page(name), re.MULTILINE
    )
    assert tables, first
    lines = "".join(tables).splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


@cache
def commands() -> dict[str, list[str]]:
    """Every command with its flags, but for what other programs call."""
    group = typer.main.get_command(whole_program())
    assert hasattr(group, "commands")
    return {
        name: [
            option
            for parameter in command.params
            if not getattr(parameter, "hidden", False)
            for option in (*parameter.opts, *parameter.secondary_opts)
        ]
        for name, command in group.commands.items()
        if not command.hidden
    }


def test_the_reference_says_how_many_hits_an_answer_shows() -> None:
    counts = {3: "three", 5: "five", 8: "8"}
    text = " ".join(page("docs/USAGE.md").split())
    assert f"the nearest entries, {counts[NONE_FIT]} at most." in text
    assert f"after {counts[MOST_HITS]} entries at most." in text


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_and_flag_is_in_the_reference(name: str) -> None:
    [row] = [
        line
        for line in page("docs/USAGE.md").splitlines()
        if re.match(rf"\| `{re.escape(name)}[ `]", line)
    ]
    everywhere = {"--json", "--help"}
    flags = {flag for flag in commands()[name] if flag.startswith("--")} - everywhere
    spellings = {f"{flag}s" for flag in flags}  # --tags is --tag
    missing = sorted(
        flag for flag in flags - spellings if flag not in row.replace("`", " ").split()
    )
    assert not missing


def test_the_reference_names_every_command_and_no_other() -> None:
    table = rows("docs/USAGE.md", "command")
    named = [re.match(r"`([a-z-]+)[^`]*`$", cells[0]) for cells in table]
    assert sorted(match[1] for match in named if match) == sorted(commands())
    assert all(len(cells) > 1 and cells[1] for cells in table)


def test_the_tables_of_commands_are_what_the_program_declares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`scripts/usage.py` writes them; who edits a row by hand, or drops a table, sees it."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import usage

    text = page("docs/USAGE.md")
    assert usage.with_tables(text) == text
    assert re.findall("<!-- commands: (.+) -->", text) == [*GROUPS]
    assert "| `save [TEXT...]` |" in usage.with_tables("<!-- commands: Write -->\n| old |\n")


def test_each_key_of_a_query_is_in_the_reference() -> None:
    shown = " ".join(cells[0] for cells in rows("docs/USAGE.md", "in a query"))
    assert not [key for key in KEYS if f"`{key.partition(':')[0]}:" not in shown]


def test_every_source_of_an_import_is_in_its_table() -> None:
    named = " ".join(cells[0] for cells in rows("docs/IMPORT.md", "source"))
    assert not [source for source in READERS if f"`{source}`" not in named]


def test_each_call_that_agents_are_told_names_arguments_of_its_tool() -> None:
    tools = {tool.name: tool for tool in TOOLS}
    calls = [
        call.groups()
        for file in sorted((ROOT / "synaptic").rglob("*.py"))
        for call in re.finditer(r"(context_[a-z]+)\((\w+)=", file.read_text())
    ]
    assert calls
    known = {name: {*tool.parameters, *tool.options} for name, tool in tools.items()}
    assert not [(name, word) for name, word in calls if word not in known[name]]


def test_every_tool_is_in_the_readme() -> None:
    named = {cells[0] for cells in rows("README.md", "tool")}
    assert named == {f"`{tool.name}`" for tool in TOOLS}


def test_the_strategies_and_presets_shown_are_those_that_there_are() -> None:
    named = {
        name for cells in rows("docs/USAGE.md", "`--strategy`") for name in cells[0].split(", ")
    }
    assert named == set(STRATEGIES)
    signals = ("semantic", "lexical", "symbolic", "recency", "importance", "access")
    shown = {
        name: {
            signal: float(value) for signal, value in zip(signals, values, strict=True) if value
        }
        for name, *values in rows("docs/USAGE.md", "preset")
    }
    assert shown == PRESETS


def test_the_faults_shown_are_those_of_the_tests_and_the_soak(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from soak import ATTACKS, ROWS

    shown = [int(cells[0]) for cells in rows("docs/RELIABILITY.md", "row")]
    marks = {
        int(number)
        for file in (ROOT / "tests").rglob("*.py")
        for number in re.findall(r"mark\.fault\(row=(\d+)\)", file.read_text(encoding="utf-8"))
    }
    assert shown == sorted(marks) == list(ROWS)
    assert [cells[0].split("`")[1] for cells in rows("docs/RELIABILITY.md", "attack")] == list(
        ATTACKS
    )


def test_the_recorded_tables_are_those_of_the_last_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`bench.py --record` writes both; who edits a figure by hand, or drops a place, sees it."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import bench

    records = json.loads(bench.RECORDS.read_text())
    text = page("docs/BENCHMARKS.md")
    assert bench.with_records(text, records) == text
    assert set(re.findall("<!-- bench: (.+) -->", text)) == records.keys()
    assert all(one["commit"] and one["date"] and one["rows"] for one in records.values())
    first = next(iter(records))
    records[first]["rows"][0]["what"] = "another"
    assert "| another |" in bench.with_records(text, records)


def test_the_settings_shown_are_the_defaults(tmp_path: Path) -> None:
    [example] = blocks("docs/USAGE.md", "toml")
    shown = tomllib.loads(example)
    assert all(shown.pop(key) for key in ("journal", "exclude", "sources", "project"))
    (tmp_path / "config.toml").write_text(example)
    config, default = (load_config(tmp_path), load_config(tmp_path / "none"))
    assert config.search == default.search
    assert {key: getattr(config, key) for key in shown if key != "search"} == {
        key: getattr(default, key) for key in shown if key != "search"
    }
    assert set(shown["search"]) == set(default.search.__slots__)


@pytest.mark.parametrize("name", ["README.md", "docs/FORMAT.md"])
def test_the_format_shown_is_read_as_it_says(name: str) -> None:
    [example] = blocks(name, "markdown")
    parsed = parse_entries(
        example.encode(), "2026-11-21.md", mtime=datetime(2026, 11, 21, tzinfo=UTC)
    )
    assert parsed.issues == ()
    first, second = parsed.entries[:2]
    assert (first.type, first.tags, first.importance, first.by) == (
        "decision",
        ("db", "search"),
        8,
        "claude",
    )
    assert (second.type, second.title, second.tags) == ("note", "Called the bank", ("finance",))


def test_the_examples_run(tmp_path: Path) -> None:
    """In order, in a fresh home; the vault holds the day that is shown, with the entry that is
    named.
    """
    bare = {name: value for name, value in os.environ.items() if name not in OTHER_HOMES}
    environ = {
        **bare,
        "SYNAPTIC_HOME": str(tmp_path / ".synaptic"),
        "HOME": str(tmp_path),
        "PATH": os.defpath,
    }
    vault = tmp_path / "vault" / "daily"
    vault.mkdir(parents=True)
    (vault / "tax.md").write_text("# Tax\n\nThe tax return is due in July.\n")
    [day] = blocks("README.md", "markdown")
    (vault / "2026-11-21.md").write_text(day)
    shown = [
        line
        for name in ("README.md", "docs/CLIENTS.md")
        for block in blocks(name, "console")
        for line in block.splitlines()
    ]
    lines = [line[2:] for line in shown if line.startswith("$ synaptic ")]
    assert len(lines) >= 16
    for line in lines:
        words = [word.replace("~", str(tmp_path)) for word in shlex.split(line)[1:]]
        done = forked(*words, folder=tmp_path, env=environ)
        assert done.code == 0, (line, done.err)
        assert done.out.strip()
    assert (vault / "2026-11-21.md").read_text().count("Rolled out today.") == 1


VARYING = (
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"\d\d:\d\d", "TIME"),
    (r"\d{1,2} [A-Z][a-z]{2} ", "DAY "),
    (r"since=p:[\d-]+", "SINCE"),
)
"""What another run says otherwise."""
GIVEN = re.compile(r"(\w+)=(\"[^\"]*\"|\[[^\]]*\])")
"""An argument of a tool and its value in JSON."""


def saved_ids(transcript: str) -> list[str]:
    return re.findall(r"^Saved (?:\w+ )?(\w{8})\b", transcript, re.MULTILINE)


def as_of_any_run(transcript: str) -> str:
    """The transcript with each id by its number, and without its times."""
    for number, id in enumerate(saved_ids(transcript)):
        transcript = transcript.replace(id, f"ID{number}")
    for pattern, name in VARYING:
        transcript = re.sub(pattern, name, transcript)
    return transcript


def test_the_first_screen_is_what_the_program_answers(tmp_path: Path, forks: Forks) -> None:
    """A person and an agent in one repository, then the start of the next session."""
    repository, person = tmp_path / "shop", tmp_path / "ada"
    person.mkdir()
    subprocess.run(["git", "init", "-q", repository], check=True)
    env = {"HOME": str(person), "SYNAPTIC_PROJECT": ""}
    home = ForkedHome(person / ".synaptic", env, forks, folder=repository)
    shown = "".join([*blocks("README.md", "console")[:1], *blocks("README.md", "text")[:2]])
    answers: list[str] = []
    with home.server() as server:
        for line in shown.splitlines():
            for old, new in zip(saved_ids(shown), saved_ids("\n".join(answers)), strict=False):
                line = line.replace(old, new)
            if line.startswith("$ synaptic "):
                answers += [line, home.run(*shlex.split(line)[2:]).text.rstrip()]
            elif line.startswith("> context_"):
                time.sleep(1)  # times of entries have whole seconds, and order them
                tool = line.removeprefix("> context_").split()[0]
                given = {name: json.loads(value) for name, value in GIVEN.findall(line)}
                answers += [line, server.text(tool, **given).rstrip()]
    home.ask("rebuild-index")  # by the next session all can be found by meaning
    begin = json.dumps({"session_id": "s", "cwd": str(repository), "source": "startup"})
    told = json.loads(home.run("hook", "session-start", stdin=begin).out)
    answers.append(told["hookSpecificOutput"]["additionalContext"])
    transcript = "\n".join(answers).replace(str(person), "/home/ada")
    assert as_of_any_run(transcript) == as_of_any_run(shown.rstrip())


def test_why_has_the_figures_of_the_last_run() -> None:
    """Shares within half a point, tokens within one in a hundred."""
    records = json.loads(page("scripts/bench/records.json"))
    rows = [row for row in records["peers"]["rows"] if row["notes"] == "companion"]
    by_way = {row["way"]: row for row in rows}
    meaning = by_way["basic-memory, by meaning"]
    grep, ours, theirs = (by_way[way] for way in ("grep", "Synaptic", "basic-memory"))
    answer, tools = "tokens of an answer", "tokens of its tools"
    why = page("README.md").split("\n## Why\n")[1].split("\n## ")[0]
    lines = [line for line in why.splitlines() if re.match(r"- (\*\*Why|Its tools)", line)]
    figures = [
        [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", one)] for one in lines
    ]
    recalls = [100 * float(one["recall@10"]) for one in (grep, ours, theirs, meaning)]
    assert figures == [
        [near(recalls[0], 0.5), near(grep[answer]), near(recalls[1], 0.5), near(ours[answer])],
        [near(by_way["flat file"][answer])],
        [
            near(recalls[2], 0.5),
            near(theirs[answer]),
            near(recalls[3], 0.5),
            near(meaning[answer]),
        ],
        [near(theirs[tools]), near(ours[tools]), 54, 974],
    ]


def near(figure: float, distance: float = 0) -> Any:
    """What a rounded figure equals that is at most so far, or a hundredth, from this one."""
    return pytest.approx(figure, abs=distance + 1e-9, rel=0 if distance else 0.01)


def test_the_library_example_runs(tmp_path: Path) -> None:
    [example] = blocks("docs/USAGE.md", "python")
    environ = {**os.environ, "SYNAPTIC_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", example],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Chose sqlite-vec over LanceDB" in done.stdout


def test_the_text_for_agents_is_what_setup_writes() -> None:
    assert blocks("docs/CLIENTS.md", "markdown") == [page("synaptic/data/guidance.md")]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_clients_configuration_is_what_setup_writes(client: Client) -> None:
    clients = page("docs/CLIENTS.md")
    section = clients[clients.index(f"\n**{client.title}**") :]
    match = re.search(r"```(json|toml)\n(.*?)```", section, re.DOTALL)
    assert match
    shown = json.loads(match[2]) if match[1] == "json" else tomllib.loads(match[2])
    written = client.build_entry(Server("/absolute/path/to/synaptic", ("mcp",)))
    assert shown == {client.key: {"synaptic": written}}


def anchors(name: str) -> set[str]:
    """The anchors that a forge makes of a page's headings."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", page(name), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


LINK = re.compile(r'\]\((?!/search\?|https?:)([^)]+)\)|\bsrc="([^"]+)"')


def dead_links(name: str, text: str) -> list[str]:
    """The links and pictures of this text on a page that lead nowhere within the repository."""
    dead = []
    for target in map("".join, LINK.findall(text)):
        path, _, anchor = target.partition("#")
        linked = os.path.normpath((ROOT / name).parent / path) if path else str(ROOT / name)
        there = Path(linked).is_file()
        if there and anchor:
            there = anchor in anchors(os.path.relpath(linked, ROOT))
        if not there:
            dead.append(target)
    return dead


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    assert dead_links(name, page(name)) == []


def test_a_dead_link_is_found() -> None:
    good = "[a](USAGE.md#ranking) [b](#settings) [c](../README.md) ![d](pictures/today-light-1280.png)"
    bad = ["USAGE.md#rankin", "#setting", "README.md", "pictures/none.png"]
    text = f'[a]({bad[0]}) [b]({bad[1]}) [c]({bad[2]}) <img src="{bad[3]}">'
    assert dead_links("docs/USAGE.md", good) == []
    assert dead_links("docs/USAGE.md", text) == bad


@pytest.mark.parametrize("name", [*PAGES, *FORGE])
def test_every_script_and_data_file_named_is_there(name: str) -> None:
    named = set(re.findall(r"\b(?:scripts|tests|docs)/[\w/.-]*\.\w+", page(name)))
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
CALL = re.compile(r"(?:\w+=\S+ )*(?:[\w./~-]*/)?synaptic(?: --home \S+)? ([a-z][\w-]*)(.*)")
"""`synaptic save "A text." --tag db`; what stands before the command, it, and its arguments."""
BARE = re.compile(r"([a-z-]+)( .*--.*)")
"""`save --tag`, as a sentence names a command with an option."""


def lines_of_code(text: str) -> list[str]:
    """What a reader may type: each command of a block's line with `$ `, and what a sentence
    sets as code.
    """
    typed = re.findall(r"^\$ (.+)$", text.replace("\\\n", " "), re.MULTILINE)
    spans = [" ".join(span.split()) for _, span in SPAN.findall(FENCED.sub("", text))]
    return [part.strip() for line in typed + spans for part in re.split(r"[|;&]", line)]


@cache
def options_of_all() -> dict[str, set[str]]:
    """The options of each command, also of those that other programs call."""
    program = typer.main.get_command(whole_program())
    assert hasattr(program, "commands")
    shared = {option for parameter in program.params for option in parameter.opts}
    own = {
        name: {option for parameter in command.params for option in parameter.opts}
        | {option for parameter in command.params for option in parameter.secondary_opts}
        for name, command in program.commands.items()
    }
    return {name: options | shared | {"--help"} for name, options in own.items()}


def wrong_calls(text: str) -> list[str]:
    """The commands in a text that Synaptic lacks, and those with an option that they lack."""
    options = options_of_all() | {"help": {"--all"}}
    wrong = []
    for code in lines_of_code(text):
        bare = BARE.fullmatch(code)
        call = CALL.fullmatch(code) or (bare if bare and bare[1] in options else None)
        if call:
            given = set(re.findall(r"(?<=\s)--[a-z][a-z-]*", call[2]))
            if not given <= options.get(call[1], set()) or call[1] not in options:
                wrong.append(call[1] + call[2])
    return wrong


def of_this_version(name: str) -> str:
    """A page without what CHANGELOG.md says of versions that are out."""
    return re.split(r"^## \[\d", page(name), flags=re.MULTILINE)[0]


@pytest.mark.parametrize("name", [*PAGES, *FORGE])
def test_every_command_named_runs(name: str) -> None:
    assert wrong_calls(of_this_version(name)) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("$ synaptic serach login", ["serach login"]),
        ("Run `synaptic today` and `.venv/bin/synaptic --home /tmp/a rebuild`.", ["rebuild"]),
        ("`synaptic search x --sicne May`", ["search x --sicne May"]),
        ("so does `synaptic search x\n--sicne May`", ["search x --sicne May"]),
        ("$ A=1 synaptic save \\\n  x --tga sea", ["save    x --tga sea"]),
        ("$ date | synaptic sav", ["sav"]),
        ("`save --tga sea` and `git log --all`", ["save --tga sea"]),
        ('`synaptic save "A text." --tag db`, `synaptic help save`, `save --tag`', []),
    ],
)
def test_a_command_that_is_none_is_found(text: str, wrong: list[str]) -> None:
    assert wrong_calls(text) == wrong


SCRIPT = re.compile(r"(?:^|\s)(scripts/[\w/]+\.py)((?: [^\s`]+)*)")


def wrong_scripts(text: str) -> list[str]:
    """The calls of our scripts in a text that have a word or an option that the script lacks."""
    return [
        script + rest
        for code in lines_of_code(text)
        for script, rest in SCRIPT.findall(code)
        if not takes(script, rest.split())
    ]


def takes(script: str, words: list[str]) -> bool:
    """True if a script takes these arguments; of one without a parser, if it names the
    options.
    """
    import bench
    import soak

    if script == "scripts/soak.py":
        return not words or words[0] in (*soak.ABOUT, "attacks", "[ROW...]")
    if script == "scripts/bench.py" and words not in ([], ["..."]):
        try:
            return bool(bench.parser().parse_args(words))
        except SystemExit:
            return False
    options = [word for word in words if word.startswith("--")]
    return all(f'"{option}"' in page(script) for option in options)


@pytest.mark.parametrize("name", [*PAGES, *FORGE])
def test_every_script_named_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    assert wrong_scripts(page(name)) == []


def test_a_script_that_does_not_run_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    text = "`python3 scripts/bench.py panle`\n\n$ scripts/bench.py panel --nots FILE\n"
    text += "`scripts/soak.py atacks` `scripts/check_wheel.py --tags v1` `scripts/soak.py 3`"
    wrong = ["bench.py panel --nots FILE", "bench.py panle", "soak.py atacks"]
    wrong.append("check_wheel.py --tags v1")
    assert wrong_scripts(text) == [f"scripts/{call}" for call in wrong]


def test_each_step_of_a_workflow_is_a_script_or_an_action_of_a_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each can be run without a forge, and none is given a secret."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import check_wheel

    workflows = [name for name in FORGE if "/workflows/" in name]
    assert len(workflows) == 2
    for name in workflows:
        workflow = yaml.safe_load(page(name))
        assert workflow["permissions"] == {"contents": "read"}
        assert "secrets." not in page(name)
        lists = [job.get("steps", []) for job in workflow["jobs"].values()]
        for step in itertools.chain(*lists):
            lines = step.get("run", "").splitlines()
            action, _, version = step.get("uses", "").partition("@")
            assert bool(lines) != bool(action and version), step
            for line in lines:
                script, *options = shlex.split(line.removeprefix("python "))
                assert script.startswith(("scripts/", ".ci/")) and (ROOT / script).is_file()
                if script == "scripts/check_wheel.py":
                    assert check_wheel.parse(options).ways == ["pip", "pipx", "uvx"]


def test_the_suite_runs_with_each_python_that_the_package_names() -> None:
    project = tomllib.loads(page("pyproject.toml"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    jobs = yaml.safe_load(page(".github/workflows/tests.yml"))["jobs"]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == named
    assert project["requires-python"] == f">={named[0]}"
    ends = jobs["wheel"]["strategy"]["matrix"]
    assert ends["python"] == [named[0], named[-1]]
    assert {system.partition("-")[0] for system in ends["system"]} == {
        "ubuntu",
        "macos",
        "windows",
    }


def test_a_release_is_made_by_a_tag_without_a_token() -> None:
    workflow = yaml.safe_load(page(".github/workflows/release.yml"))
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML reads `on` as true
    jobs = workflow["jobs"]
    assert jobs["build"]["needs"] == "tests" and jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write", "attestations": "write"}
    actions = [step["uses"].partition("@")[0] for step in jobs["publish"]["steps"]]
    assert actions[-2:] == ["actions/attest-build-provenance", "pypa/gh-action-pypi-publish"]


def test_a_form_asks_each_thing_once_and_the_template_has_three_lines() -> None:
    forms = [yaml.safe_load(page(name)) for name in FORGE if "ISSUE_TEMPLATE" in name]
    assert len(forms) == 2
    for form in forms:
        assert form["name"] and form["description"]
        ids = [field["id"] for field in form["body"]]
        labels = [field["attributes"]["label"] for field in form["body"]]
        assert len(ids) == len(set(ids)) == len(set(labels))
    assert len(page(".github/pull_request_template.md").splitlines()) == 3


def test_nothing_speaks_of_a_machine_or_an_index() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split("\n")
    kept = [
        path
        for path in listed
        if path and not path.endswith((".onnx", ".npy", ".model", "tokenizer.json"))
    ]
    if not kept:
        pytest.skip("not a git checkout")
    traces = re.compile(r"/work/|/root/|pypi\.org/simple|file:///(?!etc/passwd)")
    found = [
        path
        for path in kept
        if traces.search((ROOT / path).read_text(encoding="utf-8", errors="replace"))
    ]
    assert found in ([], ["tests/test_docs.py"])
