"""The Studio's Linux on a Windows that is a program of ours."""

import json
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.app.wsl import Causes, WslSetup
from studio.app.wsl_memory import Kept, Record
from studio.domain.errors import StudioError
from studio.domain.wsl import (
    DISTRIBUTION,
    WslConfigRequest,
    WslRemoveRequest,
    WslSetupRequest,
    WslStep,
)
from studio.host import lxss
from studio.host.documents import read_toml
from studio.host.paths import Paths, bundled_root
from studio.host.wsl_exe import Answer, WslExe
from tests.fakes.registry import FakeRegistry
from tests.fakes.wsl import FakeWsl

GIB = 1 << 30
HOME = "/home/weir/.local/share/weir-studio/service"
CAUSES = read_toml(bundled_root() / "runtimes/wsl.toml", Causes)


class Windows:
    """One machine: its `wsl.exe`, when it was started, whether somebody says yes."""

    def __init__(self, folder: Path, **known: object) -> None:
        self.fake = FakeWsl.made(folder / "windows", **known)
        self.paths = Paths(home=folder / "Jörg's home", catalogue=bundled_root())
        self.booted_at = 1_000.0
        self.registry = FakeRegistry()
        self.environ = self.fake.environ
        self.rootfs = folder / "rootfs.tar.gz"
        self.rootfs.write_bytes(b"tar")

    @property
    def setup(self) -> WslSetup:
        """Return a setup, as each start of the program makes one."""
        return WslSetup(
            self.paths, environ=self.environ, is_windows=True, boot_at=lambda: self.booted_at,
            total_bytes=lambda: 32 * GIB, registry=self.registry,
        )  # fmt: skip

    async def step(self) -> WslStep:
        """Return what is to do."""
        return (await self.setup.report()).step

    async def go_on(self) -> WslStep:
        """Take a step."""
        request = WslSetupRequest(consent=True, rootfs=str(self.rootfs))
        return (await self.setup.setup(request)).step


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    """Return a machine with a new WSL and a distribution of the person's."""
    return Windows(tmp_path)


Installer = Callable[[int | None], None]


@pytest.fixture
def administrator(monkeypatch: pytest.MonkeyPatch) -> Installer:
    """Return what lets the elevated installation end with a status."""

    def ends_with(status: int | None) -> None:
        async def install(_exe: WslExe) -> int | None:
            return status

        monkeypatch.setattr(WslExe, "install", install)

    return ends_with


async def test_from_a_bare_windows_over_a_restart_to_a_service(
    tmp_path: Path, administrator: Installer
) -> None:
    """The program ends in between; what it knows lies in its home."""
    windows = Windows(tmp_path)
    (windows.fake.folder / "bin/wsl.exe").rename(windows.fake.folder / "later.exe")
    assert await windows.step() is WslStep.INSTALL
    with pytest.raises(StudioError) as caught:
        await windows.setup.setup(WslSetupRequest())
    assert caught.value.code == "wsl-elevation"

    administrator(3010)
    assert await windows.go_on() is WslStep.RESTART
    assert await windows.step() is WslStep.RESTART

    windows.booted_at = 2_000.0
    (windows.fake.folder / "later.exe").rename(windows.fake.folder / "bin/wsl.exe")
    windows.fake.know(version=None, names=[])
    assert await windows.step() is WslStep.UPDATE
    assert await windows.go_on() is WslStep.IMPORT
    assert await windows.go_on() is WslStep.START
    [imported] = [call for call in windows.fake.asked if call[0] == "--import"]
    assert imported[1] == DISTRIBUTION
    assert imported[-2:] == ["--version", "2"]


async def test_a_no_to_the_administrator_changes_nothing(
    tmp_path: Path, administrator: Installer
) -> None:
    """And is told with another way."""
    windows = Windows(tmp_path)
    (windows.fake.folder / "bin/wsl.exe").unlink()
    administrator(None)

    with pytest.raises(StudioError) as caught:
        await windows.go_on()

    assert caught.value.code == "wsl-not-installed"
    assert await windows.step() is WslStep.INSTALL


@pytest.mark.parametrize(
    ("code", "row"), [(code, row) for row in CAUSES.error for code in row.codes]
)
async def test_every_documented_code_leads_to_a_step(
    tmp_path: Path, code: str, row: object
) -> None:
    """In German, in UTF-16: only the code is read."""
    windows = Windows(tmp_path, error=code, version=None)

    report = await windows.setup.report()

    means = getattr(row, "means", "")
    steps = {
        "install": WslStep.INSTALL, "firmware": WslStep.FIRMWARE, "restart": WslStep.RESTART,
        "update": WslStep.UPDATE, "retry": WslStep.REFUSED, "refused": WslStep.REFUSED,
        "import": WslStep.UPDATE,
    }  # fmt: skip
    assert report.step is steps[means]
    if report.step is WslStep.REFUSED:
        assert report.problem is not None
        assert report.problem.hint


