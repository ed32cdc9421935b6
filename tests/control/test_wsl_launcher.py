"""From Windows to the service inside: found, started, kept, or said why not."""

import json
import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

from studio import __version__
from studio.app.studio import Studio
from studio.app.update_records import Ran, Records, Staged
from studio.app.update_watch import Watched
from studio.app.wiring import Parts
from studio.app.wsl import WslSetup
from studio.app.wsl_memory import Record
from studio.app.wsl_turn import WslTurn
from studio.control import wsl_launcher
from studio.control.router import Router
from studio.domain.control import GatewayInfo, ServiceInfo, Status
from studio.domain.errors import HostLacks, ServiceUnreachable
from studio.domain.server import EngineSnapshot
from studio.host import lxss
from studio.host.http_server import Exchange, serve
from studio.host.paths import Paths, bundled_root
from tests.fakes import windows_versions
from tests.fakes.registry import FakeRegistry
from tests.fakes.wsl import FakeWsl

FOLDER = "/home/weir/.local/share/weir-studio/service"
STATUS = Status(
    service=ServiceInfo(version="1.0.0", pid=7, started_at=0.0, home="/home/weir"),
    engine=EngineSnapshot(), gateway=GatewayInfo(), host=None, tick=None,
)  # fmt: skip


HEADERS = [(b"content-type", b"application/json")]


async def answer(exchange: Exchange) -> None:
    """Be a service."""
    exchange.respond(200, HEADERS, msgspec.json.encode(STATUS))


def inside(port: int) -> dict[str, str]:
    """Return what the files of a service say."""
    known = {"port": port, "pid": 7, "version": "1.0.0"}
    return {f"cat {FOLDER}/service.json": json.dumps(known), f"cat {FOLDER}/token": "tok\n"}


def setup(tmp_path: Path, fake: FakeWsl) -> tuple[Paths, WslSetup]:
    """Return a Windows user."""
    paths = Paths(home=tmp_path / "home", catalogue=bundled_root())
    return paths, WslSetup(paths, environ=fake.environ, is_windows=True)


async def test_a_service_that_runs_is_joined(tmp_path: Path) -> None:
    """With the token that lies inside."""
    fake = FakeWsl.made(tmp_path, names=["weir-studio"])
    paths, user = setup(tmp_path, fake)
    server = await serve(answer)
    try:
        fake.know(inside=inside(server.port))
        client = await wsl_launcher.connect(paths, user, start=False)
        assert (await client.status()).service.pid == 7
        await client.close()
    finally:
        await server.close()


async def test_nothing_is_started_while_the_disk_image_is_compacted(tmp_path: Path) -> None:
    """A window looks for the service all the time, and the Linux in use cannot be made smaller."""
    fake = FakeWsl.made(tmp_path, names=["weir-studio"])
    paths, user = setup(tmp_path, fake)

    def spawn(words: Sequence[str], _environ: Mapping[str, str], _log: Path) -> None:
        raise AssertionError(words)

    with Record(paths.home).compacting(), pytest.raises(HostLacks) as caught:
        await wsl_launcher.connect(paths, user, start=True, spawn=spawn)

    assert caught.value.code == "wsl-compacting"
    assert fake.asked == []


async def test_one_that_does_not_run_is_started_by_a_program_that_stays(tmp_path: Path) -> None:
    """WSL ends what nobody of Windows started."""
    fake = FakeWsl.made(tmp_path, names=["weir-studio"])
    paths, user = setup(tmp_path, fake)
    server = await serve(answer)
    started: list[Sequence[str]] = []

    def spawn(words: Sequence[str], _environ: Mapping[str, str], _log: Path) -> None:
        started.append(words)
        fake.know(inside=inside(server.port))

    try:
        with pytest.raises(ServiceUnreachable) as caught:
            await wsl_launcher.connect(paths, user, start=False, spawn=spawn)
        client = await wsl_launcher.connect(paths, user, start=True, spawn=spawn)
        await client.close()
    finally:
        await server.close()

    assert caught.value.code == "service-not-running"
    [words] = started
    assert words[:3] == ["wsl.exe", "--distribution", "weir-studio"]


