"""Remedies of alarms: the value for this preset, and no offer that cannot be taken."""

from pathlib import Path

import pytest

from studio.app.alarm_remedies import fitted
from studio.domain.alarms import Alarm, Severity
from studio.domain.manifests import Preset
from studio.domain.remedies import Remedy, RemedyKind
from studio.host.paths import Paths, bundled_root
from studio.presets.store import PresetStore
from tests.monitor.causes import CASES, booted
from tests.monitor.scenes import RULES, Second

PIN = "kv_cache_memory_bytes"


@pytest.fixture(scope="module")
def presets(tmp_path_factory: pytest.TempPathFactory) -> PresetStore:
    """Return the presets that ship."""
    return PresetStore(Paths(home=tmp_path_factory.mktemp("home"), catalogue=bundled_root()))


def alarm_of(code: str, flags: frozenset[str] = frozenset()) -> Alarm:
    """Return the alarm as the judge raises it."""
    change, seconds, _twin = CASES[code]
    film = booted()

    def with_flags(second: Second, number: int) -> None:
        change(second, number)
        second.more = {**second.more, "flags": flags}

    film.play(seconds, with_flags)
    return film.raised(code)[0]


def settings(alarm: Alarm) -> list[dict[str, str]]:
    """Return what each remedy would set."""
    return [one.settings for one in alarm.remedies if one.settings]


def test_a_spill_names_the_pin_that_would_fit(presets: PresetStore) -> None:
    """One action with the figure of this case: what the issue asks for."""
    alarm = alarm_of("spill-wddm", frozenset(("pinned", "wsl")))
    present = {PIN: "5583457484", "gpu_memory_utilization": "0.93"}

    made = fitted(alarm, presets.get("27b-dflash2"), present)

    # 1.9 GB shared, 86 MB of them normal, 200 MB to spare.
    wanted = 5_583_457_484 - (1_900_000_000 - 86_000_000) - 200_000_000
    assert settings(made) == [{PIN: str(wanted)}]
    assert made.remedies[0].text == (
        "Lower the KV pin to 3.32 GiB and restart: what is too much, and 200 MB to spare."
    )
    assert made.remedies[0].can_apply


def test_an_engine_without_a_pin_gets_a_smaller_share(presets: PresetStore) -> None:
    """Its pool is what `gpu_memory_utilization` leaves."""
    alarm = alarm_of("spill-wddm", frozenset(("wsl",)))

    made = fitted(alarm, presets.get("27b-batch-fp8"), {"gpu_memory_utilization": "0.93"})

    assert settings(made) == [{"gpu_memory_utilization": "0.85"}]
    assert "to 0.85 and restart" in made.remedies[0].text


def test_an_adopted_engine_is_not_offered_a_restart() -> None:
    """The Studio did not start it."""
    alarm = alarm_of("spill-swap", frozenset(("processor",)))
    assert any(one.kind is RemedyKind.RESTART for one in alarm.remedies)

    made = fitted(alarm, None, {})

    assert all(not one.can_apply for one in made.remedies)


def test_a_knob_that_the_preset_lacks_is_not_offered(presets: PresetStore) -> None:
    """The small model on the processor has no KV tier."""
    alarm = alarm_of("spill-swap", frozenset(("processor",)))

    made = fitted(alarm, presets.get("cpu-demo"), {PIN: "4294967296"})

    assert [list(one) for one in settings(made)] == [[PIN]]


def test_two_ways_that_come_to_the_same_are_one(presets: PresetStore) -> None:
    """A list with doubles looks like a mistake."""
    one = Remedy(kind=RemedyKind.ADVICE, text="Close what uses it.")
    alarm = Alarm(
        code="a-b", severity=Severity.NOTICE, title="T", cause="C.", remedies=(one, one),
        since=0.0, raised_at=0.0,
    )  # fmt: skip

    assert fitted(alarm, presets.get("cpu-demo"), {}).remedies == (one,)


def all_presets(presets: PresetStore) -> list[Preset]:
    """Return each preset that ships."""
    folder = bundled_root() / "presets"
    return [presets.get(Path(file).stem) for file in sorted(folder.glob("*.toml"))]


@pytest.mark.parametrize("code", [rule.code for rule in RULES])
def test_no_remedy_shows_a_name_in_braces(presets: PresetStore, code: str) -> None:
    """Whatever preset runs, what is shown is a sentence with figures."""
    alarm = alarm_of(code, frozenset(("processor", "pinned", "wsl")))
    for preset in all_presets(presets):
        present = {
            name: str(knob.default)
            for name, knob in preset.knobs.items()
            if knob.default is not None
        }
        for remedy in fitted(alarm, preset, present).remedies:
            assert "{" not in remedy.text
            assert "{" not in (remedy.command or "")
            assert not any(value[:1] in "*-" for value in remedy.settings.values())
