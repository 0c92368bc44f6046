"""Row 8: the disk says no; a clear error, a whole journal, and searches that go on."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import resource
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import lockless
import pytest
from confined import ConfinedHome, bound_home
from forks import ForkedHome, Forks
from outside import TIMEOUT_S, Answer, Home, Refusal
from trials import Rounds

pytestmark = [
    pytest.mark.fault(row=8),
    pytest.mark.skipif(os.name == "nt", reason="permissions, limits and mounts of POSIX"),
]

BODY = " ".join(["The harbour log, kept by hand."] * 20)
PAGE = 4096
SAVES = """
import sys, synaptic
with synaptic.open_workspace(synaptic.load_config()) as ws:
    for text in sys.argv[1:]:
        print(synaptic.save(ws, text).id)
"""


def limited(home: ForkedHome, size: int) -> ForkedHome:
    """The same home under `ulimit -f`, in bytes."""
    return replace(home, file_limit=size)


def assert_refused(answer: Answer, because: str, path: Path) -> None:
    """It says which path and why, and gives a next step. A day file is named as the answers
    name it, from the root.
    """
    assert answer.code == 1, answer
    error = answer.json["error"]
    assert because in error["message"] and error["hint"], error
    assert str(path) in error["message"] or re.search(
        r"\d{4}-\d\d-\d\d\.md", error["message"]
    ), error


def refused(home: Home, *args: str, because: str, path: Path) -> None:
    """A command that fails as it should, and changes no file."""
    before = home.files()
    assert_refused(home.run(*args, "--json"), because, path)
    assert home.files() == before


def by_words(home: Home, query: str = "harbour") -> list[str]:
    """The ids of what is found; finding succeeds."""
    answer = home.ask("search", query, "--strategy", "lexical", "--limit", "100")
    return sorted(hit["id"] for hit in answer["hits"])


def fill(home: Home, count: int = 3) -> list[str]:
    """The ids of entries that one program saved and indexed."""
    child = home.python(SAVES, *(f"Entry {number}. {BODY}" for number in range(count)))
    out, err = child.communicate(timeout=TIMEOUT_S)
    assert child.returncode == 0, err
    return sorted(out.decode().split())


# -- a limit on the size of files (a quota answers in the same way)
# --------------------------------------------


def test_a_limit_on_the_size_of_files(home: ForkedHome, rounds: Rounds) -> None:
    """At any limit a save fails whole or is there whole, and what is there is found."""
    saved = fill(home)
    sizes = (0, 200, 1_500, 5_000, 40_000, 100_000, 400_000)
    for number in rounds(len(sizes), 90):
        size = sizes[number] if number < len(sizes) else number * 1_000
        tight = limited(home, size)
        before = home.files()
        answer = tight.run("save", f"Round {number}, at most {size} bytes. {BODY}", "--json")
        if answer.code == 0:
            saved = sorted([*saved, answer.json["id"]])
            [path] = before
            assert home.files()[path].startswith(before[path])
        else:
            assert_refused(answer, "file size limit", home.path)
            assert home.files() == before
        assert by_words(tight) == saved
    assert by_words(home) == saved
    journal = b"".join(home.files().values()).decode()
    assert [journal.count(f"syn:{id}") for id in saved] == [1] * len(saved)
    assert not (home.state / "spool").exists()


def test_edits_under_a_limit(home: ForkedHome) -> None:
    saved = fill(home)
    tight = limited(home, 1000)
    refused(
        tight, "update", saved[0], "--append", "more", path=home.path, because="file size limit"
    )
    refused(tight, "delete", saved[0], "--yes", path=home.path, because="file size limit")
    assert by_words(tight) == saved
    assert home.ask("update", saved[0], "--append", "more")["success"]
    assert by_words(home) == saved


@pytest.mark.skipif(
    not hasattr(resource, "prlimit"), reason="only Linux limits a process that runs"
)
def test_a_limit_comes_and_goes_under_a_server(home: ForkedHome) -> None:
    with home.server() as server:
        first = server.call("save", content=f"Before. {BODY}")["id"]
        before = home.files()
        soft, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (100, hard))
        with pytest.raises(Refusal, match=r"cannot be written: the file may not grow.*ulimit"):
            server.call("save", content=f"Between. {BODY}")
        assert home.files() == before
        found = server.call("search", query="harbour", strategy="lexical")
        assert [hit["id"] for hit in found["hits"]] == [first]
        typed = next(home.journal.glob("*.md"))
        typed.write_bytes(typed.read_bytes() + b"\n## 23:59 Typed into the harbour log\n")
        assert server.call("search", query="harbour", strategy="lexical")["total"] == 2
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (soft, hard))
        assert server.call("save", content=f"After. {BODY}")["done"] == "Saved"
        assert server.call("search", query="harbour", strategy="lexical")["total"] == 3


# -- permissions
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def bound(home: ForkedHome) -> ForkedHome:
    """A home whose owner is stopped by modes; root gives up the right to pass them."""
    return bound_home(home)


@contextlib.contextmanager
def read_only(*tops: Path) -> Iterator[None]:
    """Nothing at or below these may be written."""
    paths = [path for top in tops for path in (top, *top.rglob("*"))]
    modes = {path: path.stat().st_mode & 0o7777 for path in paths}
    for path in reversed(paths):
        path.chmod(modes[path] & 0o555)
    try:
        yield
    finally:
        for path in paths:
            if path.exists():
                path.chmod(modes[path])


def tree(top: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in top.rglob("*") if path.is_file()}


@pytest.mark.parametrize("index", ["closed", "killed", "none", "garbage"])
def test_a_read_only_home_is_searched(bound: Home, index: str) -> None:
    saved = fill(bound)
    if index == "killed":
        with bound.server() as server:
            saved = sorted([*saved, server.call("save", content=f"The last. {BODY}")["id"]])
            server.kill()
            with contextlib.suppress(Exception):  # the client notices
                server.call("recent")
        assert bound.index.with_name("index.db-wal").exists()
    if index == "none":
        bound.index.unlink()
    if index == "garbage":
        bound.index.write_bytes(b"no database at all " * 1000)
    before = tree(bound.path)
    with read_only(bound.path):
        found = bound.ask("search", "harbour", "--strategy", "lexical")
        assert sorted(hit["id"] for hit in found["hits"]) == saved
        told = any(str(bound.index) in notice for notice in found["notices"])
        assert told or index in ("closed", "killed"), found
        assert sorted(entry["id"] for entry in bound.entries()) == saved
        assert bound.ask("get", saved[0])["entries"][0]["content"].endswith("kept by hand.")
    assert tree(bound.path) == before
    [day_file] = bound.journal.glob("*.md")
    with read_only(bound.state):
        day_file.write_bytes(day_file.read_bytes() + b"\n## 23:59 Typed into the harbour log\n")
        assert len(by_words(bound)) == len(saved) + 1
    assert len(by_words(bound)) == len(saved) + 1


@pytest.mark.parametrize("command", ["doctor", "rebuild-index", "save late"])
def test_a_read_only_home_is_named(bound: Home, command: str) -> None:
    """By all that would change it."""
    fill(bound)
    before = tree(bound.path)
    with read_only(bound.path):
        answer = bound.run(*command.split())
        assert str(bound.path) in answer.text, answer
        assert command != "save late" or (
            answer.code == 1 and "permission denied" in answer.err
        )
    assert tree(bound.path) == before


def test_a_server_on_a_read_only_home(bound: Home) -> None:
    saved = fill(bound)
    with read_only(bound.path), bound.server() as server:
        for _ in range(2):
            found = server.call("search", query="harbour")
            assert sorted(hit["id"] for hit in found["hits"]) == saved
        assert server.call("find")["total"] == len(saved)
        with pytest.raises(Refusal, match="permission denied"):
            server.call("save", content="A late entry")
        with pytest.raises(Refusal, match="permission denied"):
            server.call("delete", id=saved[0])
        assert server.call("recent")["total"] == len(saved)


PARTS = (
    "journal",
    "journal/*.md",
    ".state",
    ".state/write.lock",
    ".state/done",
    ".state/index.db",
)


@pytest.mark.parametrize(
    ("part", "command"),
    [*((part, "save") for part in PARTS), *((part, "update") for part in PARTS[:2])],
)
def test_one_part_that_may_not_be_written(bound: Home, part: str, command: str) -> None:
    """A change is refused by name and leaves no trace, or it is made whole; finding goes on."""
    saved = fill(bound, 2)
    [target] = bound.path.glob(part)
    before = bound.files()
    mode = target.stat().st_mode & 0o7777
    target.chmod(mode & 0o555)
    late = (
        ["save", f"A late entry. {BODY}"]
        if command == "save"
        else ["update", saved[0], "--append", "more"]
    )
    answer = bound.run(*late, "--json")
    if answer.code == 0:
        saved = sorted({*saved, answer.json["id"]})
    else:
        assert_refused(answer, "permission denied", bound.path)
        assert bound.files() == before
    assert by_words(bound) == saved
    target.chmod(mode)
    assert by_words(bound) == saved
    assert not list(bound.path.rglob("*.synaptic"))


def test_a_day_file_that_may_not_be_read(bound: Home) -> None:
    """The error names it; what is known of the others is kept."""
    saved = fill(bound, 2)
    [day_file] = bound.journal.glob("*.md")
    secret = bound.journal / "secret.md"
    secret.write_text("# Secret\n\nA harbour nobody may see.\n")
    assert len(by_words(bound)) == 3
    secret.write_text("# Secret\n\nA harbour that nobody may see.\n")
    secret.chmod(0)
    answer = bound.run("search", "harbour", "--strategy", "lexical", "--json")
    if answer.code == 0:
        assert set(saved) <= {hit["id"] for hit in answer.json["hits"]}
    assert "secret.md" in answer.text, answer
    late = bound.ask("save", f"A late entry. {BODY}")
    assert late["id"] in day_file.read_text()
    secret.chmod(0o600)
    assert len(by_words(bound)) == 4


# -- the journal's root
# --------------------------------------------------------------------------------------


def entries_in(index: Path) -> object:
    with contextlib.closing(apsw.Connection(str(index))) as db:
        return db.execute("SELECT count(*) FROM entry").get


@pytest.mark.parametrize("left", ["nothing", "a file", "no permission"])
def test_the_root_of_the_journal_is_missing(bound: Home, tmp_path: Path, left: str) -> None:
    vault, away = tmp_path / "vault", tmp_path / "unmounted"
    vault.mkdir()
    bound.env["SYNAPTIC_JOURNAL"] = str(vault)
    saved = fill(bound)
    known = entries_in(bound.index)
    if left == "no permission":
        vault.chmod(0)
        because = "ermission denied"
    else:
        vault.rename(away)
        because = "missing"
    if left == "a file":
        vault.write_text("not a folder")
    for command in [
        ["search", "harbour"],
        ["save", "A late entry"],
        *([["rebuild-index"]] if left == "nothing" else []),
    ]:
        refused(bound, *command, path=vault, because=because)
    if left == "nothing":
        doctor = bound.run("doctor")
        assert doctor.code == 1 and str(vault) in doctor.text, doctor
    assert entries_in(bound.index) == known == 3
    if left == "no permission":
        vault.chmod(0o700)
    else:
        assert not vault.is_dir()
        vault.unlink(missing_ok=True)
        away.rename(vault)
    assert by_words(bound) == saved
    assert bound.ask("save", f"After it came back. {BODY}")["success"]


def test_the_root_goes_and_returns_under_a_server(home: ForkedHome) -> None:
    with home.server() as server:
        saved = server.call("save", content=f"Before. {BODY}")["id"]
        away = home.journal.with_name("unmounted")
        home.journal.rename(away)
        for tool, arguments in (
            ("search", {"query": "harbour"}),
            ("save", {"content": "late"}),
            ("recent", {}),
        ):
            with pytest.raises(
                Refusal, match=r"journal is missing .*synaptic init --journal DIR"
            ):
                server.call(tool, **arguments)
        assert not home.journal.exists()
        away.rename(home.journal)
        found = server.call("search", query="harbour", strategy="lexical")
        assert [hit["id"] for hit in found["hits"]] == [saved]
        assert server.call("save", content="late")["done"] == "Saved"


# -- a small disk of its own
# -----------------------------------------------------------------------------------


class SmallDisk:
    """A tmpfs in a namespace of its own, held by a process that waits for its input to end."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "disk"
        self.path.mkdir()
        script = (
            f"mount -t tmpfs -o size={PAGE} none {shlex.quote(str(self.path))} && echo "
            f"mounted && "
            f"read _"
        )
        pipe = subprocess.PIPE
        self.holder = subprocess.Popen(
            ["unshare", "-rm", "sh", "-c", script], stdin=pipe, stdout=pipe, stderr=pipe
        )
        assert self.holder.stdout and self.holder.stderr
        if self.holder.stdout.readline() != b"mounted\n":
            self.holder.wait()
            pytest.skip(
                f"mounting is not permitted: {self.holder.stderr.read().decode().strip()}"
            )

    def home(self, path: Path, env: dict[str, str], forks: Forks) -> ConfinedHome:
        """A home whose commands see the disk, at a path as they see it."""
        first = f"import confined; confined.enter_namespaces({self.holder.pid})"
        seen = (
            self.seen / path.relative_to(self.path) if path.is_relative_to(self.path) else None
        )
        return ConfinedHome(path, env, forks, disk=seen, first=first)

    @property
    def inside(self) -> tuple[str, ...]:
        """The words that begin a command within the namespace."""
        return ("nsenter", "--preserve-credentials", "-U", "-m", "-t", str(self.holder.pid))

    @property
    def seen(self) -> Path:
        """The disk, from outside."""
        return Path(f"/proc/{self.holder.pid}/root{self.path}")

    def remount(self, options: str) -> None:
        subprocess.run(
            [*self.inside, "mount", "-o", f"remount,{options}", str(self.path)],
            check=True,
            timeout=TIMEOUT_S,
        )

    def resize(self, pages: int) -> None:
        self.remount(f"size={pages * PAGE}")

    def clear(self) -> None:
        for path in self.seen.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self) -> None:
        self.holder.communicate()


