"""Our own series for vLLM 0.32: what each patch says of itself, and what the real engine then does.

The tests of lane `real` share the engine of the session; the one that ends its engine starts
another one by hand, without the guard, which would end the orphans itself.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from studio.host.paths import Paths
from studio.runtimes import patches
from studio.runtimes.catalog import Catalog
from studio.runtimes.patching.parse import parse_patch
from studio.serving import log_pages, phases
from tests.conftest import RealEngine, Serving
from tests.fakes.running import Engine
from tests.fakes.waiting import is_alive, until

ROOT = Path(__file__).parents[2]
NAME = "cpu-vllm-0.32.0"
FOLDER = ROOT / "runtimes" / NAME / "patches"
SERIES = sorted(FOLDER.iterdir())
BOOT_LIMIT_S = 300.0
END_LIMIT_S = 10.0
CHAT = {"model": "", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
GUARDED: list[tuple[str, str, dict[str, object] | None]] = [
    ("GET", "/metrics", None),
    ("GET", "/version", None),
    ("GET", "/docs", None),
    ("GET", "/openapi.json", None),
    ("GET", "/load", None),
    ("GET", "/ping", None),
    ("GET", "/v1/models", None),
    ("POST", "/tokenize", {"model": "", "prompt": "hi"}),
    ("POST", "/invocations", CHAT),
    ("POST", "/v1/chat/completions", CHAT),
]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Return the shipped catalogue."""
    return Paths(home=tmp_path, catalogue=ROOT)


def test_the_recipe_names_every_patch_that_lies_there(paths: Paths) -> None:
    """A file that nobody applies is a fix that nobody has."""
    recipe = Catalog(paths).recipe(NAME)

    named = [name for one in recipe.patches for name in one.files]

    assert named == [path.name for path in SERIES]
    patches.require_patches(paths, recipe)


@pytest.mark.parametrize("path", SERIES, ids=lambda path: path.name)
def test_each_patch_says_why_it_is_there_and_when_it_goes(path: Path) -> None:
    """Whoever meets it in three years decides by its first lines."""
    preamble = path.read_text("utf-8").partition("\ndiff --git ")[0]

    for part in ("Purpose:", "Cut against:", "Upstream:", "Retires when:"):
        assert re.search(rf"^{part}", preamble, re.MULTILINE), part
    assert parse_patch(path.name, path.read_bytes()).diffs


def added_module(patch: str, name: str) -> str:
    """Return a module that a patch adds."""
    (path,) = FOLDER.glob(f"{patch}*")
    parsed = parse_patch(path.name, path.read_bytes())
    added = {
        change.new_name: b"".join(line for hunk in change.hunks for line in hunk.new)
        for diff in parsed.diffs
        for change in diff
    }
    return added[f"b/{name}"].decode()


def startup_module() -> str:
    """Return the start-up shim."""
    return added_module("0004", "weir_startup.py")


# Starts a child, says its process id, and goes on; with `thread`, from a thread that then ends.
STARTER = """
import multiprocessing, sys, threading
import parent_death
def target(ready):
    parent_death.die_with_starter()
    ready.send(True)
    threading.Event().wait()
def start(context, ready):
    child = context.Process(target=target, args=(ready,), daemon=True)
    parent_death.start_bound(child)
    print(child.pid, flush=True)
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    mine, ready = context.Pipe(duplex=False)
    if "thread" in sys.argv:
        thread = threading.Thread(target=start, args=(context, ready))
        thread.start()
        thread.join()
    else:
        start(context, ready)
    mine.recv()
    print("ready", flush=True)
    sys.stdin.read(1)
"""


@contextlib.contextmanager
def starter(folder: Path, *words: str) -> Iterator[tuple[Any, int]]:
    """Yield a process that has started a bound child, and the child's id."""
    (folder / "parent_death.py").write_text(
        added_module("0001", "vllm/utils/parent_death.py"), "utf-8"
    )
    (folder / "starter.py").write_text(STARTER, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "starter.py", *words],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert process.stdout.readline() == "ready\n"
        yield process, child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("origin", ["main", "thread"])
@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_a_child_ends_with_its_starter(tmp_path: Path, method: str, origin: str) -> None:
    """Directly or through a fork server, started by the main thread or by one that has ended."""
    with starter(tmp_path, method, origin) as (process, child):
        assert is_alive(child)

        process.kill()

        until(lambda: not is_alive(child), f"the end of {child}", limit_s=END_LIMIT_S)


def test_a_child_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    """The kernel's signal is for the thread: asked there, it would end an engine in mid-service."""
    with starter(tmp_path, "spawn", "thread") as (process, child):
        assert len(psutil.Process(process.pid).threads()) == 1
        assert is_alive(child)
        assert psutil.Process(child).num_threads() == 2  # its own and the watch


