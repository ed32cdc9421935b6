"""This machine, or one from a file."""

from pathlib import Path

import pytest

from studio.app.machine import Machine, in_words
from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.control import launcher
from studio.control.router import Router
from studio.domain.control import UpRequest
from studio.domain.errors import BadInput
from studio.host import hosts
from tests.app.running import fake_paths


async def test_this_machine_is_looked_at_anew_each_time(tmp_path: Path) -> None:
    """Cards are pulled out, memory fills up."""
    with fake_paths(tmp_path) as paths:
        machine = Machine(paths)
        assert machine.last is None

        first = await machine.look()
        second = await machine.look()

    assert first is not second
    assert machine.last is second
    machine.require_real()


async def test_a_replayed_host_is_what_the_file_says(tmp_path: Path) -> None:
    """And nothing is started on it."""
    with fake_paths(tmp_path) as paths:
        file = hosts.load("v100-32x4-linux", paths)
        studio = Studio(Parts(paths), file)

        assert await studio.host() == file.host
        assert studio.status().host == file.host
        with pytest.raises(BadInput) as caught:
            await studio.up(UpRequest())

    assert caught.value.code == "host-replayed"


async def test_verdicts_are_those_of_the_replayed_host(tmp_path: Path) -> None:
    """`weir presets --host` and `weir runtime list --host`."""
    with fake_paths(tmp_path) as paths:
        studio = Studio(Parts(paths), hosts.load("v100-32x4-linux", paths))
        client = launcher.in_process(Router(studio, down=studio.close), studio.close)
        (preset,) = await client.presets()
        listed = await client.runtimes()
        host = await client.host()
        await client.close()

    assert preset.usable
    assert listed.runtimes[0].usable
    assert host.gpus[3].name == "Tesla V100-SXM2-32GB"


def test_cards_go_before_the_processor_in_words(tmp_path: Path) -> None:
    """The first line of every start."""
    with fake_paths(tmp_path) as paths:
        assert in_words(hosts.load("rtx3090-linux", paths).host) == "NVIDIA GeForce RTX 3090"
        assert in_words(hosts.load("none-linux", paths).host).endswith("no NVIDIA card")
