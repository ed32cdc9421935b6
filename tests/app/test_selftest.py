"""The self-test as the service runs it: the twin always, the open address where there is one."""

from pathlib import Path

import pytest

from studio.app.selftest import Selftest
from studio.domain.control import GatewayInfo
from studio.domain.gateway import GatewayChange
from studio.domain.selftest import Place
from tests.app.running import fake_paths, running


async def test_without_an_open_address_the_twin_alone_is_attacked() -> None:
    """It works before anything was installed."""
    report = await Selftest(GatewayInfo).run()

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