def test_the_kernel_watches_where_the_main_thread_started(tmp_path: Path) -> None:
    """No thread is needed there, so none can be stuck behind a kernel launch."""
    with starter(tmp_path, "spawn", "main") as (_process, child):
        assert psutil.Process(child).num_threads() == 1


def test_the_shim_adds_what_a_standalone_interpreter_lacks() -> None:
    """An engine that seals shared memory dies of an AttributeError otherwise."""
    code = (
        startup_module()
        + "import types\n"
        + "bare, lacking = types.SimpleNamespace(), types.SimpleNamespace()\n"
        + "add_missing(bare, lacking)\n"
        + "names = [n for n in vars(fcntl) if n.startswith(('F_SEAL_', 'F_ADD_S', 'F_GET_S'))]\n"
        + "assert all(getattr(fcntl, n) == v for n, v in vars(bare).items())\n"
        + "fd = lacking.memfd_create('weir', lacking.MFD_CLOEXEC | lacking.MFD_ALLOW_SEALING)\n"
        + "os.ftruncate(fd, 10)\n"
        + "fcntl.fcntl(fd, bare.F_ADD_SEALS, bare.F_SEAL_SHRINK | bare.F_SEAL_SEAL)\n"
        + "print(fcntl.fcntl(fd, bare.F_GET_SEALS), os.fstat(fd).st_size)\n"
        + "os.close(lacking.pidfd_open(os.getpid()))\n"
        + "try:\n    lacking.pidfd_open(-1)\nexcept OSError as error:\n    print(error.errno)\n"
    )

    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["3", "10", "22"]


def test_the_shim_leaves_alone_what_is_there() -> None:
    """A CPython that has the calls keeps its own, faster ones."""
    code = (
        "import fcntl, os\nhad = dict(vars(fcntl)), dict(vars(os))\n"
        + startup_module()
        + "now = vars(fcntl), vars(os)\n"
        + "print(all(n[k] is h[k] for h, n in zip(had, now) for k in h))\n"
    )

    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "True"


# --- The real engine ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine(real_engine: RealEngine) -> Engine:
    """Return a client of the real engine, past the gateway."""
    return Engine(key=real_engine.key, served_name=real_engine.served_name, path=real_engine.socket)


def log_lines(serving: Serving) -> list[str]:
    """Return the engine's log as it wrote it: the file has a time before each line."""
    page = log_pages.newest(serving.weir.paths.logs, "engine", lines=5_000)
    return [line.text for line in page.lines]


@pytest.mark.real
def test_the_ledger_agrees_with_what_is_printed(serving: Serving) -> None:
    """The planner and the status line stand on it; prose is only what older engines have."""
    lines = log_lines(serving)
    ledger = next(line for line in lines if "WEIR_LEDGER " in line)
    document = json.loads(ledger.partition("WEIR_LEDGER ")[2])
    printed = next(
        sign
        for line in lines
        if (sign := phases.read(line)) and not sign.is_ledger and "pool_tokens" in sign.facts
    )
    sign = phases.read(ledger)

    assert document["pool_tokens"] == printed.facts["pool_tokens"] == 23_296
    assert document["max_model_len"] == printed.facts["max_model_len"] == 2048
    assert document["blocks"] * document["block_tokens"] == 23_296
    (group,) = document["groups"]
    assert document["kv_bytes"] == document["blocks"] * group["layers"] * group["page_bytes"]
    assert 134_000_000 * 4 < document["weights_bytes"] < 137_000_000 * 4
    assert document["activation_peak_bytes"] is None
    assert sign is not None
    assert sign.is_ledger
    assert sign.facts["kv_bytes"] == document["kv_bytes"]
    assert "activation_peak_bytes" not in sign.facts
    assert serving.result["pool_tokens"] == 23_296


@pytest.mark.real
@pytest.mark.parametrize(("method", "target", "body"), GUARDED, ids=lambda one: str(one)[:20])
def test_every_route_but_health_needs_the_key(
    engine: Engine, method: str, target: str, body: dict[str, object] | None
) -> None:
    """`/invocations` answers chats and `/metrics` tells who asks; both were open."""
    if body is not None:
        body = {**body, "model": engine.served_name}

    assert engine.call(method, target, body, key=None).status == 401
    assert engine.call(method, target, body, key="wrong").status == 401
    assert engine.call(method, target, body).status == 200


@pytest.mark.real
@pytest.mark.parametrize("target", ["/health/", "//health", "/HEALTH", "/v1/../health", "/nope"])
def test_only_health_itself_is_open(engine: Engine, target: str) -> None:
    """Nothing that merely looks like it."""
    assert engine.call("GET", "/health", key=None).status == 200
    assert engine.call("GET", target, key=None).status == 401