def test_no_code_stands_in_two_rows_and_each_row_says_what_to_do() -> None:
    """The first would win in silence."""
    codes = [code for row in CAUSES.error for code in row.codes]
    assert len(codes) == len(set(codes))
    for row in CAUSES.error:
        assert all(re.fullmatch(r"[A-Z_0-9]+|0x[0-9a-f]{8}", code) for code in row.codes)
        assert row.hint or row.means not in ("refused", "retry")
    assert CAUSES.of(Answer(status=1, text="nothing known: 0x12345678")) is None


@pytest.mark.parametrize(
    ("processor", "word"),
    [("Intel64 Family 6, GenuineIntel", "VT-x"), ("AMD64 Family 25", "SVM"), ("", "switch on")],
)
async def test_the_firmwares_menu_is_named_by_the_processors_maker(
    tmp_path: Path, processor: str, word: str
) -> None:
    """People look for the word that stands there."""
    windows = Windows(tmp_path, error="0x80370102")
    windows.environ = {**windows.environ, "PROCESSOR_IDENTIFIER": processor}

    report = await windows.setup.report()

    assert report.step is WslStep.FIRMWARE
    assert word in (report.firmware or "")


async def test_localhost_is_tried_from_this_side(windows: Windows) -> None:
    """A service that runs and is not reached is what NAT does on a bad day."""
    await windows.go_on()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        inside = {
            f"cat {HOME}/service.json": json.dumps({"port": port, "pid": 1, "version": "1"}),
            f"cat {HOME}/token": "tok\n",
            "wslinfo": "nat\n",
            "hostname": "172.20.1.2 \n",
        }
        windows.fake.know(inside=inside)
        report = await windows.setup.report()
    away = await windows.setup.report()

    assert (report.step, report.is_reachable) == (WslStep.READY, True)
    assert report.address == f"127.0.0.1:{port}"
    assert away.is_reachable is False
    assert report.networking == "nat"
    assert "connectaddress=172.20.1.2" in report.lan[0]
    assert "advfirewall" in report.lan[1]
    windows.fake.know(inside={**inside, "wslinfo": "mirrored\n"})
    mirrored = await windows.setup.report()
    assert len(mirrored.lan) == 1


async def test_memory_is_proposed_and_written_with_a_copy(windows: Windows) -> None:
    """Never unasked."""
    await windows.go_on()
    config = windows.fake.folder / ".wslconfig"
    config.write_bytes("[wsl2]\r\nswap=0\r\n".encode("utf-16"))

    assert (await windows.setup.report()).config == ()
    asked = WslConfigRequest(preset="27b-dflash2", needed_bytes=21 * GIB, write=False)
    report = await windows.setup.configure(asked)
    assert report.config == ("[wsl2]", "memory=23GB")
    assert report.config_preset == "27b-dflash2"
    assert report.config_change == (" [wsl2]", "+memory=23GB", " swap=0")
    asked = WslConfigRequest(memory_bytes=16 * GIB, write=False)
    assert "+memory=16GB" in (await windows.setup.configure(asked)).config_change
    assert config.read_bytes().startswith(b"\xff\xfe")

    after = await windows.setup.configure(WslConfigRequest(memory_bytes=20 * GIB))
    assert "memory=20GB" in config.read_text(encoding="utf-8")
    assert after.config == ("[wsl2]", "memory=23GB")
    assert (windows.fake.folder / ".wslconfig.before-weir").read_bytes().startswith(b"\xff\xfe")


async def test_the_disk_is_shown_and_compacted_or_the_way_is_said(windows: Windows) -> None:
    """An old WSL needs the administrator's diskpart."""
    await windows.go_on()
    assert (await windows.setup.report()).disk_bytes == 4_096

    windows.fake.know(compacted="x" * 1_024)
    smaller = await windows.setup.compact()
    assert smaller.step is WslStep.START
    assert (smaller.disk_was_bytes, smaller.disk_bytes) == (4_096, 1_024)
    assert ["--terminate", DISTRIBUTION] in windows.fake.asked
    windows.fake.know(can_compact=False)
    with pytest.raises(StudioError) as caught:
        await windows.setup.compact()
    assert caught.value.code == "wsl-not-compacted"
    assert "diskpart" in (caught.value.hint or "")