@pytest.fixture(scope="module")
def only_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("no namespaces here, so no disk of its own")
    disk = SmallDisk(tmp_path_factory.mktemp("small"))
    yield disk
    disk.close()


@pytest.fixture
def small_disk(only_disk: SmallDisk) -> SmallDisk:
    """Empty, and of one page."""
    only_disk.remount("rw")
    only_disk.clear()
    only_disk.resize(1)
    return only_disk


def assert_full(answer: Answer, disk: Path) -> None:
    assert_refused(answer, "disk is full", disk)
    assert "Free some space" in answer.json["error"]["hint"]


def fill_up(home: Home, disk: SmallDisk, saves: int) -> list[str]:
    """The ids that were acknowledged until the disk refused, and searches were right all the
    time.
    """
    saved: list[str] = []
    refusals = 0
    for number in range(saves):
        before = files_of(home)
        answer = home.run("save", f"Entry {number}. {BODY * (1 + number % 3)}", "--json")
        if answer.code == 0:
            saved.append(answer.json["id"])
        else:
            assert_full(answer, disk.path)
            assert files_of(home) == before
            refusals += 1
        if home.journal.is_dir():
            assert by_words(home) == sorted(saved)
        if refusals == 2:
            break
    return sorted(saved)


def files_of(home: Home) -> dict[str, bytes]:
    return home.files() if home.journal.is_dir() else {}