async def test_without_the_studios_linux_the_setup_is_named(tmp_path: Path) -> None:
    """Nothing is started that cannot start."""
    paths, user = setup(tmp_path, FakeWsl.made(tmp_path))

    with pytest.raises(ServiceUnreachable) as caught:
        await wsl_launcher.connect(paths, user, start=True)

    assert caught.value.code == "wsl-not-ready"


async def test_a_network_that_leads_nowhere_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service runs inside and is not reached from here."""
    monkeypatch.setattr(wsl_launcher, "START_S", 0.1)
    fake = FakeWsl.made(tmp_path, names=["weir-studio"], inside=inside(9))
    paths, user = setup(tmp_path, fake)

    with pytest.raises(ServiceUnreachable) as caught:
        await wsl_launcher.connect(paths, user, start=True, spawn=lambda *_words: None)

    assert caught.value.code == "service-not-started"
    assert "localhost" in caught.value.message


HOME = FOLDER.removesuffix("/service")
UNSTEADY = Watched(version="1.1.0", previous="1.0.0", ends=2, boot="b-1", is_running=True)
COUNTED = {
    f"cat {HOME}/update/watched.json /proc/sys/kernel/random/boot_id": (
        msgspec.json.encode(UNSTEADY).decode() + "\nb-1\n"
    ),
    f"flock -n {HOME}/service/lock true": "",
}


@pytest.mark.parametrize(
    ("why", "failure"), [("asked", None), ("crashes", "update-unsteady"), ("dead", "update-failed")]
)
async def test_the_version_before_comes_back_and_the_linux_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str, failure: str | None
) -> None:
    """Because a person asked for it, after the third crash, or where the new one never comes up."""
    monkeypatch.setattr(wsl_launcher, "START_S", 0.1 if why == "dead" else 90.0)
    place = windows_versions.made(tmp_path / "programs", "app-1.0.0", "app-1.1.0")
    program = {"/usr/bin/weir --version": "weir 1.1.0\n", "sh": "weir 1.0.0\n"}
    counted = COUNTED if why == "crashes" else {}
    fake = FakeWsl.made(tmp_path, names=["weir-studio"], inside={**program, **counted})
    paths, user = setup(tmp_path, fake)
    turn = WslTurn(paths, version="1.1.0", installed=lambda: place, registry=FakeRegistry())
    records = Records(paths)
    records.write(Ran(version="1.0.0" if why == "dead" else "1.1.0"))
    if why == "asked":
        records.write(Staged(version="1.0.0", wanted=True, is_rollback=True))
    rootfs = place.versions / "app-1.0.0/_internal/weir-studio-rootfs.tar.xz"
    rootfs.write_bytes(lzma.compress(b"root"))
    server = await serve(answer)

    def spawn(_words: Sequence[str], _environ: Mapping[str, str], _log: Path) -> None:
        if any("sh" in call for call in fake.asked):  # the program inside was exchanged
            monkeypatch.setattr(wsl_launcher, "START_S", 90.0)
            fake.know(inside={**program, **inside(server.port)})

    try:
        client = await wsl_launcher.connect(paths, user, start=True, spawn=spawn, turn=turn)
        await client.close()
    finally:
        await server.close()

    failed = records.failed()
    assert turn.used == "1.0.0"
    assert (failed.error.code if failed is not None else None) == failure
    ran = records.ran()
    assert ran is not None
    assert ran.version == "1.0.0"


class Inside:
    """A real home behind the border, whose newer version may answer one call with an error."""

    def __init__(self, folder: Path, fake: FakeWsl) -> None:
        self.studio = Studio(Parts(Paths(home=folder / "inside", catalogue=bundled_root())))
        self._router = Router(self.studio, down=self._down)
        self._fake = fake
        self.broken: str | None = None
        self.starts: list[str | None] = []
        self.known: dict[str, str] = {}
        """What is known of the programs inside while no service runs."""

    async def _down(self) -> None:
        self._fake.know(inside=self.known)

    async def answer(self, exchange: Exchange) -> None:
        """Answer as its service does."""
        status, body = await self._router.answer(exchange.method, exchange.path, "", b"")
        if self.broken is not None and exchange.path.endswith(self.broken):
            status, body = 500, b"{}"
        exchange.respond(status, HEADERS, body)


@pytest.mark.parametrize("broken", [None, "/history/state", "/presets"])
async def test_a_new_version_has_to_prove_itself_at_its_first_start(
    tmp_path: Path, broken: str | None
) -> None:
    """It answers, and still has not everything: then the one before is back, and says why."""
    place = windows_versions.made(tmp_path / "programs", "app-0.0.9", f"app-{__version__}")
    (place.versions / "app-0.0.9/_internal/weir-studio-rootfs.tar.xz").write_bytes(
        lzma.compress(b"root")
    )
    fake = FakeWsl.made(tmp_path, names=["weir-studio"])
    paths, user = setup(tmp_path, fake)
    turn = WslTurn(paths, installed=lambda: place, registry=FakeRegistry())
    records = Records(paths)
    records.write(Ran(version="0.0.9"))
    home = Inside(tmp_path, fake)
    home.known = {"/usr/bin/weir --version": f"weir {__version__}\n", "sh": "weir 0.0.9\n"}
    home.broken = broken
    fake.know(inside=home.known)
    server = await serve(home.answer)

    def spawn(_words: Sequence[str], _environ: Mapping[str, str], _log: Path) -> None:
        home.starts.append(turn.used)
        home.broken = broken if turn.used == __version__ else None
        fake.know(inside={**home.known, **inside(server.port)})

    try:
        client = await wsl_launcher.connect(paths, user, start=True, spawn=spawn, turn=turn)
        await client.close()
    finally:
        await server.close()
        await home.studio.close()

    failed, ran = records.failed(), records.ran()
    if broken is None:
        assert home.starts == [__version__]
        assert failed is None
        assert ran == Ran(version=__version__, previous="0.0.9")
    else:
        assert home.starts == [__version__, "0.0.9"]
        assert failed is not None
        assert "falls short" in failed.error.message


async def test_a_service_that_runs_out_of_reach_has_not_crashed(tmp_path: Path) -> None:
    """It holds its lock; so does none after the machine was started anew."""
    [about, free] = COUNTED
    fake = FakeWsl.made(tmp_path, names=["weir-studio"], inside=COUNTED)
    _paths, user = setup(tmp_path, fake)

    async def ends() -> int | None:
        found = await user.watched()
        return found.ends if found is not None else None

    assert await ends() == 3
    fake.know(inside={about: COUNTED[about]})
    assert await ends() == 2
    fake.know(inside={about: COUNTED[about].replace("b-1\n", "b-2\n"), free: ""})
    assert await ends() == 2
    fake.know(inside={about: "{}\nb-1\n"})
    assert await ends() is None
    fake.know(inside={})
    assert await ends() is None


async def test_without_a_linux_the_way_back_is_over_at_once(tmp_path: Path) -> None:
    """There is nothing inside that could follow; where WSL only does not work, there is."""
    place = windows_versions.made(tmp_path / "programs", "app-1.0.0", "app-1.1.0")
    registry = FakeRegistry()
    fake = FakeWsl.made(tmp_path)
    paths = Paths(home=tmp_path / "home", catalogue=bundled_root())
    user = WslSetup(paths, environ=fake.environ, is_windows=True, registry=registry)
    turn = WslTurn(paths, version="1.1.0", installed=lambda: place, registry=registry)
    records = Records(paths)
    records.write(Staged(version="1.0.0", wanted=True, is_rollback=True))
    key = rf"{lxss.KEY}\{{1}}"
    registry.write(key, "DistributionName", "weir-studio")
    registry.write(key, "BasePath", str(tmp_path))

    for has_linux in (True, False):
        if not has_linux:
            registry.values.clear()
        with pytest.raises(ServiceUnreachable):
            await wsl_launcher.connect(paths, user, start=True, turn=turn)
        assert turn.used == "1.0.0"
        ran = records.ran()
        assert ran is not None
        assert ran.version == ("1.1.0" if has_linux else "1.0.0")
