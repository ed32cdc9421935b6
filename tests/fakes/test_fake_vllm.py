"""The fake engine lives and dies like the real one; what is asserted here was seen there."""

import http.client
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio.monitor import prometheus
from studio.serving import diagnose, phases
from tests.fakes import running
from tests.fakes.running import Running, fake
from tests.fakes.waiting import BUSY_TRIES, LIMIT_S, until

SIGNATURES = diagnose.load(Path(__file__).resolve().parents[2] / "runtimes" / "failures.toml")
CHAT = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}


def cause(engine: Running, status: int | None) -> str | None:
    """Return the diagnosis of what the engine printed."""
    error = diagnose.diagnose(engine.lines, status, SIGNATURES)
    return None if error is None else error.code


def test_a_boot_has_every_phase_and_the_pool_that_was_asked_for() -> None:
    """The supervisor's boot is tested on this log, so it must say what ours would say."""
    flags = ("--max-model-len", "4096", "--kv-cache-memory-bytes", str(2 << 30))
    with fake(*flags) as engine:
        signs = [sign for line in engine.lines if (sign := phases.read(line))]
        sample = prometheus.parse(engine.engine.call("GET", "/metrics").body.decode())

    ledgers = [sign.facts for sign in signs if sign.is_ledger]
    prose = [sign.facts for sign in signs if not sign.is_ledger]
    facts = {name: value for found in prose for name, value in found.items()}
    seen = [sign.phase for sign in signs if sign.phase is not None]
    assert seen == sorted(seen, key=phases.ORDER.index)
    assert len(set(seen)) == 6
    assert facts["pool_tokens"] == 46_592  # what the real one printed for these flags
    assert facts["max_model_len"] == 4096
    assert facts["max_concurrency"] == 11.38
    assert [found["pool_tokens"] for found in ledgers] == [46_592]
    assert sample.pool_tokens == 46_592


def test_processes_have_the_real_ones_shape_and_names() -> None:
    """`weir ps` and the sweep for orphans look at exactly this."""
    with fake() as engine:
        group = engine.group()
        lines = {
            name: Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0")
            for pid, name in group.items()
        }
        sessions = {os.getsid(pid) for pid in group}

    assert sorted(group.values()) == ["VLLM::EngineCor", "VLLM::Worker", "vllm"]
    assert lines["VLLM::EngineCor"] == b"VLLM::EngineCore"
    assert lines["VLLM::Worker"] == b"VLLM::Worker"
    assert b"serve" in lines["vllm"]
    assert sessions == {engine.process.pid}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_with_status_0(number: int) -> None:
    """And nothing of it stays."""
    with fake() as engine:
        engine.process.send_signal(number)

        assert engine.wait() == 0
        until(lambda: engine.group() == {}, "the end of all its processes")
        assert cause(engine, 0) is None


def test_a_stop_aborts_running_streams() -> None:
    """Each client gets a whole stream that says `abort`."""
    with fake(tokens_per_s=50) as engine:
        connection = engine.engine.connect()
        body = {**CHAT, "stream": True, "max_tokens": 1000, "ignore_eos": True}
        stream = engine.engine.begin(connection, "POST", "/v1/chat/completions", body)
        assert stream.readline().startswith(b"data: ")

        engine.process.terminate()
        rest = stream.read()
        connection.close()

        assert b'"finish_reason":"abort"' in rest
        assert rest.endswith(b"data: [DONE]\n\n")
        assert engine.wait() == 0


def test_a_stop_with_a_timeout_lets_running_streams_end() -> None:
    """`--shutdown-timeout` drains."""
    with fake("--shutdown-timeout", "20", tokens_per_s=100) as engine:
        connection = engine.engine.connect()
        body = {**CHAT, "stream": True, "max_tokens": 30, "ignore_eos": True}
        stream = engine.engine.begin(connection, "POST", "/v1/chat/completions", body)
        assert stream.readline().startswith(b"data: ")

        engine.process.terminate()
        rest = stream.read()
        connection.close()

        assert b'"finish_reason":"length"' in rest
        assert engine.wait() == 0
        assert any("mode=drain" in line for line in engine.lines)