@pytest.mark.real
def test_of_options_only_preflights_pass(engine: Engine) -> None:
    """A browser sends no key with a preflight; everything else has to."""
    headers = {"Origin": "http://127.0.0.1", "Access-Control-Request-Method": "POST"}

    assert engine.call("OPTIONS", "/metrics", key=None).status == 401
    assert engine.call("OPTIONS", "/v1/models", key=None, headers=headers).status != 401


@pytest.mark.real
def test_the_monitor_still_reads_the_metrics(serving: Serving) -> None:
    """It sends the key; without it the window would show dashes."""
    until(
        lambda: (serving.weir.told()["tick"] or {}).get("pool_tokens") == 23_296,
        "the pool in the status",
    )


@pytest.mark.real
def test_the_shim_is_loaded_by_the_runtime(serving: Serving) -> None:
    """The path file has to work with the isolated flags that the engine is started with."""
    (python,) = serving.weir.paths.runtimes.glob(f"{NAME}/*/python/bin/python3")
    code = "import sys, fcntl; print('weir_startup' in sys.modules, fcntl.F_ADD_SEALS)"

    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["True", "1033"]


def by_hand(real_engine: RealEngine, serving: Serving, folder: Path) -> Any:
    """Start the session's command without service and guard, in an empty HOME of its own."""
    row = next(row for row in serving.weir.json("ps") if row["role"] == "engine")
    process = Path(f"/proc/{row['pid']}")
    argv = [part.decode() for part in process.joinpath("cmdline").read_bytes().split(b"\0") if part]
    pairs = process.joinpath("environ").read_bytes().decode().split("\0")
    environment = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    argv[argv.index("--uds") + 1] = str(folder / "engine.sock")
    (folder / "home").mkdir()
    environment["HOME"] = str(folder / "home")
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            argv, env=environment, stdout=log, stderr=log, start_new_session=True, cwd=folder
        )


@contextlib.contextmanager
def started(real_engine: RealEngine, serving: Serving) -> Iterator[tuple[Any, Path]]:
    """Yield an engine that serves, and its folder; at the end nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="own-") as name:
        folder = Path(name)
        engine = by_hand(real_engine, serving, folder)
        try:
            until(
                lambda: "Application startup complete." in (folder / "log").read_text("utf-8"),
                "the engine's server",
                limit_s=BOOT_LIMIT_S,
            )
            yield engine, folder
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(engine.pid, signal.SIGKILL)
            engine.wait()


def in_use(tree: list[psutil.Process]) -> list[str]:
    """Return the sockets of the processes, and the files that they have open for writing."""
    found = set()
    for process in tree:
        found |= {one.laddr for one in process.net_connections("unix") if one.laddr}
        found |= {one.path for one in process.open_files() if one.mode != "r"}
    return sorted(path for path in found if not path.startswith(("/dev/", "@")))


@pytest.mark.real
def test_nothing_outlives_a_killed_api_server_and_nothing_is_written_elsewhere(
    serving: Serving, real_engine: RealEngine
) -> None:
    """A SIGKILL used to leave EngineCore and Worker behind with all their memory.

    The same boot shows that the engine keeps to the Studio's folder: its HOME, empty before, stays
    empty, and its sockets and every file that it holds open for writing lie in that folder.
    """
    inside = serving.weir.paths.home
    with started(real_engine, serving) as (engine, folder):
        children = psutil.Process(engine.pid).children(recursive=True)
        names = {process.name()[:10] for process in children}
        answer = Engine(
            key=real_engine.key,
            served_name=real_engine.served_name,
            path=str(folder / "engine.sock"),
        ).call(
            "POST",
            "/v1/completions",
            {"model": real_engine.served_name, "prompt": "1, 2, 3,", "max_tokens": 4},
        )
        assert answer.status == 200
        assert {"VLLM::Engi", "VLLM::Work"} <= names
        assert list((folder / "home").rglob("*")) == []
        places = in_use([psutil.Process(engine.pid), *children])
        own = (f"{folder}/", f"{inside}/", f"{serving.weir.paths.sockets}/")
        assert str(folder / "engine.sock") in places
        # The rendezvous of the workers is written and closed again: it lies where TMPDIR leads.
        assert list((inside / "cache" / "engine").glob("vllm_dist_*"))
        assert [place for place in places if not place.startswith(own)] == []

        os.kill(engine.pid, signal.SIGKILL)

        until(
            lambda: not any(is_alive(process.pid) for process in children),
            f"the end of {[process.pid for process in children]}",
            limit_s=END_LIMIT_S,
        )
