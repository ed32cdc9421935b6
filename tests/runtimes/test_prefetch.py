"""Large wheels come through our own downloader, and whatever is odd about one is left to uv."""

import asyncio
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from studio.domain.errors import Damaged, NetworkFailure
from studio.domain.manifests import InstalledRuntime
from studio.runtimes import folder
from studio.runtimes.install import install
from studio.runtimes.interpreter import host_platform
from studio.runtimes.prefetch import REPAIR, wheels_folder
from studio.runtimes.repair import repair
from tests.fakes.hostile import Exchange, Hostile, status
from tests.fakes.killed_downloads import kept_bytes
from tests.fakes.package_index import index_of
from tests.fakes.waiting import until
from tests.fakes.wheels import make_wheel, wheel_sha256
from tests.runtimes.sharing_pair import add
from tests.runtimes.standin import StandIn
from tests.runtimes.test_install import ROOT, VICTIM, WAIT_S, helpers_of

SIZE = 24_000_000
REPAIRING = """
import asyncio, sys
from pathlib import Path
from studio.host.paths import Paths
from studio.runtimes.catalog import Catalog
from studio.runtimes.repair import repair
paths = Paths(home=Path(sys.argv[1]), catalogue=Path(sys.argv[2]))
asyncio.run(repair(Catalog(paths).recipe("tiny-1.0"), paths, lambda report: None))
"""
FILE = "weirlarge-1.0-py3-none-any.whl"


def _write_sizes(stand_in: StandIn, sizes: dict[str, int]) -> None:
    rows = "".join(f'"{pin}" = {size}\n' for pin, size in sizes.items())
    (stand_in.recipe_file.parent / "sizes.toml").write_text(
        f'schema_version = 1\nsource = "test"\n[platforms.{host_platform()}]\n{rows}'
    )


@pytest.fixture
def large(stand_in: StandIn) -> StandIn:
    """Return a runtime with one large wheel, whose size its recipe knows."""
    add(stand_in, "weirlarge", size=SIZE)
    _write_sizes(stand_in, {"weirlarge==1.0": (stand_in.wheels / FILE).stat().st_size})
    return stand_in