@pytest.mark.slow
def test_a_disk_of_few_pages(
    small_disk: SmallDisk, forks: Forks, tmp_path: Path, rounds: Rounds
) -> None:
    """Home and journal on it: at each size every acknowledged entry is there once, whole, and
    found.
    """
    for number in rounds(3, 64):
        pages = (2, 12, 40)[number] if number < 3 else number + 1
        small_disk.clear()
        small_disk.resize(pages)
        home = small_disk.home(small_disk.path / "home", {"HOME": str(tmp_path)}, forks)
        saved = fill_up(home, small_disk, saves=3 if number < 3 else 70)
        small_disk.resize(4 * 1024)
        late = home.ask("save", "There is room again in the harbour")["id"]
        assert by_words(home) == sorted([*saved, late])
        journal = b"".join(home.files().values()).decode()
        assert [journal.count(f"syn:{id}") for id in (*saved, late)] == [1] * (len(saved) + 1)
        assert journal.count("<!-- syn:") == len(saved) + 1


@pytest.mark.sweep
@pytest.mark.parametrize("small", ["home", "journal"])
def test_half_of_it_on_a_full_disk(
    small_disk: SmallDisk, forks: Forks, tmp_path: Path, small: str
) -> None:
    roomy = tmp_path / "roomy"
    env = {"HOME": str(tmp_path)}
    if small == "journal":
        (small_disk.seen / "vault").mkdir()
        env["SYNAPTIC_JOURNAL"] = str(small_disk.path / "vault")
        home = small_disk.home(roomy, env, forks)
        small_disk.resize(2)
    else:
        (tmp_path / "vault").mkdir()
        env["SYNAPTIC_JOURNAL"] = str(tmp_path / "vault")
        home = small_disk.home(small_disk.path / "home", env, forks)
        small_disk.resize(30)
    vault = small_disk.seen / "vault" if small == "journal" else tmp_path / "vault"
    saved: list[str] = []
    for number in range(40):
        before = {path.name: path.read_bytes() for path in vault.iterdir()}
        answer = home.run("save", f"Entry {number}. {BODY}{BODY}", "--json")
        if answer.code:
            assert_full(answer, small_disk.path)
            assert {path.name: path.read_bytes() for path in vault.iterdir()} == before
            break
        saved.append(answer.json["id"])
    else:
        pytest.fail("the disk never was full")
    assert by_words(home) == sorted(saved)
    small_disk.resize(4 * 1024)
    late = home.ask("save", "There is room again in the harbour")["id"]
    assert by_words(home) == sorted([*saved, late])
    journal = "".join(path.read_text() for path in vault.iterdir())
    assert [journal.count(f"syn:{id}") for id in (*saved, late)] == [1] * (len(saved) + 1)


