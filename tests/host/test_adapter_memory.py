"""Lines of our question to Windows, as it writes them and as they may be broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.readings import AdapterReading
from studio.host.adapter_memory import MOST_ADAPTERS, SCRIPT, Lines

ROUND = """\
weir-card|00000000_0000d3f5|4318|25757220864|NVIDIA GeForce RTX 4090
weir-card|00000000_0000e1a2|32902|134217728|Intel(R) UHD Graphics 770
weir-use|luid_0x00000000_0x0000D3F5_phys_0|1886000000|24107483136
weir-use|luid_0x00000000_0x0000E1A2_phys_0|500000000|0
weir-proc|pid_1234_luid_0x00000000_0x0000D3F5_phys_0|1800000000
weir-proc|pid_77_luid_0x00000000_0x0000D3F5_phys_0|60000000
weir-end
"""


def told(text: str, lines: Lines | None = None) -> list[object]:
    """Return what each round told."""
    lines = lines or Lines(clock=lambda: 7.0)
    return [found for line in text.splitlines() if (found := lines.hear(line)) is not None]


def test_a_round_tells_of_every_adapter() -> None:
    """Which card, how much of it lies in the machine's memory, and whose it is."""
    (found,) = told(ROUND)

    assert found.at_s == 7.0
    assert found.note is None
    assert found.adapters[0] == AdapterReading(
        luid="0x00000000_0x0000d3f5",
        name="NVIDIA GeForce RTX 4090",
        shared_bytes=1_886_000_000,
        dedicated_bytes=24_107_483_136,
        total_bytes=25_757_220_864,
        is_nvidia=True,
    )
    assert found.adapters[1].is_nvidia is False
    assert found.heaviest == ((1234, 1_800_000_000), (77, 60_000_000))


def test_names_come_once_a_minute_and_hold() -> None:
    """The rounds between have numbers only."""
    lines = Lines()
    told(ROUND, lines)

    (second,) = told("weir-use|luid_0x00000000_0x0000d3f5_phys_0|90|5\nweir-end", lines)

    assert second.adapters[0].name == "NVIDIA GeForce RTX 4090"
    assert second.heaviest[0][0] == 1234


def test_linked_cards_count_together() -> None:
    """They have a line each and one LUID."""
    (found,) = told(
        "weir-use|luid_0x00000000_0x00000001_phys_0|10|100\n"
        "weir-use|luid_0x00000000_0x00000001_phys_1|20|200\nweir-end"
    )

    (adapter,) = found.adapters
    assert (adapter.shared_bytes, adapter.dedicated_bytes) == (30, 300)


def test_what_windows_adds_to_lines_does_no_harm() -> None:
    """Byte order marks, carriage returns, null bytes of UTF-16."""
    text = "\ufeffweir-use|luid_0x00000000_0x00000001_phys_0|10|\r\nweir-end\r"

    (found,) = told(text.replace("w", "\0w"))

    assert found.adapters[0].dedicated_bytes is None


def test_no_counters_are_a_sentence() -> None:
    """Windows before 1709, a server, a refused call."""
    (found,) = told("weir-none|-2147024891\nweir-end")

    assert found.adapters == ()
    assert found.note == "Windows has no counters of graphics memory here (error -2147024891)."


@pytest.mark.parametrize(
    "line",
    [
        "weir-use|luid_0xZZ_0x1_phys_0|1|2",
        "weir-use|luid_0x00000000_0x00000001_phys_0|-5|2",
        "weir-use|luid_0x00000000_0x00000001_phys_0|99999999999999999999999|2",
        "Get-Counter : The specified object was not found on the computer.",
        "weir-card|00000000_00000001|x|y|z",
        "x" * 100_000,
    ],
)
def test_nonsense_is_left_out(line: str) -> None:
    """Errors of PowerShell come over the same pipe."""
    (found,) = told(f"{line}\nweir-end")

    assert found.adapters == ()


def test_a_flood_of_adapters_is_cut() -> None:
    """Our memory is not theirs to fill."""
    lines = "".join(
        f"weir-use|luid_0x00000000_0x{number:08x}_phys_0|1|1\n" for number in range(1000)
    )

    (found,) = told(lines + "weir-end")

    assert len(found.adapters) == MOST_ADAPTERS


@given(st.lists(st.text(max_size=60) | st.just("weir-end"), max_size=30))
def test_whatever_comes_it_never_raises(lines: list[str]) -> None:
    """It is another system's output."""
    reader = Lines()
    for line in lines:
        reader.hear(line)


def test_the_script_names_counters_in_english_and_fits_a_command_line() -> None:
    """Translated names fail on half the world's machines; Windows takes 32,767 characters."""
    assert "PdhAddEnglishCounterW" in SCRIPT
    assert r"\GPU Adapter Memory(*)\Shared Usage" in SCRIPT
    assert r"\GPU Process Memory(*)\Shared Usage" in SCRIPT
    assert len(SCRIPT.encode("utf-16-le")) * 4 / 3 < 32_000
