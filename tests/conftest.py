"""What several test files stand on."""

from __future__ import annotations

import gc
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from trials import SEED, SOAK, Rounds, drawn, examples

if TYPE_CHECKING:  # the process that only hands tests out imports no more than it needs
    from forks import ForkedHome, Forks
    from homes import Clock
    from postgres import Database, Server

    from synaptic import Workspace
    from synaptic.index.embedding import FastEmbedder

ROOM_BYTES = 2_000_000_000
"""What a run leaves there, several times over."""

if threading.current_thread() is threading.main_thread():
    # a job in the background ignores Control-C, and so would its children
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak", action="store_true", help="fault tests at the size of scripts/soak.py"
    )
    parser.addoption("--seed", help="draws the cases of sweeps; the default is a random one")
    parser.addoption(
        "--disturb",
        metavar="SEED",
        help="vectors as another kind of processor makes them: disturbed.py",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The files of tests lie in memory where there is room: a save waits for a disk several
    times. A soak's do not. What is compiled is kept, else every process of a test compiles all
    that it imports. numpy begins no threads, as in the program: they wait for each other.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if config.getoption("--soak"):
        os.environ[SOAK] = "1"
    if not hasattr(config, "workerinput"):  # a worker has its starter's seed
        os.environ[SEED] = config.getoption("--seed") or str(random.randrange(10**6))
    hypothesis.settings.register_profile("untimed", deadline=None, max_examples=examples(100))
    hypothesis.settings.load_profile("untimed")
    if seed := config.getoption("--disturb"):
        from disturbed import VARIABLE, disturb

        os.environ[VARIABLE] = seed  # for processes that this one starts
        disturb()
    memory = Path("/dev/shm")
    if config.getoption("--soak") or not os.access(memory, os.W_OK):
        return
    about = os.statvfs(memory)
    if about.f_bavail * about.f_frsize > ROOM_BYTES and not about.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(memory)


def pytest_xdist_auto_num_workers() -> int:
    """Two more than processors: tests wait for processes, locks and moments."""
    own = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    return len(own(0)) + 2


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of the model runs with the vectors of another processor, whose noise is drawn by
    the seed, or given by `--disturb`; one with the mark `edge` with those of this one, too. The
    soak runs all with twenty others, and forked commands have this processor's.
    """
    if "model" in metafunc.fixturenames:
        processors = {"here": "", "elsewhere": other_processor()}
        is_disturbed = metafunc.config.getoption("--disturb")
        is_edge = any(metafunc.definition.iter_markers("edge"))
        if is_disturbed:
            processors.pop("elsewhere")
        elif not is_edge:
            processors.pop("here")
        values, ids = processors.values(), list(processors)
        metafunc.parametrize("model", values, ids=ids, indirect=True, scope="session")


def other_processor() -> str:
    """The seed of the noise of another processor, the same in each worker of a run."""
    from disturbed import SEEDS

    return random.Random(os.environ[SEED]).choice(SEEDS)


FOLDER = Path(__file__).parent
ORDER = pytest.StashKey[dict[Path, int]]()
"""Where each file or folder of FOLDER stands among the others."""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Each worker begins at another folder: what one has compiled, the others find."""
    report = yield
    worker = getattr(collector.config, "workerinput", None)
    if worker and collector.path == FOLDER:
        places = report.result
        collector.config.stash[ORDER] = {one.path: at for at, one in enumerate(places)}
        number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        first = len(places) * number // count
        places[:] = places[first:] + places[:first]
    return report


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Each worker has the same order, before pytest groups tests by their fixtures. After that,
    of a test with the mark `sweep` one case stays, or one for each kind: a value of the
    arguments that the mark names, or what its `by` makes of that value; a soak keeps all.
    """
    if order := config.stash.get(ORDER, None):
        items.sort(key=lambda item: order[FOLDER / item.path.relative_to(FOLDER).parts[0]])
    yield
    sweeps: dict[str, list[pytest.Item]] = {}
    for item in items:
        if mark := item.get_closest_marker("sweep"):
            by = mark.kwargs.get("by", str)
            kind = [by(item.callspec.params[name]) for name in mark.args]  # type: ignore[attr-defined]
            sweeps.setdefault(" ".join([item.nodeid.partition("[")[0], *kind]), []).append(item)
    left_out = {
        id(item)
        for sweep, cases in sweeps.items()
        for item in {*cases}.difference(drawn(sweep, cases))
    }
    config.hook.pytest_deselected(items=[item for item in items if id(item) in left_out])
    items[:] = [item for item in items if id(item) not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The collector of garbage waits: nearly all that is made meanwhile stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What is imported by now stays: the collector need not look through it all again and
    again.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user's own state folder stays as it is, whoever runs the tests, their shell is a
    person's, and no test works in a repository that it did not make.
    """
    from synaptic.serving.arguments import AGENT_VARIABLES

    with pytest.MonkeyPatch.context() as patch:
        for name in AGENT_VARIABLES:
            patch.delenv(name, raising=False)
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.chdir(tmp_path_factory.mktemp("folder"))
        yield


@pytest.fixture(scope="session", autouse=True)
def one_model() -> Iterator[None]:
    """The model that ships is loaded once in a process, not in each workspace."""
    from synaptic.index import embedding

    make = embedding.FolderModel
    once = cache(make)

    def model(folder: Path, **settings: Any) -> embedding.FolderModel:
        return (once if folder == embedding.MODEL_DIR else make)(folder, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "FolderModel", model)
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Whoever reads the last lines learns what was not tested, and how to draw the same cases."""
    if SOAK not in os.environ:
        line = f"sweeps drawn by --seed {os.environ[SEED]}"
        if not terminalreporter.config.getoption("--disturb"):
            line += f"; the vectors of `elsewhere` are those of --disturb {other_processor()}"
        terminalreporter.write_line(line)
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in skipped}
    for reason in sorted(reasons):
        if reason.startswith("NO "):
            terminalreporter.write_line(reason, yellow=True, bold=True)


@pytest.fixture
def clock() -> Clock:
    from homes import Clock

    return Clock()


@pytest.fixture
def ws(tmp_path: Path, clock: Clock) -> Iterator[Workspace]:
    """A workspace in an empty home, where meaning does not matter."""
    from homes import open_home

    with open_home(tmp_path / "home", clock=clock) as workspace:
        yield workspace


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    from forks import shared
    from steady import steady

    yield shared()
    steady().close()
    shared().close()


@pytest.fixture
def home(tmp_path: Path, forks: Forks) -> ForkedHome:
    """A home that is not there yet, used from outside."""
    from steady import SteadyHome

    return SteadyHome(tmp_path / "home", {"HOME": str(tmp_path)}, forks=forks)


@pytest.fixture(scope="session")
def model(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> FastEmbedder:
    """The shipped model, loaded once; it reads each text once, also for the next runs. In a
    soak it reads anew. `pytest_generate_tests` gives the seed of its noise.
    """
    from embedders import OnceEach

    from synaptic.config import DEFAULT_MODEL

    own = tmp_path_factory.mktemp("models")
    cache = None if SOAK in os.environ else getattr(request.config, "cache", None)
    folder = cache.mkdir("meanings") if cache else own
    embedder = OnceEach(DEFAULT_MODEL, cache=own, folder=folder, seed=request.param)
    embedder.load()
    return embedder


@pytest.fixture(scope="session")
def postgres(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Server]:
    """A PostgreSQL with pgvector that the workers share."""
    from postgres import shared_server

    own = tmp_path_factory.getbasetemp()
    with shared_server(own.parent if hasattr(request.config, "workerinput") else own) as server:
        yield server


@pytest.fixture
def database(postgres: Server) -> Iterator[Database]:
    """A new database with pgvector, and an owner who is an ordinary role."""
    with postgres.database() as made:
        yield made


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> Rounds:
    """`rounds(quick, soak)` counts from 0 to the first number, in a soak to the second with a
    line of progress.
    """
    soak = bool(request.config.getoption("--soak"))
    shown = 0.0

    def count(quick: int, soaked: int) -> Iterator[int]:
        nonlocal shown
        total = soaked if soak else quick
        for number in range(total):
            if soak and (time.monotonic() - shown > 1 or number == total - 1):
                shown = time.monotonic()
                print(
                    f"\r  {request.node.name}: {number + 1:,} of {total:,}  ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
            yield number

    return count