@pytest.fixture
def index(large: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    """Serve all wheels from an index on loopback, and from nowhere else."""
    with index_of(large.wheels) as server:
        _use(server, monkeypatch)
        yield server


def _use(server: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", server.url("/simple"))


def _run(stand_in: StandIn) -> InstalledRuntime:
    record = asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    python = folder.python_of(stand_in.paths, record)
    code = "import weirtiny, weirother, weirlarge"
    subprocess.run([python, "-I", "-c", code], check=True)
    assert not wheels_folder(stand_in.paths, stand_in.recipe).exists()
    root = folder.folder_of(stand_in.paths, record)
    assert not {"large.lock", "fetched.lock"} & {path.name for path in root.iterdir()}
    return record


def _ours(server: Hostile, file: str = FILE) -> int:
    """Return how often our downloader has asked for a file."""
    return sum(
        request.target == f"/files/{file}"
        and request.headers["user-agent"].startswith("weir-studio/")
        for request in server.requests
    )


def _asked(server: Hostile, file: str = FILE) -> int:
    """Return how often anybody has asked for a file."""
    return sum(request.target == f"/files/{file}" for request in server.requests)


def _starting(stand_in: StandIn, program: str = VICTIM) -> subprocess.Popen[str]:
    """Begin an installation in a process of its own."""
    paths = stand_in.paths
    return subprocess.Popen(
        [sys.executable, "-c", program, paths.home, paths.catalogue, "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_large_wheel_is_fetched_once_and_by_our_downloader(
    large: StandIn, index: Hostile
) -> None:
    """And its bytes, rate and size are seen; the small ones are uv's."""
    _run(large)

    assert _ours(index) > 0
    assert _ours(index, "weirtiny-1.0-py3-none-any.whl") == 0
    assert index.sent < SIZE + 1_000_000
    seen = [report for report in large.reports if report.note == "Fetching 1 large wheel"]
    assert seen
    assert seen[-1].unit == "bytes"
    assert seen[-1].total == (large.wheels / FILE).stat().st_size
    assert seen[-1].step == "packages"


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_kill_in_the_middle_of_a_wheel_costs_at_most_a_mebibyte(
    large: StandIn, index: Hostile, share: float
) -> None:
    """A wheel of half a gigabyte must not begin again because a machine was switched off."""
    data = (large.wheels / FILE).read_bytes()
    index.bytes_per_s = 12_000_000
    child = _starting(large)
    try:
        until(lambda: index.sent >= SIZE * share or child.poll() is not None, "the middle")
        assert child.poll() is None, "it ended before it could be killed"
        child.send_signal(signal.SIGKILL)
        child.wait(WAIT_S)
    finally:
        child.kill()
        child.communicate()
    until(lambda: not index.open_connections, "the end of its connections")
    psutil.wait_procs(helpers_of(large.paths.home), timeout=WAIT_S)
    file = wheels_folder(large.paths, large.recipe) / FILE
    kept = kept_bytes(file, data)
    index.bytes_per_s = None

    _run(large)

    assert kept >= SIZE * share - (1 << 20)
    small = sum(len(body) for name, body in index.files.items() if name != f"/files/{FILE}")
    pages = 100_000
    assert index.sent <= len(data) + (1 << 20) + small + pages


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_repair_fetches_a_large_wheel_the_same_way(
    large: StandIn, index: Hostile, is_killed: bool
) -> None:
    """A lost half gigabyte on a slow line is what a repair is about; a kill keeps what came."""
    record = _run(large)
    site = folder.folder_of(large.paths, record) / "python" / "lib"
    (victim,) = site.glob("python3.*/site-packages/weirlarge/data")
    victim.unlink()
    shutil.rmtree(large.paths.store)
    shutil.rmtree(large.paths.cache / "uv")
    data, index.sent = (large.wheels / FILE).read_bytes(), 0
    before = _ours(index)
    place = wheels_folder(large.paths, large.recipe, REPAIR)
    if is_killed:
        index.bytes_per_s = 12_000_000
        _kill_a_repair(large, index)
        kept = kept_bytes(place / FILE, data)
        assert kept >= SIZE // 2 - (1 << 20)
        index.bytes_per_s = None

    asyncio.run(repair(large.recipe, large.paths, large.reports.append))

    assert victim.is_file()
    assert _ours(index) > before
    assert index.sent <= SIZE + (1 << 20) + 200_000
    assert not place.parent.exists()


def _kill_a_repair(stand_in: StandIn, server: Hostile) -> None:
    child = _starting(stand_in, REPAIRING)
    try:
        until(lambda: server.sent >= SIZE // 2 or child.poll() is not None, "the middle")
        assert child.poll() is None, "it ended before it could be killed"
        child.send_signal(signal.SIGKILL)
        child.wait(WAIT_S)
    finally:
        child.kill()
        child.communicate()
    until(lambda: not server.open_connections, "the end of its connections")
    psutil.wait_procs(helpers_of(stand_in.paths.home), timeout=WAIT_S)


def test_a_page_for_people_will_do_where_an_index_has_no_json(
    large: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mirrors of companies are often a folder of pages."""
    with index_of(large.wheels, speaks_json=False) as server:
        _use(server, monkeypatch)
        _run(large)
        assert _ours(server) > 0
        assert server.sent < SIZE + 1_000_000


def test_an_index_without_hashes_serves_as_before(
    large: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain folder of a web server; each wheel is still held against the lock, and read once."""
    with index_of(large.wheels, says_hashes=False) as server:
        _use(server, monkeypatch)
        server.bytes_per_s = 8_000_000
        monkeypatch.setattr("studio.host.package_index._READING_S", 0.1)
        _run(large)
        assert server.sent < 1.5 * SIZE


@pytest.mark.parametrize("speaks_json", [True, False])
def test_a_lock_without_sizes_asks_the_index_for_them(
    large: StandIn, monkeypatch: pytest.MonkeyPatch, speaks_json: bool
) -> None:
    """A recipe of one's own has no table; a page for people says no sizes, so all come by ours."""
    (large.recipe_file.parent / "sizes.toml").unlink()
    with index_of(large.wheels, speaks_json=speaks_json) as server:
        _use(server, monkeypatch)

        _run(large)

        assert _ours(server) > 0
        assert (_ours(server, "weirtiny-1.0-py3-none-any.whl") > 0) is not speaks_json
        assert server.sent < SIZE + 1_000_000


def test_a_look_up_that_takes_too_long_is_left_to_uv(
    large: StandIn, index: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index without hashes on a slow line: uv would read every wheel twice."""
    monkeypatch.setattr("studio.host.package_index._LOOKUP_TIMEOUT_S", 0.01)

    _run(large)

    assert _ours(index) == 0
    assert index.sent < SIZE + 1_000_000


def test_an_index_with_a_password_gives_the_wheel_too(
    large: StandIn, index: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The password stands in the address of the index, and no page repeats it."""
    answer = index.always
    assert answer is not None

    def guarded(exchange: Exchange) -> bool:
        is_known = exchange.request.headers.get("authorization") == "Basic d2VpcjpzZSBjcmV0"
        refused = status("401 Unauthorized", {"WWW-Authenticate": "Basic"})
        return answer(exchange) if is_known else refused(exchange)

    index.always = guarded
    place = index.url("/simple").replace("http://", "http://weir:se%20cret@")
    monkeypatch.setenv("PIP_INDEX_URL", place)

    _run(large)

    assert _ours(index) > 0


def test_a_wheel_that_only_uv_is_given_is_left_to_uv(large: StandIn, index: Hostile) -> None:
    """A gateway that refuses strangers; an installation must not fail because of ours."""
    answer = index.always
    assert answer is not None

    def refusing(exchange: Exchange) -> bool:
        is_ours = exchange.request.headers["user-agent"].startswith("weir-studio/")
        return status("404 Not Found")(exchange) if is_ours else answer(exchange)

    index.always = refusing

    _run(large)

    assert _ours(index) > 0


def test_one_wheel_that_cannot_be_had_does_not_hold_up_the_others(
    large: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It alone goes to uv."""
    add(large, "weirhuge", size=9_000_000)
    other = "weirhuge-1.0-py3-none-any.whl"
    _write_sizes(large, {"weirlarge==1.0": SIZE, "weirhuge==1.0": 9_000_000})
    with index_of(large.wheels) as server:
        answer = server.always
        assert answer is not None

        def refusing(exchange: Exchange) -> bool:
            is_ours = exchange.request.headers["user-agent"].startswith("weir-studio/")
            is_refused = is_ours and exchange.request.target.endswith(other)
            return status("404 Not Found")(exchange) if is_refused else answer(exchange)

        server.always = refusing
        monkeypatch.setenv("PIP_INDEX_URL", server.url("/simple"))
        monkeypatch.delenv("PIP_FIND_LINKS")
        _run(large)
        assert _asked(server) == _ours(server) > 0
        assert _asked(server, other) > _ours(server, other)


def test_wrong_bytes_at_the_index_are_named_as_before(large: StandIn, index: Hostile) -> None:
    """A mirror that says the lock's sha256 and serves another file."""
    data = bytearray(index.files[f"/files/{FILE}"])
    data[SIZE // 2] ^= 1
    index.files[f"/files/{FILE}"] = bytes(data)

    with pytest.raises(Damaged) as caught:
        _run(large)

    assert caught.value.code == "package-hash"


def test_no_index_at_all_is_named_as_before(
    large: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead index, and no other place."""
    monkeypatch.delenv("PIP_FIND_LINKS")

    with pytest.raises(NetworkFailure) as caught:
        _run(large)

    assert caught.value.code == "packages-unreachable"


def test_wheels_of_a_folder_are_read_where_they_lie(large: StandIn) -> None:
    """There is nothing to fetch."""
    _run(large)

    assert not any("Fetching" in (report.note or "") for report in large.reports)


def test_nothing_is_asked_without_network_and_what_came_before_is_used(
    large: StandIn, index: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large wheel that is whole serves an installation that goes on behind a closed door."""
    place = wheels_folder(large.paths, large.recipe)
    place.mkdir(parents=True)
    shutil.move(large.wheels / FILE, place / FILE)
    monkeypatch.setenv("PIP_FIND_LINKS", large.wheels.as_uri())
    monkeypatch.setenv("WEIR_OFFLINE", "1")

    _run(large)

    assert index.requests == []


def test_what_uv_has_fetched_before_is_not_fetched_again(
    large: StandIn, index: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runtime that was removed with its store leaves its packages in uv's cache."""
    sizes = large.recipe_file.parent / "sizes.toml"
    kept = sizes.read_text()
    _write_sizes(large, dict.fromkeys(("weirlarge==1.0", "weirtiny==1.0", "weirother==1.0"), 1))
    record = _run(large)
    shutil.rmtree(folder.folder_of(large.paths, record))
    shutil.rmtree(large.paths.store)
    sizes.write_text(kept)
    index.sent = 0

    _run(large)

    assert _ours(index) == 0
    assert index.sent < 1_000_000


def test_a_wheel_by_its_address_comes_the_same_way(
    large: StandIn, index: Hostile, tmp_path: Path
) -> None:
    """Engines that a project publishes itself are the largest wheels of all."""
    own = tmp_path / "own"
    line = make_wheel(own, "weirown", {"weirown/__init__.py": b"", "weirown/x": os.urandom(SIZE)})
    file = "weirown-1.0-py3-none-any.whl"
    data = (own / file).read_bytes()
    index.files[f"/files/{file}"] = data
    assert hashlib.sha256(data).hexdigest() == wheel_sha256(line)
    large.edit(
        "[[packages.aliases]]",
        f'[[packages.wheels]]\nname = "weirown"\nversion = "1.0"\nbytes = {len(data)}\n'
        f'url = "{index.url("/own/../files/" + file)}"\nsha256 = "{wheel_sha256(line)}"\n'
        "[[packages.aliases]]",
    )

    record = _run(large)

    python = folder.python_of(large.paths, record)
    subprocess.run([python, "-I", "-c", "import weirown"], check=True)
    assert _ours(index, file) > 0
    assert index.sent < 2 * SIZE + 1_000_000


def test_a_disk_without_room_for_both_is_left_to_uv(
    large: StandIn, index: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uv keeps no wheel; where an installation just fits, ours would be what fills the disk."""
    found = shutil.disk_usage(large.wheels)
    little = found._replace(free=SIZE)
    monkeypatch.setattr("studio.host.prefetch.shutil.disk_usage", lambda _place: little)

    _run(large)

    assert _ours(index) == 0