@pytest.mark.needs(feature="importing")
def test_an_import_to_a_full_disk(small_disk: SmallDisk, forks: Forks, tmp_path: Path) -> None:
    """However far it comes, the answer says that the disk is full, and the index finishes."""
    days = [f"[2026-01-{day:02d} 09:10] Harbour {day}.\n{BODY[:90]}\n" for day in range(1, 29)]
    diary = tmp_path / "diary.txt"
    diary.write_text("\n".join(days))
    refusals = waiting = 0
    for pages in (24, 82, 90, 98):
        small_disk.clear()
        small_disk.resize(pages)
        home = small_disk.home(small_disk.path / "home", {"HOME": str(tmp_path)}, forks)
        answer = home.run("import", "jrnl", str(diary), "--yes", "--json")
        refusals += answer.code
        if answer.code:
            error = answer.json["error"]
            assert "full" in error["message"] and "Free some space" in error["hint"], answer
        elif "not all are indexed" in answer.text:
            assert "full" in answer.text and "Free some space" in answer.text
            waiting += 1
    assert refusals and waiting
    small_disk.resize(4 * 1024)
    home.ask("import", "jrnl", str(diary), "--yes")
    assert home.ask("find", "--limit", "1")["total"] == 28


def test_an_undo_on_a_full_disk(small_disk: SmallDisk, forks: Forks, tmp_path: Path) -> None:
    """It refuses and changes nothing; with room again it goes back whole."""
    small_disk.resize(4 * 1024)
    home = small_disk.home(small_disk.path / "home", {"HOME": str(tmp_path)}, forks)
    id = home.ask("save", f"Entry. {BODY}")["id"]
    before = home.files()
    home.ask("delete", id, "--yes")
    after = home.files()
    use = os.statvfs(small_disk.seen)
    small_disk.resize(use.f_blocks - use.f_bfree)
    assert_full(home.run("undo", "--json"), small_disk.path)
    assert home.files() == after
    small_disk.resize(4 * 1024)
    home.ask("undo")
    assert home.files() == before