def test_sigterm_during_the_boot_is_lost() -> None:
    """As seen four times of four with 0.32.0, from its arguments to its weights.

    A supervisor that waits for a clean end of a booting engine waits for its whole boot.
    """
    with fake(boot_s=0.5, waits=False) as engine:
        engine.read_until("non-default args")
        engine.process.terminate()
        engine.read_until("Application startup complete.")

        assert engine.engine.call("GET", "/health").status == 200


def test_sigkill_of_the_api_server_leaves_core_and_worker_behind() -> None:
    """The real ones hold 2 GB then; only a sweep of the group ends them."""
    with fake() as engine:
        engine.process.kill()
        assert engine.process.wait(running.DEADLINE_S) == -signal.SIGKILL

        assert sorted(engine.group().values()) == ["VLLM::EngineCor", "VLLM::Worker"]
        with pytest.raises(ConnectionRefusedError):
            engine.engine.call("GET", "/health")
        os.killpg(engine.process.pid, signal.SIGKILL)
        until(lambda: engine.group() == {}, "the end of all its processes")


@pytest.mark.parametrize(
    ("name", "code"), [("VLLM::EngineCor", "engine-core-died"), ("VLLM::Worker", "worker-killed")]
)
def test_a_killed_child_ends_it_with_status_0_and_a_log_that_says_so(name: str, code: str) -> None:
    """The exit status says nothing; the log does. Streams end with an error event."""
    with fake(tokens_per_s=20) as engine:
        connection = engine.engine.connect()
        body = {**CHAT, "stream": True, "max_tokens": 1000, "ignore_eos": True}
        stream = engine.engine.begin(connection, "POST", "/v1/chat/completions", body)
        assert stream.readline().startswith(b"data: ")

        [victim] = [pid for pid, process in engine.group().items() if process == name]
        os.kill(victim, signal.SIGKILL)
        rest = stream.read()
        connection.close()

        assert b'data: {"error": {"message": "EngineCore encountered an issue.' in rest
        assert rest.endswith(b"data: [DONE]\n\n")
        assert engine.wait() == 0
        assert cause(engine, 0) == code
        until(lambda: engine.group() == {}, "the end of all its processes")


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ("refuse-kv", 1, "kv-cache-too-small"),
        ("port-in-use", 1, "engine-port-in-use"),
        ("die-in-boot", 1, "host-memory-exhausted"),
    ],
)
def test_boots_fail_as_they_were_recorded(fault: str, status: int, code: str) -> None:
    """Status and log of a boot that never came up."""
    with fake(fault=fault, waits=False) as engine:
        assert engine.wait() == status
        assert cause(engine, status) == code
        until(lambda: engine.group() == {}, "the end of all its processes")


def test_a_context_that_does_not_fit_the_pool_is_refused_with_the_true_estimate() -> None:
    """Without any fault: the arithmetic is the real engine's."""
    flags = ("--max-model-len", "8192", "--kv-cache-memory-bytes", str(64 << 20))
    with fake(*flags, waits=False) as engine:
        assert engine.wait() == 1

    error = diagnose.diagnose(engine.lines, 1, SIGNATURES)
    assert error is not None
    assert error.code == "kv-cache-too-small"
    assert error.data["max_model_len"] == 8192
    assert error.data["fitting_model_len"] == (64 << 20) // 46_080 // 128 * 128


