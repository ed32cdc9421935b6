"""What the person chose to follow a death, a standstill, an early request."""

from pathlib import Path

import pytest

from studio.app.care import LONGEST_WAIT_S, SHORTEST_WAIT_S, Care
from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput
from studio.domain.settings import CareChange, CareSettings, OnDeath, OnStall


@pytest.fixture
def care(tmp_path: Path) -> Care:
    """Return the choices of a home in which nobody chose."""
    return Care(SettingsFile(tmp_path / "settings.json"))


@pytest.fixture
def settings(tmp_path: Path) -> SettingsFile:
    """Return the settings of another such home."""
    return SettingsFile(tmp_path / "other" / "settings.json")


def test_at_first_the_defaults_hold(care: Care) -> None:
    """An engine that dies at night is up again in the morning."""
    assert care.now() == CareSettings()
    assert care.now().on_death is OnDeath.RESTART


async def test_what_is_set_is_kept_and_what_is_forgotten_is_not(tmp_path: Path) -> None:
    """Names as they are typed, with either dash."""
    care = Care(SettingsFile(tmp_path / "settings.json"))
    values = {"on_death": "tell", "on-stall": " Wait ", "stall-s": "90s", "wait_s": "0"}

    changed = await care.change(CareChange(values=values))

    again = Care(SettingsFile(tmp_path / "settings.json"))
    assert changed == again.now()
    assert (changed.on_death, changed.on_stall) == (OnDeath.TELL, OnStall.WAIT)
    assert (changed.stall_s, changed.wait_s) == (90.0, 0.0)
    assert changed.chosen == ("on-death", "on-stall", "stall-s", "wait-s")

    after = await again.change(CareChange(forget=("on-death", "stall_s", "wait-s")))
    assert after.chosen == ("on-stall",)
    assert after.on_death is OnDeath.RESTART


@pytest.mark.parametrize(
    ("values", "code", "hint"),
    [
        ({"on-deth": "tell"}, "setting-unknown", "`on-death`"),
        ({"": "tell"}, "setting-unknown", "Known"),
        ({"on-death": "wait"}, "setting-value", "`restart`, `tell`"),
        ({"on-stall": ""}, "setting-value", "`wait`"),
        ({"stall-s": "soon"}, "setting-value", "5 to 86400"),
        ({"stall-s": "1"}, "setting-value", "5 to 86400"),
        ({"wait-s": "-1"}, "setting-value", "0 to 3600"),
        ({"wait-s": "nan"}, "setting-value", "0 to 3600"),
        ({"wait-s": "inf"}, "setting-value", "0 to 3600"),
    ],
)
async def test_a_mistake_says_what_was_meant_and_changes_nothing(
    care: Care, values: dict[str, str], code: str, hint: str
) -> None:
    """Half a change would be the worst of both."""
    with pytest.raises(BadInput) as caught:
        await care.change(CareChange(values={"on-stall": "tell", **values}))

    assert caught.value.code == code
    assert hint in (caught.value.hint or "")
    assert care.now() == CareSettings()


async def test_a_word_of_a_newer_version_is_none(tmp_path: Path) -> None:
    """An older Studio starts with the settings of a newer one."""
    settings = SettingsFile(tmp_path / "settings.json")
    settings.change(care={"on-death": "phone", "stall-s": "never", "wait-s": "9999999", "x": "y"})

    now = Care(settings).now()

    assert (now.on_death, now.stall_s, now.wait_s) == (OnDeath.RESTART, None, None)


@pytest.mark.parametrize(
    ("remaining_s", "waits_s"),
    [(None, SHORTEST_WAIT_S), (10.0, SHORTEST_WAIT_S), (200.0, 250.0), (9000.0, LONGEST_WAIT_S)],
)
def test_requests_wait_as_long_as_the_boot_should_take(
    care: Care, remaining_s: float | None, waits_s: float
) -> None:
    """But not beyond what a client bears."""
    assert care.wait_s(lambda: remaining_s) == waits_s


async def test_a_chosen_wait_holds_whatever_the_forecast(care: Care) -> None:
    """0 means that clients are told at once."""
    await care.change(CareChange(values={"wait-s": "0"}))

    assert care.wait_s(lambda: 500.0) == 0.0


# How often the monitor looks


@pytest.mark.parametrize(
    ("variable", "chosen", "expected"),
    [
        (None, None, 1.0),
        ("0.5", None, 0.5),
        ("0.5", "10", 10.0),
        ("often", None, 1.0),
        ("0.01", None, 1.0),
        ("3600", None, 1.0),
    ],
)
def test_how_often_the_monitor_looks_is_chosen_or_given_or_a_second(
    settings: SettingsFile, variable: str | None, chosen: str | None, expected: float
) -> None:
    """A choice goes before the environment, and nonsense before neither."""
    care = Care(settings, {} if variable is None else {"WEIR_SAMPLE_S": variable})
    if chosen is not None:
        settings.change(care={"sample-s": chosen})

    assert care.sample_s() == expected
    assert care.now().sample_s == expected


async def test_a_change_is_told_to_whoever_waits_by_it(settings: SettingsFile) -> None:
    """The sampler sleeps up to ten seconds."""
    told: list[float] = []
    care = Care(settings)
    care.on_change = lambda: told.append(care.sample_s())

    await care.change(CareChange(values={"sample-s": "0.2s"}))
    with pytest.raises(BadInput, match="sample-s"):
        await care.change(CareChange(values={"sample-s": "0.1"}))

    assert told == [0.2]


async def test_the_history_has_a_bound_that_a_person_chooses(tmp_path: Path) -> None:
    """A small disk wants less, a museum of figures more; nonsense is refused with the range."""
    settings = SettingsFile(tmp_path / "settings.json")
    care = Care(settings, {})
    assert care.history_bytes() == 256 << 20

    after = await care.change(CareChange(values={"history-mib": "1024"}))
    assert (after.history_mib, care.history_bytes()) == (1024, 1 << 30)
    for wrong in ("31", "16385", "1e3", "-1", "٣٤", ""):
        with pytest.raises(BadInput, match="history-mib"):
            await care.change(CareChange(values={"history-mib": wrong}))

    assert (await care.change(CareChange(forget=("history-mib",)))).history_mib == 256
    settings.change(care={"history-mib": "9999999"})
    assert care.history_mib() == 256
