"""What all checks come to."""

import pytest

from studio.doctor import report
from studio.domain.doctor import EVERYTHING, Area, Check, Level, PresetVerdict
from studio.host import hosts
from tests.doctor.cases import PATHS, RECIPES, host

FITS = PresetVerdict(id="a", title="A", usable=True)
FITS_NOT = PresetVerdict(id="b", title="B", usable=False)


def check(level: Level, *stops: str) -> Check:
    """Return a check that ended so."""
    return Check(code="x", area=Area.SYSTEM, title="X", level=level, found="", stops=stops)


@pytest.mark.parametrize(
    ("checks", "presets", "level"),
    [
        ([check(Level.GOOD), check(Level.UNKNOWN)], [FITS], Level.GOOD),
        ([check(Level.LOOK)], [FITS], Level.LOOK),
        ([check(Level.STOPS, "cu13")], [FITS, FITS_NOT], Level.LOOK),
        ([check(Level.STOPS, EVERYTHING)], [FITS], Level.STOPS),
        ([check(Level.GOOD)], [FITS_NOT], Level.STOPS),
        ([check(Level.GOOD)], [], Level.GOOD),
    ],
)
def test_only_what_stops_every_preset_stops_all(
    checks: list[Check], presets: list[PresetVerdict], level: Level
) -> None:
    """The exit status of `weir doctor` hangs on it."""
    assert report.level(checks, presets) is level


@pytest.mark.parametrize("name", [one.id for one in hosts.listed(PATHS)])
def test_every_host_of_the_catalogue_gets_a_verdict_in_sentences(name: str) -> None:
    """No check may fail on a fact that is missing, and every finding has its remedy."""
    found = report.checks(host(name), RECIPES)

    assert found
    for one in found:
        assert one.found.endswith("."), one
        if one.level in (Level.LOOK, Level.STOPS):
            assert one.advice, one
            assert one.advice.endswith("."), one
        assert bool(one.stops) == (one.level is Level.STOPS), one
        assert "None" not in one.found.replace("None, and none", "").replace("None is", "")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("v100-16x4-linux", "4× Tesla V100-SXM2-16GB · 64.00 GiB memory · Ubuntu 24.04 LTS"),
        ("rtx4090-wsl2", "NVIDIA GeForce RTX 4090 · 20.00 GiB memory · Ubuntu 24.04 LTS in WSL"),
        ("h200-linux", "NVIDIA H200 · Linux"),
        ("none-linux", "x86_64 · no NVIDIA card · 32.00 GiB memory · Ubuntu 24.04 LTS"),
    ],
)
def test_the_title_is_the_host_in_a_line(name: str, title: str) -> None:
    """What a replayed host is, at a glance."""
    assert report.title(host(name)) == title


def test_a_healthy_machine_has_nothing_to_look_at() -> None:
    """A doctor who always finds something is not listened to."""
    levels = {one.level for one in report.checks(host("rtx3090-linux"), RECIPES)}

    assert levels == {Level.GOOD}
