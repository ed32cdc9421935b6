"""Cards through the real service: library, pynvml, sampler, ticks, control API, command line.

One service for all tests here, which looks five times a second; its machine is changed under it.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.fakes.nvml_machines import MIB, h200, machine, rtx_4090_wsl2, uuid
from tests.fakes.nvml_stub import Document, build, put
from tests.fakes.waiting import LIMIT_S, until
from tests.fakes.weir import Weir, weir_home

BOTH = machine(h200(0), h200(1, temperature=50))


def is_lost(card: dict[str, Any]) -> bool:
    """Tell whether a card answers no more."""
    return bool(card["is_lost"])


class Machine:
    """A running service over cards that can be changed."""

    def __init__(self, weir: Weir, put_in: Callable[[Document], None]) -> None:
        self.weir = weir
        self.put_in = put_in

    def get(self, path: str) -> Any:
        """Return an answer of the control API."""
        folder = self.weir.paths.service
        address = json.loads((folder / "service.json").read_bytes())
        token = (folder / "token").read_text(encoding="utf-8").strip()
        answer = httpx.get(
            f"http://127.0.0.1:{address['port']}/control/v1{path}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=LIMIT_S,
            trust_env=False,
        )
        assert answer.status_code == 200
        return answer.json()

    def tick(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a tick and return it."""
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            tick = self.get("/status")["tick"]
            if tick is None or not wanted(tick):
                return False
            found.append(tick)
            return True

        until(is_there, "a tick")
        return found[0]


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Yield the service with its machine."""
    folder = tmp_path_factory.mktemp("cards é")
    library, scenario = build(folder), folder / "cards.txt"
    put(scenario, BOTH)
    with weir_home(folder / "home", None) as weir:
        environment = {
            **weir.environment,
            "LD_LIBRARY_PATH": str(library.parent),
            "FAKE_NVML": str(scenario),
            "WEIR_SAMPLE_S": "0.2",
        }
        made = Weir(paths=weir.paths, environment=environment, port=weir.port)
        try:
            made.begin_service()
            yield Machine(made, lambda document: put(scenario, document))
        finally:
            made.end()


@pytest.fixture(autouse=True)
def whole(cards: Machine) -> None:
    """Begin with two cards at work."""
    cards.put_in(BOTH)
    cards.tick(lambda tick: bool(tick["cards"]) and not any(map(is_lost, tick["cards"])))


def test_status_ticks_and_gpus_tell_the_same(cards: Machine) -> None:
    """Window, terminal and scripts see one machine."""
    tick = cards.tick(lambda tick: tick["cards"][0]["processes"] is not None)
    told = cards.weir.json("gpus")
    text = cards.weir.run("gpus").stdout
    status = cards.weir.json("status")

    for found in (tick["cards"], told["cards"], status["tick"]["cards"]):
        assert [one["uuid"] for one in found] == [uuid(0), uuid(1)]
        assert [one["temperature_c"] for one in found] == [47, 50]
        assert found[0]["memory_used_bytes"] == 86387 * MIB
    assert told["source"] == status["monitor"]["cards_source"] == "nvml"
    assert "573 of 700 W" in text
    assert "100 % busy, 47 °C" in cards.weir.run("status").stdout


def test_the_monitor_says_how_often_it_looks_and_what_that_costs(cards: Machine) -> None:
    """0.2 s came from the environment; a choice goes before it, at once."""
    until(lambda: cards.get("/status")["monitor"]["cost_share"] is not None, "a cost")
    before = cards.get("/status")["monitor"]

    cards.weir.json("settings", "--set", "sample-s=0.5")
    after = cards.get("/status")["monitor"]
    cards.weir.json("settings", "--forget", "sample-s")

    assert (before["interval_s"], after["interval_s"]) == (0.2, 0.5)
    assert 0 < before["cost_share"] < 0.5
    assert cards.get("/status")["monitor"]["interval_s"] == 0.2


def test_a_card_that_falls_off_the_bus_is_seen_by_all_and_found_again(cards: Machine) -> None:
    """The other one keeps its figures, and its neighbour its name."""
    cards.put_in(machine(h200(0), h200(1, unplugged=True)))

    tick = cards.tick(lambda tick: tick["cards"][1]["is_lost"])

    assert tick["cards"][0]["temperature_c"] == 47
    assert tick["cards"][1]["temperature_c"] is None
    assert tick["cards"][1]["name"] == "NVIDIA H200"
    assert "lost" in cards.weir.run("gpus").stdout


def test_a_driver_that_hangs_does_not_hold_the_service(cards: Machine) -> None:
    """Every call is answered as before, and the cards say why they are not known."""
    cards.put_in(machine(h200(0), h200(1), hangs=["nvmlDeviceGetUtilizationRates"]))

    tick = cards.tick(lambda tick: tick["cards_note"] is not None)
    began = time.monotonic()
    cards.get("/status")
    took_s = time.monotonic() - began
    cards.put_in(BOTH)
    back = cards.tick(lambda tick: tick["cards_note"] is None)

    assert "has not answered" in tick["cards_note"]
    assert {one["utilisation_share"] for one in tick["cards"]} == {None}
    assert took_s < 10
    assert [one["temperature_c"] for one in back["cards"]] == [47, 50]


def test_a_driver_that_is_unloaded_and_loaded_again_is_taken_up(cards: Machine) -> None:
    """An update of the driver; the figures of before are gone at once."""
    cards.put_in(machine(errors={"*": 9}))
    tick = cards.tick(lambda tick: all(map(is_lost, tick["cards"])))

    cards.put_in(BOTH)
    back = cards.tick(lambda tick: not any(map(is_lost, tick["cards"])))

    assert {one["memory_used_bytes"] for one in tick["cards"]} == {None}
    assert [one["uuid"] for one in back["cards"]] == [uuid(0), uuid(1)]


def test_followed_cards_come_as_lines_until_the_reader_leaves(cards: Machine) -> None:
    """`weir gpus -f --json | jq …`"""
    process = cards.weir.start("gpus", "-f", "--json")
    assert process.stdout is not None

    lines = [json.loads(process.stdout.readline()) for _ in range(2)]
    process.stdout.close()

    assert [len(one["cards"]) for one in lines] == [2, 2]
    assert process.wait(LIMIT_S) == 0


def test_gpus_needs_no_service(cards: Machine, tmp_path_factory: pytest.TempPathFactory) -> None:
    """WSL2: what Windows hides is a dash, what a link carries is not known; nothing is started."""
    cards.put_in(machine(rtx_4090_wsl2(used=20_000 * MIB)))
    home = tmp_path_factory.mktemp("other home")
    other = Weir(
        paths=cards.weir.paths,
        environment={**cards.weir.environment, "WEIR_HOME": str(home)},
        port=cards.weir.port,
    )

    told = other.json("gpus")

    (card,) = told["cards"]
    assert card["memory_used_bytes"] == 20_000 * MIB
    assert (card["processes"], card["throttle"], card["pcie_rx_bytes_per_s"]) == (None, None, None)
    assert not (home / "service").exists() or not any((home / "service").iterdir())
