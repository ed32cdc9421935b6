"""How long a boot takes."""

from pathlib import Path

from studio.host.documents import read_toml
from studio.planner.boots import Boots, forecast
from studio.planner.calibration import BootTimes

ROOT = Path(__file__).resolve().parents[2]
ROWS = read_toml(ROOT / "presets" / "planner" / "boots.toml", Boots).rows
UNSEEN = BootTimes()


def test_this_machine_s_own_boots_go_before_those_of_others() -> None:
    """Nobody else has this disk."""
    found = forecast(
        BootTimes(warm_s=61.0),
        ROWS,
        runtime="cpu-vllm-0.32.0",
        profiles=("cpu-demo",),
        is_wsl=False,
    )

    assert (found.cold_s, found.warm_s, found.source) == (None, 61.0, "seen on this machine")


def test_a_row_of_the_preset_goes_before_one_of_the_runtime() -> None:
    """KVarN compiles for a minute and a half longer."""
    runtime = "cu13-hyperqwen-0.31.0"
    huge = forecast(UNSEEN, ROWS, runtime=runtime, profiles=("27b-huge",), is_wsl=False)
    chat = forecast(UNSEEN, ROWS, runtime=runtime, profiles=("27b-dflash2",), is_wsl=False)

    assert (huge.cold_s, huge.warm_s) == (333, 81)
    assert (chat.cold_s, chat.warm_s) == (252, 86)


def test_windows_has_rows_of_its_own() -> None:
    """Its boots are half as long again."""
    runtime = "cu13-hyperqwen-0.31.0"

    found = forecast(UNSEEN, ROWS, runtime=runtime, profiles=("27b-mtp",), is_wsl=True)

    assert found.warm_s == 126


def test_nobody_s_boot_is_no_forecast() -> None:
    """An invented figure would be believed."""
    found = forecast(UNSEEN, ROWS, runtime=None, profiles=(), is_wsl=False)

    assert (found.cold_s, found.warm_s, found.source) == (None, None, None)
