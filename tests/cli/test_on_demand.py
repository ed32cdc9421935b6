"""`weir gateway on-demand` as a person types it, on a real home and without a service."""

import json

import pytest

from studio.cli.arguments import parse
from tests.cli.typed import Typed

PRESET = "cpu-demo"


def test_a_preset_is_listed_shown_and_taken_off(typed: Typed) -> None:
    """Kept between two commands, service or not."""
    assert "nothing: `weir gateway on-demand PRESET`" in typed("gateway", "on-demand").stdout
    shown = typed("gateway", "on-demand", PRESET, "--ttl", "2h", "--set", "max_num_seqs=4").stdout
    assert "asked for as smollm2, cpu-demo" in shown
    assert "stops after 2 h" in shown
    assert "--set max_num_seqs=4" in shown
    assert "is not installed" in shown

    report = json.loads(typed("gateway", "on-demand", "--json").stdout)
    assert report["settings"]["presets"][PRESET]["ttl_s"] == 7_200
    assert report["presets"][0]["problem"]["code"] == "not-installed"
    typed("gateway", "on-demand", PRESET, "--remove")
    assert json.loads(typed("gateway", "on-demand", "--json").stdout)["presets"] == []


def test_choices_for_all_are_kept(typed: Typed) -> None:
    """One line may say several."""
    line = "--off --default-ttl 0 --by-hand --residence 90s --wait 5m --queue 9 --abandoned end"
    shown = typed("gateway", "on-demand", *line.split()).stdout

    for part in ("off: requests start nothing", "never", "also what you started", "0 of 9"):
        assert part in shown
    kept = json.loads(typed("gateway", "on-demand", "--json").stdout)["settings"]
    assert (kept["residence_s"], kept["wait_s"], kept["abandoned"]) == (90, 300, "end")


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("gateway on-demand nobody", 3, "nobody"),
        (f"gateway on-demand {PRESET} --set nothing=1", 3, "nothing"),
        (f"gateway on-demand {PRESET} --ttl soon", 3, "90s"),
        ("gateway on-demand --ttl 5m", 3, "which preset"),
        ("gateway on-demand --remove", 3, "which preset"),
        (f"gateway on-demand {PRESET} --remove", 3, "not on the list"),
        ("gateway on-demand --abandoned later", 3, "finish"),
        ("gateway on-demand --on --off", 2, "--off"),
        ("gateway on-demand --queue none", 2, "none"),
    ],
)
def test_mistakes_are_named(typed: Typed, line: str, status: int, said: str) -> None:
    """And nothing is changed."""
    assert said in typed(*line.split(), status=status).stderr


def test_nobody_waits_without_a_service(typed: Typed) -> None:
    """The question has an answer all the same."""
    assert typed("gateway", "queue").stdout.strip() == "Nobody waits."
    assert json.loads(typed("gateway", "queue", "--json").stdout)["waiting"] == 0


def test_a_key_can_be_forbidden_to_start_anything(typed: Typed) -> None:
    """And allowed again; the words say what it means."""
    typed("keys", "create", "guest", "--only-running")
    assert "nothing: uses what runs" in typed("keys", "show", "guest").stdout
    typed("keys", "limit", "guest", "--no", "only-running")
    assert json.loads(typed("keys", "show", "guest", "--json").stdout)["limits"]["models"] is None
    assert "uses what runs" not in typed("keys", "show", "guest").stdout


def test_the_words_of_a_line_become_one_record() -> None:
    """What is not named is not changed."""
    call = parse(["gateway", "on-demand", "x", "--ttl", "1h", "--not-by-hand", "--on"])

    assert call.preset == "x"
    assert call.changes == {"ttl": "1h", "ttl_by_hand": False, "is_on": True}
    assert parse(["gateway", "on-demand"]).changes == {}
