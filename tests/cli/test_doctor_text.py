"""The report for people: the worst first, told once, within the terminal's width."""

import msgspec
import pytest

from studio.cli.doctor_text import report_text, verdict_text
from studio.cli.render import cells_of
from studio.domain.doctor import Level, PresetVerdict
from tests.cli.doctor_samples import DISK, REPORT


def test_the_worst_is_read_first() -> None:
    """Who has one minute reads the top."""
    text = report_text(REPORT)

    places = [text.index(title) for title in ("Stops you", "Look at this", "Not known", "Good")]
    assert places == sorted(places)
    assert text.splitlines()[0] == "2× NVIDIA X · Debian 12"


def test_a_finding_comes_with_what_it_stops_and_what_to_do() -> None:
    """Each by itself helps nobody."""
    text = " ".join(report_text(REPORT).split())

    assert "It is 535.1. cu13 needs 580 or newer. Without it: cu13." in text
    assert "→ Update NVIDIA's driver to branch 580, then restart." in text


def test_what_is_true_of_several_cards_is_told_once() -> None:
    """Eight cards would fill three screens."""
    text = report_text(REPORT)

    assert "Cards 0, 1 power" in text
    assert text.count("Power limit 300 W") == 1


def test_advice_with_a_cards_number_is_told_for_each() -> None:
    """The command for card 0 does nothing for card 1."""
    text = report_text(REPORT)

    assert "nvidia-smi -i 0" in text
    assert "nvidia-smi -i 1" in text


def test_runtimes_come_with_verdict_state_and_reasons() -> None:
    """One that waits for a commit fits, and still cannot be used."""
    text = " ".join(report_text(REPORT).split())

    assert "cpu Fits this machine. Installed." in text
    assert "sm70 Fits this machine. Not pinned yet: `weir runtime show sm70`." in text
    assert "cu13 Does not fit this machine. The driver is old." in text


def test_presets_that_fit_have_a_line_each() -> None:
    """Twenty are a list to skim; `weir presets` says more."""
    lines = report_text(REPORT).splitlines()

    assert lines[lines.index("Presets that fit") + 1] == "  cpu-demo  Small"


def test_a_reason_that_many_presets_share_is_told_once() -> None:
    """Without a card sixteen of seventeen say the same."""
    more = tuple(
        PresetVerdict(id=name, title=name, usable=False, reasons=("It needs a card.", "More."))
        for name in ("a", "b")
    )

    lines = report_text(msgspec.structs.replace(REPORT, presets=(*REPORT.presets, *more)))

    start = lines.splitlines().index("Presets that do not fit")
    assert lines.splitlines()[start + 1 : start + 3] == ["  It needs a card.", "    27b, a, b"]


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (Level.GOOD, "All is well: 1 of 2 presets fit."),
        (Level.LOOK, "It can serve: 1 of 2 presets fit."),
        (Level.STOPS, "Nothing can be served on it as it is."),
    ],
)
def test_it_ends_with_the_verdict(level: Level, words: str) -> None:
    """A sentence to repeat to somebody else."""
    report = msgspec.structs.replace(REPORT, level=level)

    assert verdict_text(report) == words
    assert report_text(report).endswith(words)


def test_what_stops_everything_says_so() -> None:
    """A list of all names would say less."""
    text = report_text(msgspec.structs.replace(REPORT, checks=(DISK,)))

    assert "Without it nothing can be served." in " ".join(text.split())


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """A broken table is unreadable."""
    lines = report_text(REPORT, width).splitlines()

    assert max(cells_of(line) for line in lines) <= width


def test_what_a_preset_is_for_is_told_whole() -> None:
    """Half a title is the half that tells two presets apart."""
    title = "Qwen3.8 27B for coding agents · 262,144 tokens · int4 KV · speculation of 7 tokens"
    preset = PresetVerdict(id="27b-int4-256k", title=title, usable=True, reasons=())

    lines = report_text(msgspec.structs.replace(REPORT, presets=(preset,)), 80).splitlines()

    start = next(n for n, line in enumerate(lines) if line.startswith("  27b-int4-256k"))
    assert lines[start + 1].startswith(" " * 17)
    assert " ".join(" ".join(lines[start : start + 2]).split()) == f"27b-int4-256k {title}"


def test_a_bare_report_is_no_error() -> None:
    """A catalogue without presets or runtimes."""
    report = msgspec.structs.replace(REPORT, checks=(), runtimes=(), presets=())

    assert report_text(report).startswith("2× NVIDIA X")


def test_all_is_well_only_when_something_can_be_served_now() -> None:
    """A preset whose runtime or model waits for the person is no service yet."""
    ready, waits = (
        PresetVerdict(id=name, title=name, usable=True, is_ready=is_ready)
        for name, is_ready in (("a", True), ("b", False))
    )
    good = msgspec.structs.replace(REPORT, level=Level.GOOD)

    assert verdict_text(msgspec.structs.replace(good, presets=(ready, waits))) == (
        "All is well: 2 of 2 presets fit. 1 can be served now, 1 after what "
        "`weir presets show NAME` says."
    )
    only = verdict_text(msgspec.structs.replace(good, presets=(waits,)))
    assert only.startswith("Nothing can be served on it yet: 1 of 1 presets fit")
    assert "All is well" not in only
