"""The doctor of a Studio: its own port, its own processes, its own files."""

import contextlib
from pathlib import Path

import pytest

from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.domain.doctor import Check, DoctorReport, Level
from studio.domain.errors import NotFound
from studio.host import hosts
from studio.host.http_ports import listen
from tests.app.running import fake_paths, running
from tests.fakes.catalogue import PRESET, RUNTIME


def one(report: DoctorReport, code: str) -> Check:
    """Return the one check of that code."""
    (found,) = [check for check in report.checks if check.code == code]
    return found


async def test_a_machine_that_can_serve_is_told_so(tmp_path: Path) -> None:
    """With every verdict in one document."""
    with fake_paths(tmp_path) as paths:
        report = await Studio(Parts(paths)).doctor.report()

    assert report.replayed is None
    assert report.level is not Level.STOPS
    assert [(one.id, one.usable) for one in report.presets] == [(PRESET, True)]
    assert [(one.name, one.usable) for one in report.runtimes] == [(RUNTIME, True)]
    assert report.host.memory_bytes is not None
    assert one(report, "gateway-port").level is Level.GOOD


async def test_a_taken_port_is_named_with_the_next_free_one(tmp_path: Path) -> None:
    """Before `weir up` stumbles over it."""
    with fake_paths(tmp_path) as paths:
        parts = Parts(paths)
        taken = await listen("127.0.0.1", parts.settings.now.port)
        with contextlib.closing(taken):
            check = one(await Studio(parts).doctor.report(), "gateway-port")

    assert check.level is Level.LOOK
    assert str(parts.settings.now.port) in check.found
    assert "weir up --port" in (check.advice or "")


async def test_our_own_gateway_is_no_stranger_on_the_port(tmp_path: Path) -> None:
    """Asked while it serves."""
    with fake_paths(tmp_path) as paths:
        async with running(paths) as made:
            await made.studio.door.open(made.parts.settings.now.port, False)

            check = one(await made.studio.doctor.report(), "gateway-port")

    assert check.level is Level.GOOD
    assert "The gateway listens" in check.found


async def test_a_host_of_the_catalogue_is_looked_at_by_its_id(tmp_path: Path) -> None:
    """The window asks the running service; its own machine is left out."""
    with fake_paths(tmp_path) as paths:
        doctor = Studio(Parts(paths)).doctor
        report = await doctor.report("v100-16x4-linux")
        listed = await doctor.hosts()
        with pytest.raises(NotFound):
            await doctor.report("../secret")

    assert report.replayed == "v100-16x4-linux"
    assert len(report.host.gpus) == 4
    assert [check for check in report.checks if check.code == "gateway-port"] == []
    assert "v100-16x4-linux" in {entry.id for entry in listed}


async def test_what_is_installed_here_is_not_installed_there(tmp_path: Path) -> None:
    """A replayed machine with a full disk cannot use our copy."""
    with fake_paths(tmp_path) as paths:
        file = hosts.load("none-linux", paths)
        own = await Studio(Parts(paths)).doctor.report()
        theirs = await Studio(Parts(paths), file).doctor.report()

    assert own.replayed is None
    assert theirs.replayed == "none-linux"
    assert theirs.host == file.host


async def test_a_preset_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    """One bad file of the person's own must not silence all else."""
    with fake_paths(tmp_path) as paths:
        paths.user_presets.mkdir()
        (paths.user_presets / "bad.toml").write_text("title = 5", encoding="utf-8")

        report = await Studio(Parts(paths)).doctor.report()

    check = one(report, "preset-file")
    assert check.level is Level.STOPS
    assert check.stops == ("bad",)
    assert report.level is Level.LOOK
    assert [preset.id for preset in report.presets] == [PRESET]


async def test_a_recipe_that_cannot_be_read_stops_everything(tmp_path: Path) -> None:
    """Without runtimes nothing can be served, and the file is named."""
    with fake_paths(tmp_path) as paths:
        parts = Parts(paths)
        recipe = paths.catalogue / "runtimes" / RUNTIME / "runtime.toml"
        recipe.write_text("schema_version = [", encoding="utf-8")

        report = await Studio(parts).doctor.report()

    check = one(report, "runtime-file")
    assert "runtime.toml" in check.found
    assert report.level is Level.STOPS