async def test_an_image_that_takes_long_is_not_called_an_old_wsl(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WSL goes on when its command is ended; diskpart beside it would harm the image."""
    await windows.go_on()

    async def slow(_self: WslExe, _name: str) -> Answer:
        return Answer(status=None, text="")

    monkeypatch.setattr(WslExe, "compact", slow)

    with pytest.raises(StudioError) as caught:
        await windows.setup.compact()

    assert caught.value.code == "wsl-compact-slow"
    assert "diskpart" not in (caught.value.hint or "")


async def test_nothing_is_started_inside_while_the_image_is_compacted(windows: Windows) -> None:
    """A question inside starts the Linux, and an image in use cannot be made smaller.

    A window asks all the time. Whoever was killed while it compacted does not stop anybody.
    """
    await windows.go_on()
    record = Record(windows.paths.home)
    with record.compacting():
        asked = len(windows.fake.asked)
        report = await windows.setup.report()
        assert (report.is_compacting, report.step) == (True, WslStep.START)
        assert await windows.setup.service() is None
        assert not [one for one in windows.fake.asked[asked:] if one[0] == "--distribution"]
        with pytest.raises(StudioError) as caught:
            await windows.setup.compact()
        assert caught.value.code == "wsl-compacting"

    assert not (await windows.setup.report()).is_compacting
    record.write(Kept(compacting_pid=os.getpid(), compacting_since=1.0))
    assert not (await windows.setup.report()).is_compacting
    assert (await windows.setup.compact()).disk_bytes == 4_096


async def test_a_disk_image_that_was_moved_is_found(windows: Windows, tmp_path: Path) -> None:
    """Models fill disks: people move it, and WSL writes down where it lies."""
    await windows.go_on()
    moved = tmp_path / "lärge disk"
    moved.mkdir()
    (moved / "weir.vhdx").write_bytes(b"x" * 5_000)
    key = rf"{lxss.KEY}\{{11111111-2222-3333-4444-555555555555}}"
    windows.registry.write(rf"{lxss.KEY}\{{0}}", "DistributionName", "Ubuntu")
    for name, value in {
        "DistributionName": DISTRIBUTION, "BasePath": rf"\\?\{moved}", "VhdFileName": "weir.vhdx",
    }.items():  # fmt: skip
        windows.registry.write(key, name, value)

    report = await windows.setup.report()

    assert (report.disk, report.disk_bytes) == (str(moved / "weir.vhdx"), 5_000)


async def test_an_image_that_nobody_registered_is_named_and_left(windows: Windows) -> None:
    """WSL refuses it for ever; a Windows that was installed anew left it full of models."""
    left = windows.paths.home / "wsl/ext4.vhdx"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"models")

    with pytest.raises(StudioError) as caught:
        await windows.go_on()

    assert caught.value.code == "wsl-disk-left"
    assert str(left) in (caught.value.hint or "")
    assert left.read_bytes() == b"models"
    left.unlink()
    assert await windows.go_on() is WslStep.START


async def test_what_is_in_it_is_said_before_it_goes(windows: Windows) -> None:
    """Others' distributions are never touched."""
    await windows.go_on()
    windows.fake.know(inside={"du": "12G\t/home/weir/models\n"})

    asked = await windows.setup.remove(WslRemoveRequest())
    assert (asked.lines, asked.removed) == (("12G\t/home/weir/models",), False)
    assert await windows.step() is WslStep.START

    assert (await windows.setup.remove(WslRemoveRequest(consent=True))).removed
    report = await windows.setup.report()
    assert report.step is WslStep.IMPORT
    assert report.distributions == ("Ubuntu",)
    with pytest.raises(StudioError) as caught:
        await windows.setup.remove(WslRemoveRequest(consent=True))
    assert caught.value.code == "wsl-not-imported"


async def test_a_folder_that_is_copied_to_the_cloud_is_refused(windows: Windows) -> None:
    """Disk images in use do not bear it."""
    windows.environ = {**windows.environ, "OneDrive": str(windows.paths.home.parent)}

    with pytest.raises(StudioError) as caught:
        await windows.go_on()

    assert caught.value.code == "folder-synced"


async def test_a_failed_import_says_what_the_code_means(windows: Windows) -> None:
    """And a missing root file system which one."""
    windows.fake.know(error="0x80070070", failing=["--import"])
    with pytest.raises(StudioError) as caught:
        await windows.go_on()
    assert "disk" in caught.value.message
    windows.rootfs.unlink()
    with pytest.raises(StudioError) as missing:
        await windows.go_on()
    assert missing.value.code == "rootfs-missing"


async def test_elsewhere_there_is_nothing_to_set_up(tmp_path: Path) -> None:
    """Linux asks nobody."""
    setup = WslSetup(Paths(home=tmp_path, catalogue=bundled_root()), is_windows=False)

    assert (await setup.report()).step is WslStep.NOT_WINDOWS
    assert (await setup.setup(WslSetupRequest(consent=True))).step is WslStep.NOT_WINDOWS
