"""`weir adopt` with the real service and an engine that was started without it."""

import os
import signal
from pathlib import Path

import httpx
import psutil
import pytest

from tests.conftest import Serving, engine_of
from tests.fakes.running import KEY, fake
from tests.fakes.waiting import is_alive, until
from tests.fakes.weir import Weir, fake_weir

QUESTION = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}


def ask(base_url: str, key: str) -> httpx.Response:
    """Ask the gateway a question."""
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.post(
        f"{base_url}/chat/completions", json=QUESTION, headers=headers, timeout=60, trust_env=False
    )


def adopt(weir: Weir, tmp_path: Path, url: str, key: str) -> dict[str, str]:
    """Adopt the engine at `url`."""
    file = tmp_path / "key"
    file.write_text(f"{key}\n")
    document: dict[str, str] = weir.json("adopt", url, "--key-file", str(file), "--name", "Bob's")
    return document


def test_an_adopted_engine_serves_and_outlives_everything_of_ours(
    weir: Weir, tmp_path: Path
) -> None:
    """Its key stands in no command line, and a killed service takes it up again."""
    with fake(served_name="theirs") as engine:
        result = adopt(weir, tmp_path, f"unix:{engine.engine.path}", KEY)

        assert ask(result["base_url"], result["api_key"]).status_code == 200
        shown = weir.run("status").stdout
        assert "Adopted: Bob's" in shown
        assert "theirs" in shown
        stopped = weir.run("stop")
        assert stopped.returncode == 5
        assert "weir adopt --forget" in stopped.stderr
        assert weir.run("up", "--detach").returncode == 5
        commands = [psutil.Process(row["pid"]).cmdline() for row in weir.json("ps")]
        assert KEY not in str(commands)
        assert KEY not in (weir.paths.logs / "service.log").read_text()

        os.kill(weir.service_pid(), signal.SIGKILL)
        (weir.paths.service / "service.json").unlink()
        weir.begin_service()
        until(lambda: weir.engine_state() == "adopted", "the adopted engine")
        assert ask(result["base_url"], result["api_key"]).status_code == 200

        assert weir.run("down").returncode == 0
        assert is_alive(engine.process.pid)
        assert "is let go of" in weir.run("adopt", "--forget").stdout
        assert weir.run("adopt").returncode == 3


def test_its_death_is_shown_and_the_way_on_is_one_command(weir: Weir, tmp_path: Path) -> None:
    """Nothing of ours restarts it; what to do is said."""
    with fake() as engine:
        adopt(weir, tmp_path, f"unix:{engine.engine.path}", KEY)
        os.killpg(engine.process.pid, signal.SIGKILL)

        until(lambda: weir.engine_state() == "gone", "its loss")

        shown = weir.run("status").stdout
        assert "Adopted, and gone: Bob's" in shown
        assert "adopt-unreachable" in shown
    assert weir.run("adopt", "--forget").returncode == 0
    assert weir.json("up", "--detach")["preset"]


@pytest.mark.real
def test_a_real_vllm_is_adopted(serving: Serving, tmp_path: Path) -> None:
    """The engine of another home stands for one that somebody started by hand."""
    engine = engine_of(serving)
    with fake_weir(tmp_path) as weir:
        result = adopt(weir, tmp_path, f"unix:{engine.socket}", engine.key)

        assert result["served_name"] == engine.served_name
        assert result["adopted"]["version"].startswith("0.")
        assert result["pool_tokens"]
        assert ask(result["base_url"], result["api_key"]).status_code == 200
        until(
            lambda: (weir.told()["tick"] or {}).get("pool_tokens") is not None,
            "the pool in the monitor",
        )
        assert weir.run("down").returncode == 0
