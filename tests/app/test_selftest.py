"""The self-test as the service runs it: the twin always, the open address where there is one."""

import contextlib
from pathlib import Path

import pytest

from studio.app.selftest import Selftest
from studio.control.server import ControlServer
from studio.domain.control import GatewayInfo
from studio.domain.gateway import GatewayChange
from studio.domain.selftest import Place
from tests.app.running import fake_paths, running


async def test_without_an_open_address_the_twin_alone_is_attacked() -> None:
    """It works before anything was installed."""
    report = await Selftest(GatewayInfo, lambda: contextlib.nullcontext("")).run()

    assert report.is_safe
    assert report.open_defences == ()
    assert report.address is None
    assert {one.place for one in report.attacks} == {Place.TWIN}


@pytest.mark.parametrize("is_encrypted", [False, True])
async def test_the_open_address_is_attacked_too(tmp_path: Path, *, is_encrypted: bool) -> None:
    """What counts is what clients reach, with and without TLS."""
    with fake_paths(tmp_path) as paths:
        async with running(paths) as made:
            if is_encrypted:
                await made.studio.door.change(GatewayChange(tls=True))
            await made.studio.door.open(made.parts.settings.now.port, take_next=True)
            report = await made.studio.selftest.run()

    assert report.open_defences == ()
    assert report.is_safe
    assert (report.address or "").startswith("https:" if is_encrypted else "http:")
    assert {one.place for one in report.attacks} == {Place.TWIN, Place.LIVE}


async def test_the_control_port_repels_the_same(tmp_path: Path) -> None:
    """Whoever controls the service controls the machine's cards; no page may."""
    with fake_paths(tmp_path) as paths:
        async with running(paths) as made:
            server = ControlServer(
                made.studio, "token", down=_never, on_holders=_ignore, on_keep=lambda: None
            )
            await server.open()
            try:
                report = await made.studio.selftest.run()
            finally:
                await server.close()

    attacks = [one for one in report.attacks if one.place is Place.CONTROL]
    assert [one for one in attacks if not one.is_repelled] == []
    assert len(attacks) > 40


async def _never() -> None:
    raise AssertionError("nobody ends the service")


def _ignore(_holders: int) -> None:
    pass
