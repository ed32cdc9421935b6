"""On demand with the real service and commands: cold, killed in the middle, and stopped."""

import contextlib
import os
import signal
import socket
import threading

import httpx

from tests.app.demand_support import OTHER, add_other
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import LIMIT_S, until
from tests.fakes.weir import Weir

QUESTION = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}


def ask(weir: Weir, key: str, model: str) -> httpx.Response:
    """Ask the gateway a question."""
    return httpx.post(
        f"http://127.0.0.1:{weir.port}/v1/chat/completions",
        json={**QUESTION, "model": model},
        headers={"Authorization": f"Bearer {key}"},
        timeout=LIMIT_S,
        trust_env=False,
    )


def is_open(weir: Weir) -> bool:
    """Tell whether the gateway listens."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", weir.port), 1):
        return True
    return False


def test_a_cold_service_serves_two_models_in_turn(weir: Weir) -> None:
    """Listed before the service was there; its gateway opens by itself."""
    add_other(weir.paths.catalogue)
    weir.json("gateway", "on-demand", PRESET)
    weir.json("gateway", "on-demand", OTHER, "--residence", "0")
    key = weir.run("keys", "create", "client").stdout.strip()
    weir.begin_service()
    until(lambda: is_open(weir), "the gateway")

    first = ask(weir, key, PRESET)
    second = ask(weir, key, OTHER)

    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json()["model"] == "other-model"
    leaders = [row for row in weir.json("ps") if row["role"] == "engine"]
    assert len(leaders) == 1
    assert "stops in" in weir.run("status").stdout
    assert weir.run("stop").returncode == 0
    assert ask(weir, key, PRESET).status_code == 503
    assert "held" in weir.run("status").stdout
    weir.run("down")


def test_a_service_that_is_killed_while_somebody_waits_leaves_nothing(weir: Weir) -> None:
    """The client sees a cut connection, and the next service starts anew."""
    weir.json("gateway", "on-demand", PRESET, "--set", "boot_s=30")
    key = weir.run("keys", "create", "client").stdout.strip()
    weir.begin_service()
    until(lambda: is_open(weir), "the gateway")
    seen: list[BaseException] = []

    def wait() -> None:
        try:
            ask(weir, key, PRESET)
        except httpx.HTTPError as error:
            seen.append(error)

    client = threading.Thread(target=wait)
    client.start()
    until(lambda: bool(weir.engine_pids()), "the boot")

    os.kill(weir.service_pid(), signal.SIGKILL)

    client.join(LIMIT_S)
    until(lambda: not weir.engine_pids(), "the end of all")
    assert len(seen) == 1
    weir.json("gateway", "on-demand", PRESET, "--set", "boot_s=0.1")
    weir.begin_service()
    until(lambda: is_open(weir), "the gateway")
    assert ask(weir, key, PRESET).status_code == 200
    weir.run("down")