def test_a_file_system_mounted_read_only(
    small_disk: SmallDisk, forks: Forks, tmp_path: Path
) -> None:
    small_disk.resize(4 * 1024)
    seen = small_disk.seen / "home"
    home = small_disk.home(small_disk.path / "home", {"HOME": str(tmp_path)}, forks)
    saved = sorted(home.ask("save", f"Entry {number}. {BODY}")["id"] for number in range(2))
    small_disk.remount("ro")
    for _ in range(2):
        assert by_words(home) == saved
        refused(home, "save", "late", path=small_disk.path, because="read-only")
        doctor = home.run("doctor")
        assert doctor.code == 1 and "chmod" not in doctor.text, doctor
        words = "cannot be written: the file system is read-only; nothing can be saved"
        assert doctor.text.count(words) == 3, doctor
        assert doctor.text.count("Mount it writable and try again.") >= 3, doctor
        small_disk.remount("rw")
        (seen / ".state" / "index.db").unlink(missing_ok=True)
        small_disk.remount("ro")
    small_disk.remount("rw")
    assert home.ask("save", "There is room again in the harbour")["success"]
    assert len(by_words(home)) == len(saved) + 1


# -- a share that grants no locks
# -----------------------------------------------------------------------------------


@pytest.mark.skipif(not lockless.is_possible(), reason="only Linux can refuse locks to a test")
@pytest.mark.sweep
@pytest.mark.parametrize(
    ("error", "calls"),
    [
        ("ENOLCK", "fcntl,flock"),
        ("ENOLCK", "fcntl"),
        ("ENOTSUP", "flock"),
        ("ENOSYS", "fcntl,flock"),
    ],
)
def test_a_disk_that_grants_no_locks(home: ForkedHome, error: str, calls: str) -> None:
    """What is there is found; saves are refused where nobody could be kept out, and each answer
    names the cause and the way out.
    """
    saved = fill(home)
    number = getattr(errno, error)
    first = f"import lockless; lockless.refuse_locks({number}, {calls.split(',')})"
    share = ConfinedHome(home.path, home.env, home.forks, first=first)
    reason = f"its disk grants no locks: {os.strerror(number)}"
    way_out = f"synaptic --home DIR init --journal {home.journal}, and SYNAPTIC_HOME=DIR"
    typed = next(home.journal.glob("*.md"))
    with typed.open("a") as file:
        file.write("\n## 23:59 Typed into the harbour log\n")
    found = share.ask("search", "harbour", "--strategy", "lexical")
    assert len(found["hits"]) == len(saved) + 1
    assert any(reason in notice for notice in found["notices"]), found
    for command in (["blame", "log.md"], ["brief"], ["status"]):
        assert share.run(*command).code == 0, command
    doctor = share.run("doctor")
    findings = [line for line in doctor.out.splitlines() if reason in line and way_out in line]
    assert doctor.code == 1 and doctor.err == ""
    assert ["Every save is refused" in line for line in findings] == (
        [True, False] if "flock" in calls else [False]
    )
    assert "the journal can be written" not in doctor.out or "flock" not in calls
    if "flock" in calls:
        refused(share, "save", "late", path=home.state, because=reason)
        assert way_out in share.run("save", "late").text
        saved += [home.ask("save", f"With locks. {BODY}")["id"]]
    else:
        saved += [share.ask("save", f"By its own lock. {BODY}")["id"]]
    with share.server() as server:
        assert server.call("search", query="harbour", strategy="lexical")["total"] == 5
        if "flock" in calls:
            with pytest.raises(Refusal, match=reason):
                server.call("save", content="late")
    assert len(by_words(share)) == len(by_words(home)) == len(saved) + 1
