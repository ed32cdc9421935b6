"""`weir` over the fake service, as a program of its own: for signals, pipes and terminals.

Arguments: a scenario, then the command line.
"""

import os
import sys

from studio.cli.main import run
from studio.domain.control import PresetInfo
from studio.domain.errors import NeedsConsent, PortTaken
from studio.domain.metrics import LogLine
from tests.cli.fake_service import FakeConnector, FakeService, ticked
from tests.cli.serving_samples import ready


def _show_tick(service: FakeService) -> None:
    service.announce(ticked())


def build(scenario: str) -> FakeConnector:
    """Return the connector of a scenario."""
    service = FakeService(late=_show_tick)
    service.lines = [
        LogLine(seq=n, at=0.0, source="engine", level="info", text=f"line {n} " + "x" * 80)
        for n in range(5000)
    ]
    connector = FakeConnector(service=service, is_running=False)
    match scenario:
        case "fresh":
            pass
        case "serving":
            connector.is_running, service.engine = True, ready()
        case "ticking":
            connector.is_running, service.engine, service.ticks = True, ready(), True
        case "idle":
            connector.is_running = True
        case "pipe-closes":
            connector.is_running = True
            reading, writing = os.pipe()
            os.close(reading)
            os.dup2(writing, sys.stdout.fileno())
        case "down-hangs":
            service.down_hangs = True
        case "boot-hangs":
            service.up_hangs = True
        case "consent":
            service.up_errors = [
                NeedsConsent(
                    "large-download",
                    "Preset `big` needs a large download.",
                    data={"what": "big", "download_bytes": 5 << 30, "disk_bytes": 9 << 30},
                )
            ]
        case "port":
            service.up_errors = [
                PortTaken(
                    "port-taken",
                    "Port 18020 is taken.",
                    data={"port": 18020, "owner": "jupyter (process 77)", "free_port": 18021},
                )
            ]
        case _:
            raise SystemExit(f"no scenario {scenario}")
    service.presets = [
        PresetInfo(
            id="演示",
            title="聊天，小模型",
            expert="SmolLM2 135M · float32 – CPU",
            summary="",
            runtime="cpu-vllm-0.32.0",
            model="smollm2",
            licence="Apache-2.0",
            origin="wheel",
            usable=True,
            download_bytes=0,
        )
    ]
    return connector


if __name__ == "__main__":
    connector = build(sys.argv[1])
    status = run(sys.argv[2:], connector)
    sys.stderr.write(f"calls: {', '.join(connector.service.calls)}\n")
    raise SystemExit(status)
