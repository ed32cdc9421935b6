"""`weir doctor` against a fake service, and the whole of it as a process."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from studio.domain.doctor import DoctorReport, Level
from tests.cli.doctor_samples import REPORT
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.typed import Ran
from tests.fakes.nvml_stub import NvmlHost, nvml_host
from tests.host.test_nvml import CARD, MIB, machine

Weir = Callable[..., Ran]
ROOT = Path(__file__).resolve().parents[2]


def test_the_service_is_asked_when_one_runs(
    weir: Weir, service: FakeService, connector: FakeConnector
) -> None:
    """It knows which of the processes on a card are ours."""
    ran = weir("doctor")

    assert ran.status == 0
    assert "NVIDIA driver" in ran.out
    assert service.calls == ["GET /doctor"]
    assert connector.offline_used == 0


def test_without_a_service_it_looks_itself(weir: Weir, connector: FakeConnector) -> None:
    """The doctor is asked first when nothing works."""
    connector.is_running = False

    assert weir("doctor").status == 0
    assert connector.offline_used == 1
    assert connector.started == []


@pytest.mark.parametrize(("level", "status"), [(Level.GOOD, 0), (Level.LOOK, 0), (Level.STOPS, 4)])
def test_the_status_says_whether_anything_can_be_served(
    weir: Weir, service: FakeService, level: Level, status: int
) -> None:
    """For scripts that set a machine up."""
    service.report = msgspec.structs.replace(REPORT, level=level)

    assert weir("doctor").status == status
    assert weir("doctor", "--json").status == status


def test_json_is_the_whole_report(weir: Weir) -> None:
    """And with it a host file for replay elsewhere."""
    ran = weir("doctor", "--json")

    assert msgspec.json.decode(ran.out, type=DoctorReport) == REPORT


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NvmlHost]:
    """A machine whose cards can be changed."""
    with nvml_host(tmp_path_factory.mktemp("nvml")) as made:
        yield made


def real(host: NvmlHost, home: Path, *argv: str, **variables: str) -> Any:
    """Run the real command over the real pynvml, in a home of its own."""
    return subprocess.run(
        [sys.executable, "-m", "studio", *argv],
        cwd=ROOT,
        env={**host.environment, "WEIR_HOME": str(home), **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def test_a_card_goes_from_the_driver_to_the_verdict(host: NvmlHost, tmp_path: Path) -> None:
    """The whole way: C library, pynvml, snapshot, checks, JSON."""
    host.put_in(machine(CARD))

    done = real(host, tmp_path / "hömé", "doctor", "--json")

    report = json.loads(done.stdout)
    by_code = {check["code"]: check for check in report["checks"]}
    assert done.returncode == 0
    assert report["host"]["gpus"][0]["name"] == CARD["name"]
    assert by_code["driver"]["level"] == "good"
    assert by_code["card-capability"]["level"] == "good"
    usable = {one["name"]: one["usable"] for one in report["runtimes"]}
    assert usable["cu13-hyperqwen-0.32.0"] is True
    assert usable["sm70-1cat-1.5.2"] is False
    assert not (tmp_path / "hömé").exists()


def test_what_it_prints_can_be_replayed_elsewhere(host: NvmlHost, tmp_path: Path) -> None:
    """One command captures a machine: the same verdict without the card."""
    host.put_in(machine({**CARD, "used": 9000 * MIB}))
    captured = real(host, tmp_path / "a", "doctor", "--json")
    file = tmp_path / "wörk box.json"
    file.write_text(captured.stdout, encoding="utf-8")
    host.put_in(machine())

    replayed = real(host, tmp_path / "b", "doctor", "--json", "--host", str(file))

    before, after = json.loads(captured.stdout), json.loads(replayed.stdout)
    assert after["host"] == before["host"]
    assert after["replayed"] == "wörk box"
    assert "wörk box.json" in replayed.stderr
    live = {"gateway-port", "secret-store"}
    assert [one for one in before["checks"] if one["code"] not in live] == after["checks"]


def test_a_driver_that_hangs_is_a_finding_and_no_hang(host: NvmlHost, tmp_path: Path) -> None:
    """`weir doctor` is what people run when the card is stuck."""
    host.put_in(machine(CARD, hangs=["nvmlInitWithFlags"]))

    done = real(host, tmp_path, "doctor")

    assert done.returncode == 0
    assert "did not answer" in " ".join(done.stdout.split())
    assert "Xid" in done.stdout
    host.put_in(machine())


def test_a_home_that_cannot_be_written_stops_all(host: NvmlHost) -> None:
    """Said before the first download fails. Where this is, root may not write either."""
    done = real(host, Path("/proc/1/home"), "doctor")

    assert "Traceback" not in done.stderr
    assert done.returncode == 4
    assert "Nothing can be written there" in " ".join(done.stdout.split())


def test_a_broken_preset_of_ones_own_is_a_finding(host: NvmlHost, tmp_path: Path) -> None:
    """The doctor must not need a healthy patient."""
    own = tmp_path / "presets"
    own.mkdir()
    (own / "mine.toml").write_text('headline = "x"', encoding="utf-8")

    done = real(host, tmp_path, "doctor")

    text = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert "The preset mine" in text
    assert "headline" in text


BLOCKED = ("PySide6", "uv", "uvloop", "keyring", "setuptools", "click", "pygments")
CAPTURE = f"""
import runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
sys.argv = ["weir", "doctor", "--json"]
runpy.run_module("studio", run_name="__main__")
"""


def test_a_bare_machine_can_be_captured_with_a_few_wheels(host: NvmlHost, tmp_path: Path) -> None:
    """A rented GPU machine without an index has a checkout and a handful of wheels, no more."""
    host.put_in(machine(CARD))

    done = subprocess.run(
        [sys.executable, "-c", CAPTURE],
        cwd=ROOT,
        env={**host.environment, "WEIR_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.stderr == ""
    assert json.loads(done.stdout)["host"]["gpus"][0]["name"] == CARD["name"]