def test_a_taken_address_and_a_missing_model_are_refused(tmp_path: Path) -> None:
    """Also without a fault."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            [sys.executable, str(running.FAKE), "serve", str(tmp_path), "--host", "127.0.0.1",
             "--port", str(taken.getsockname()[1])],
            env={"FAKE_VLLM_BOOT_S": "0.01"}, capture_output=True, check=False, text=True,
        )  # fmt: skip
    assert done.returncode == 1
    assert "OSError: [Errno 98] Address already in use" in done.stderr

    with fake(model=str(tmp_path / "没有 model"), waits=False) as engine:
        assert engine.wait() == 1
        assert cause(engine, 1) == "model-missing"


def test_a_boot_can_hang_and_be_killed() -> None:
    """For the deadline of the supervisor."""
    with fake(fault="hang-in-boot", waits=False) as engine:
        engine.read_until("Using max model len")
        assert engine.process.poll() is None
        assert not any("startup complete" in line for line in engine.lines)


def test_a_boot_takes_the_time_that_was_asked_for() -> None:
    """Progress bars and forecasts are tested on slow boots."""
    started = time.monotonic()
    with fake(fault="slow-boot=0.6"):
        assert time.monotonic() - started >= 0.6


def test_an_engine_can_be_healthy_and_die_of_its_first_request() -> None:
    """Why readiness is a generated token and not `/health`."""
    with fake(fault="die-on-first-request") as engine:
        assert engine.engine.call("GET", "/health").status == 200

        answer = engine.engine.call("POST", "/v1/chat/completions", CHAT)

        assert answer.status == 500
        assert engine.wait() == 0
        assert cause(engine, 0) == "hybrid-needs-bfloat16"


def test_an_engine_can_die_after_a_while() -> None:
    """Nobody asks it anything."""
    with fake(fault="die-after=0.05") as engine:
        assert engine.wait() == 0
        assert cause(engine, 0) == "engine-core-died"


def test_a_stalled_engine_is_healthy_and_answers_nothing() -> None:
    """Counters stand still while a request runs."""
    with fake(fault="stall") as engine:
        connection = engine.engine.connect()
        body = {**CHAT, "stream": True}
        stream = engine.engine.begin(connection, "POST", "/v1/chat/completions", body)
        assert stream.readline().startswith(b"data: ")

        sample = prometheus.parse(engine.engine.call("GET", "/metrics").body.decode())

        assert engine.engine.call("GET", "/health").status == 200
        assert sample.running == 1
        assert sample.generation_tokens_total == 0
        assert sample.pool_used_share
        connection.close()


def test_an_engine_can_ignore_sigterm() -> None:
    """Only SIGKILL of the group helps."""
    with fake(fault="ignore-sigterm") as engine:
        for pid in engine.group():
            os.kill(pid, signal.SIGTERM)

        assert engine.engine.call("GET", "/health").status == 200
        assert len(engine.group()) == 3


def test_a_stop_can_hang_on_clients_that_stay() -> None:
    """As seen with 0.32.0: EngineCore was killed before it had aborted six streams."""
    with fake(fault="hang-on-stop", tokens_per_s=50) as engine:
        connection = engine.engine.connect()
        body = {**CHAT, "stream": True, "max_tokens": 1000, "ignore_eos": True}
        stream = engine.engine.begin(connection, "POST", "/v1/chat/completions", body)
        assert stream.readline().startswith(b"data: ")

        engine.process.terminate()
        engine.read_until("shutting down FastAPI HTTP server")

        assert engine.process.poll() is None
        connection.close()


def test_an_engine_can_flood_its_log() -> None:
    """20,000 lines a second here; the keeper of logs must not lose the tail."""
    with fake(fault="spew=20000") as engine:
        started = time.monotonic()
        engine.read_until("line number 4000")
        assert time.monotonic() - started < LIMIT_S


def test_tokens_come_at_the_pace_that_was_asked_for() -> None:
    """The gateway's and the monitor's rates are checked against it.

    Never faster; slower only while the machine is busy, so a second try may be in time.
    """
    with fake(tokens_per_s=100) as engine:
        body = {**CHAT, "max_tokens": 40, "ignore_eos": True}
        taken_s: list[float] = []
        while not taken_s or (min(taken_s) >= 1.5 and len(taken_s) < BUSY_TRIES):
            started = time.monotonic()
            assert engine.engine.call("POST", "/v1/chat/completions", body).status == 200
            taken_s.append(time.monotonic() - started)
        sample = prometheus.parse(engine.engine.call("GET", "/metrics").body.decode())

    assert 0.4 <= min(taken_s) < 1.5
    assert sample.generation_tokens_total == 40 * len(taken_s)
    assert sample.requests_finished_total == len(taken_s)
    assert sample.ttft_count == len(taken_s)
    assert sample.itl_count == 39 * len(taken_s)


def test_bytes_that_are_no_http_get_400_and_do_no_harm() -> None:
    """The engine listens for others after that."""
    with fake() as engine, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        assert engine.engine.path is not None
        client.connect(engine.engine.path)
        client.sendall(b"\x16\x03\x01nonsense\r\n\r\n")

        assert client.recv(100).startswith(b"HTTP/1.1 400 Bad Request")
        assert engine.engine.call("GET", "/health").status == 200


def test_it_starts_in_a_fraction_of_a_second() -> None:
    """Goal: 0.15 s on a quiet machine; hundreds of tests start one.

    Counted is the processor's time, which others on the machine hardly change.
    """
    spent_s: list[float] = []
    while not spent_s or (min(spent_s) >= 0.6 and len(spent_s) < BUSY_TRIES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with fake(boot_s=0.001):
            pass
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    assert 0 < min(spent_s) < 0.6


@pytest.mark.parametrize(
    ("path", "body", "end"),
    [
        ("/v1/completions", {"prompt": "Once"}, b"data: [DONE]\n\n"),
        ("/v1/messages", {"model": "smollm2", **CHAT}, b'"type":"internal_error"'),
    ],
)
def test_a_dying_engine_says_so_in_each_dialect(
    path: str, body: dict[str, object], end: bytes
) -> None:
    """The gateway must tell such an end from a good one."""
    with fake(tokens_per_s=20) as engine:
        connection = engine.engine.connect()
        body = {**body, "stream": True, "max_tokens": 1000, "ignore_eos": True}
        stream = engine.engine.begin(connection, "POST", path, body)
        assert stream.readline()

        [core] = [pid for pid, name in engine.group().items() if name == "VLLM::EngineCor"]
        os.kill(core, signal.SIGKILL)
        rest = stream.read()
        connection.close()

    assert end in rest


def test_a_dying_engine_cuts_a_response_off() -> None:
    """`/v1/responses` has no last words; the stream just breaks."""
    with fake(tokens_per_s=20) as engine:
        connection = engine.engine.connect()
        body = {"input": "Once", "stream": True, "ignore_eos": True}
        stream = engine.engine.begin(connection, "POST", "/v1/responses", body)
        assert stream.readline()

        [core] = [pid for pid, name in engine.group().items() if name == "VLLM::EngineCor"]
        os.kill(core, signal.SIGKILL)
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            stream.read()
        connection.close()


def test_all_dialects_fill_the_pool_and_leave_it() -> None:
    """Requests that do not fit wait; when all have ended, nothing is in use."""
    flags = ("--max-model-len", "512", "--kv-cache-memory-bytes", str(46_080 * 640))
    with fake(*flags, tokens_per_s=50) as engine:
        body = {"prompt": "word " * 200, "stream": True, "max_tokens": 100, "ignore_eos": True}
        connections = [engine.engine.connect() for _ in range(4)]
        streams = [
            engine.engine.begin(connection, "POST", "/v1/completions", body)
            for connection in connections
        ]
        sample = prometheus.parse(engine.engine.call("GET", "/metrics").body.decode())
        assert sample.pool_tokens == 640
        assert sample.running == 2
        assert sample.waiting == 2
        assert sample.pool_used_share is not None
        assert 0.5 < sample.pool_used_share <= 1
        for stream, connection in zip(streams[:2], connections[:2], strict=True):
            stream.close()
            connection.close()

        for stream in streams[2:]:
            assert stream.read().endswith(b"data: [DONE]\n\n")
        for connection in connections:
            connection.close()
        after = prometheus.parse(engine.engine.call("GET", "/metrics").body.decode())

    assert after.pool_used_share == 0
    assert after.running == after.waiting == 0
    assert after.requests_finished_total == 2
