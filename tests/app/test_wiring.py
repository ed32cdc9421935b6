"""The composition: parts find one another through it, and through nothing else."""

import asyncio
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from studio.app.wiring import Parts
from studio.domain.control import UpRequest
from studio.domain.errors import BadInput, ErrorInfo, NotFound
from studio.monitor import prometheus
from studio.serving import diagnose
from tests.app.running import fake_paths, running
from tests.fakes.waiting import until_async


async def test_nothing_is_written_by_composing(tmp_path: Path) -> None:
    """`weir presets` composes the same parts, on machines where nothing is installed."""
    with fake_paths(tmp_path) as paths:
        before = sorted(paths.home.rglob("*"))
        Parts(paths)

        assert sorted(paths.home.rglob("*")) == before


async def test_without_an_engine_there_are_no_metrics_and_no_target(tmp_path: Path) -> None:
    """The gateway says 503 and the monitor says unknown."""
    with fake_paths(tmp_path) as paths:
        async with running(paths) as made:
            tick = await made.parts.sampler.tick()

            assert tick.pool_tokens is None
            assert tick.engine_rss_bytes is None
            assert made.parts.supervisor.target is None


async def test_gateway_and_monitor_reach_the_engine_of_the_moment(tmp_path: Path) -> None:
    """After a restart both talk to the new process, with the new key."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with asyncio.timeout(60), running(paths) as made:
            for _ in range(2):
                await made.studio.up(UpRequest())
                target = made.parts.supervisor.target
                assert target is not None
                tick = await made.parts.sampler.tick()
                authorization = (b"authorization", f"Bearer {target.key}".encode())
                _, _, body = await target.upstream.fetch(
                    "GET", "/metrics", headers=[authorization], timeout_s=5
                )

                sample = prometheus.parse(body.decode())
                assert tick.pool_tokens == sample.pool_tokens == 23_296
                assert tick.engine_rss_bytes is not None
                await made.studio.stop()
                assert (await made.parts.sampler.tick()).pool_tokens is None


async def test_a_broken_file_of_signatures_is_named(tmp_path: Path) -> None:
    """It is data that people edit."""
    with fake_paths(tmp_path) as paths:
        file = paths.catalogue / "runtimes" / "failures.toml"
        file.write_text("schema_version = 1\n[[signature]]\nid = 3\n")

        with pytest.raises(BadInput, match=r"failures\.toml"):
            Parts(paths)


async def test_an_expression_that_is_none_costs_the_cause_and_not_the_restart(
    tmp_path: Path,
) -> None:
    """It is found when a cause is first looked for: then the engine has just died."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        file = paths.catalogue / "runtimes" / "failures.toml"
        entry = '[[signature]]\nid = "not-one"\npatterns = ["(open"]\ncause = ["Nothing."]\n'
        file.write_text(f"schema_version = 2\n{entry}")
        async with asyncio.timeout(60), running(paths) as made:
            await made.studio.up(UpRequest())
            os.kill(made.studio.engine().pid or 0, signal.SIGKILL)
            await until_async(lambda: made.studio.engine().restarts == 1, "the next engine")
            said = [line.text for line in made.parts.log.tail(10_000)]

    assert any("cause cannot be looked up" in line and "not-one" in line for line in said)


async def test_a_catalogue_that_is_not_there_is_named(tmp_path: Path) -> None:
    """WEIR_CATALOGUE with a typing error."""
    with fake_paths(tmp_path) as paths:
        shutil.rmtree(paths.catalogue)

        with pytest.raises(NotFound) as caught:
            Parts(paths)

    assert str(paths.catalogue) in caught.value.message


async def test_causes_are_looked_for_off_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long log takes a tenth of a second, and every token of every client passes through it."""
    looked_in: list[threading.Thread] = []
    found = diagnose.diagnose

    def look(*what: Any) -> ErrorInfo | None:
        looked_in.append(threading.current_thread())
        return found(*what)

    monkeypatch.setattr(diagnose, "diagnose", look)
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with asyncio.timeout(60), running(paths) as made:
            await made.studio.up(UpRequest())
            pid = made.studio.engine().pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            await until_async(lambda: made.studio.engine().restarts == 1, "the next engine")

    assert looked_in
    assert threading.main_thread() not in looked_in
