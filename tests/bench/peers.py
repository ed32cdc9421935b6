"""What stands between clients and the stub engine in the gateway's benchmark, each a process.

Ours; nginx as the bound of what a proxy can do; LiteLLM as what people use in Python. The last two
are left out where they are not installed: `apt-get install nginx-light`; LiteLLM in an environment
of its own (`python -m venv DIR && DIR/bin/pip install 'litellm[proxy]'`), WEIR_BENCH_LITELLM=DIR.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.bench.load import Side

LITELLM = Path(
    os.environ.get("WEIR_BENCH_LITELLM", "~/.cache/weir-studio-tests/litellm")
).expanduser()
_MASTER_KEY = "sk-bench"
_START_S = 120.0

_NGINX = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log stderr crit;
worker_processes auto;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 1000000;
  upstream engine {{ server unix:{socket}; keepalive 1024; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://engine;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }}
  }}
}}
"""

_LITELLM = """
model_list:
  - model_name: stub
    litellm_params:
      model: openai/stub
      api_base: http://127.0.0.1:{port}/v1
      api_key: boot
general_settings:
  master_key: {key}
"""


@contextlib.contextmanager
def child(
    argv: list[str], *, reads_line: bool = True, env: dict[str, str] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Run a process until the block ends; gives its number and the words of its first line."""
    process = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE if reads_line else subprocess.DEVNULL,
        stderr=None if reads_line else subprocess.DEVNULL,
        text=True,
        env=env,
    )
    try:
        words = process.stdout.readline().split() if process.stdout is not None else []
        yield process.pid, words
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def sides(folder: Path, *, names: tuple[str, ...]) -> Iterator[list[Side]]:
    """Run stub and peers; gives the ways to the engine, the direct one first."""
    socket_path = folder / "engine.sock"
    python = sys.executable
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        _, stub = enter(child([python, "-m", "tests.bench.stub_engine", str(socket_path)]))
        made = [Side("direct", int(stub[0]), None)]
        argv = [python, "-m", "tests.bench.bench_gateway"]
        argv += ["--gateway", str(socket_path), str(folder / "keys.db")]
        pid, words = enter(child(argv))
        made.append(Side("gateway", int(words[0]), words[1], [pid]))
        if "nginx" in names and shutil.which("nginx") is not None:
            made.append(enter(_nginx(folder, socket_path)))
        if "litellm" in names and (LITELLM / "bin/litellm").exists():
            made.append(enter(_litellm(folder, int(stub[0]))))
        yield made


@contextlib.contextmanager
def _nginx(folder: Path, socket_path: Path) -> Iterator[Side]:
    port = _free_port()
    config = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""  # or its workers cannot reach the socket
    text = _NGINX.format(folder=folder, socket=socket_path, port=port, user=user)
    config.write_text(text, encoding="utf-8")
    with child(["nginx", "-c", str(config)], reads_line=False) as (pid, _):
        _wait(port)
        yield Side("nginx", port, None, [pid, *_children(pid)])


@contextlib.contextmanager
def _litellm(folder: Path, engine_port: int) -> Iterator[Side]:
    port = _free_port()
    config = folder / "litellm.yaml"
    config.write_text(_LITELLM.format(port=engine_port, key=_MASTER_KEY), encoding="utf-8")
    argv = [str(LITELLM / "bin/litellm"), "--config", str(config)]
    argv += ["--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
    env = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
    env["PYTHONPATH"] = ""
    with child(argv, reads_line=False, env=env) as (pid, _):
        _wait(port, "/health/liveliness")
        yield Side("LiteLLM", port, _MASTER_KEY, [pid, *_children(pid)])


def memory_mb(pids: list[int]) -> float:
    """Return what processes hold, pages that they share counted once between them, in MB."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total * 1024 / 1e6


def cpu_s(pids: list[int]) -> float:
    """Return the processor time that processes have used."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(one) for one in text.split()]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(port: int, path: str | None = None) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if path is None:
                socket.create_connection(("127.0.0.1", port), 1).close()
            else:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2).close()
            return
        time.sleep(0.1)
    raise SystemExit(f"nothing listens on port {port}")
