"""What `weir up` adds to the engine's own boot, with everything installed.

    python -m tests.bench.bench_up [--home FOLDER] [--rounds N]

Each round measures two things in turn, on the same runtime, model and flags: the bare engine (the
command of `weir ps`, started by hand, until it generated one token) and `weir up --detach` from
the start of the command to its end, service start included.
"""

import argparse
import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

WEIR = [sys.executable, "-m", "studio"]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, default=None)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # people's machines keep bytecode
    if options.home is not None:
        environment["WEIR_HOME"] = str(options.home)
    warm = up(environment)  # the first run fills caches and shows the command
    command, settings = engine_command(environment, warm)
    down(environment)
    rows = []
    for _ in range(options.rounds):
        bare_s = bare_boot(command, settings)
        started = time.perf_counter()
        result = up(environment)
        total_s = time.perf_counter() - started
        down(environment)
        rows.append((bare_s, float(str(result["boot_s"])), total_s))
    report(rows)
    report_forecasts(environment, options.rounds)


def up(environment: dict[str, str]) -> dict[str, object]:
    """Run `weir up --detach --json`."""
    done = subprocess.run(
        [*WEIR, "up", "--detach", "--json"], env=environment, check=True, stdout=subprocess.PIPE
    )
    return dict(json.loads(done.stdout))


def down(environment: dict[str, str]) -> None:
    """End engine and service."""
    subprocess.run([*WEIR, "down"], env=environment, check=True, stdout=subprocess.DEVNULL)


def engine_command(
    environment: dict[str, str], _result: dict[str, object]
) -> tuple[list[str], dict[str, str]]:
    """Return argv and environment of the engine that runs now."""
    done = subprocess.run(
        [*WEIR, "ps", "--json"], env=environment, check=True, stdout=subprocess.PIPE
    )
    engine = next(row for row in json.loads(done.stdout) if row["role"] == "engine")
    raw = Path(f"/proc/{engine['pid']}/environ").read_bytes().split(b"\0")
    settings = dict(part.decode().split("=", 1) for part in raw if b"=" in part)
    argv = Path(f"/proc/{engine['pid']}/cmdline").read_bytes().split(b"\0")
    return [part.decode() for part in argv if part], settings


def bare_boot(command: list[str], settings: dict[str, str]) -> float:
    """Start the engine by hand; return the seconds to its first token."""
    with tempfile.TemporaryDirectory() as folder:
        socket = str(Path(folder) / "engine.sock")
        argv = [*command]
        argv[argv.index("--uds") + 1] = socket
        started = time.perf_counter()
        with (Path(folder) / "log").open("wb") as log:
            engine = subprocess.Popen(
                argv, env=settings, stdout=log, stderr=log, start_new_session=True
            )
        try:
            name = argv[argv.index("--served-model-name") + 1]
            wait_for_token(socket, name, settings["VLLM_API_KEY"])
            return time.perf_counter() - started
        finally:
            engine.terminate()
            engine.wait()


def wait_for_token(socket: str, name: str, key: str) -> None:
    """Poll until a completion of one token succeeds."""
    body = {"model": name, "prompt": "1, 2, 3,", "max_tokens": 1, "temperature": 0}
    transport = httpx.HTTPTransport(uds=socket)
    with httpx.Client(transport=transport, base_url="http://engine", timeout=60) as client:
        while True:
            try:
                headers = {"Authorization": f"Bearer {key}"}
                if client.post("/v1/completions", json=body, headers=headers).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.01)


def report_forecasts(environment: dict[str, str], rounds: int) -> None:
    """Print how far the forecasts were off: of the whole before it began, by `weir boots`."""
    done = subprocess.run(
        [*WEIR, "boots", "-n", str(rounds + 1), "--json"],
        env=environment, check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    print("\n| boot | cold | forecast, s | took, s | error |")
    print("|---|---|---|---|---|")
    for number, boot in enumerate(json.loads(done.stdout)["boots"]):
        forecast, took = boot["forecast_s"], boot["boot_s"]
        error = "–" if forecast is None else f"{(forecast - took) / took:+.0%}"
        print(f"| {number} | {boot['is_cold']} | {forecast or '–'} | {took:.1f} | {error} |")


def report(rows: list[tuple[float, float, float]]) -> None:
    """Print the rounds and the medians."""
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {today}\n")
    print("| round | bare engine, s | engine under weir, s | `weir up`, s | over own boot, s |")
    print("|---|---|---|---|---|")
    for number, (bare, boot, total) in enumerate(rows, 1):
        print(f"| {number} | {bare:.2f} | {boot:.2f} | {total:.2f} | {total - boot:.2f} |")
    bare, boot, total = (statistics.median(column) for column in zip(*rows, strict=True))
    print(f"| median | {bare:.2f} | {boot:.2f} | {total:.2f} | {total - boot:.2f} |")
    print(f"\n{shlex.join(WEIR)} up adds {total - boot:.2f} s (median) to the engine's own boot.")


if __name__ == "__main__":
    main()
