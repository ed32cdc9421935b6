"""What the person chose about on demand: each value in one form, mistakes named."""

import pytest

from studio.app.demand_choices import (
    PLAIN_WAIT_S,
    STREAM_WAIT_S,
    changed,
    rules,
    within_s,
)
from studio.domain.demand import Abandoned, DemandChange, DemandSettings, ListedPreset
from studio.domain.errors import BadInput, NotFound, StudioError


def check(preset: str, overrides: dict[str, str]) -> None:
    """Know `a` and `b`."""
    if preset not in ("a", "b"):
        raise NotFound("preset-unknown", f"There is no preset `{preset}`.")
    if overrides.get("bad"):
        raise BadInput("knob-unknown", "No such knob.")


def after(*changes: DemandChange) -> DemandSettings:
    """Return the settings after changes, beginning with none."""
    settings = DemandSettings()
    for change in changes:
        settings = changed(settings, change, check)
    return settings


def test_a_preset_is_listed_changed_in_place_and_taken_off() -> None:
    """The order says which of two with one public name is meant."""
    made = after(
        DemandChange(preset="a"),
        DemandChange(preset="b", overrides={"x": "1"}, ttl="2h"),
        DemandChange(preset="a", ttl="0"),
    )

    assert list(made.presets) == ["a", "b"]
    assert made.presets["a"] == ListedPreset(ttl_s=0.0)
    assert made.presets["b"] == ListedPreset(overrides={"x": "1"}, ttl_s=7_200.0)
    kept = changed(made, DemandChange(preset="b", ttl="default"), check)
    assert kept.presets["b"] == ListedPreset(overrides={"x": "1"})
    assert list(changed(made, DemandChange(remove="a"), check).presets) == ["b"]


def test_the_rest_is_read_in_one_form() -> None:
    """What is kept is what the policy takes."""
    made = after(
        DemandChange(
            is_on=False,
            default_ttl="90s",
            ttl_by_hand=True,
            residence="1.5m",
            wait="30",
            queue_length=7,
            abandoned=" END ",
        )
    )

    assert made == DemandSettings(
        is_on=False,
        ttl_s=90.0,
        ttl_by_hand=True,
        residence_s=90.0,
        wait_s=30.0,
        queue_length=7,
        abandoned=Abandoned.END,
    )
    back = changed(made, DemandChange(residence="auto", wait="AUTO"), check)
    assert (back.residence_s, back.wait_s) == (None, None)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (DemandChange(preset="c"), "preset-unknown"),
        (DemandChange(preset="a", overrides={"bad": "1"}), "knob-unknown"),
        (DemandChange(preset="a", ttl="soon"), "demand-value"),
        (DemandChange(preset="a", ttl="-1"), "demand-value"),
        (DemandChange(preset="a", ttl="31d"), "demand-value"),
        (DemandChange(preset="a", ttl="auto"), "demand-value"),
        (DemandChange(ttl="5m"), "demand-value"),
        (DemandChange(overrides={"x": "1"}), "demand-value"),
        (DemandChange(remove="a"), "demand-not-listed"),
        (DemandChange(wait="2h"), "demand-value"),
        (DemandChange(default_ttl="default"), "demand-value"),
        (DemandChange(queue_length=0), "demand-value"),
        (DemandChange(queue_length=100_000), "demand-value"),
        (DemandChange(abandoned="later"), "demand-value"),
    ],
)
def test_a_mistake_is_named_and_changes_nothing(change: DemandChange, code: str) -> None:
    """Each says what it can be."""
    with pytest.raises(StudioError) as caught:
        after(change)

    assert caught.value.code == code
    assert caught.value.message


def test_the_policy_gets_what_was_chosen() -> None:
    """Off means that nothing is listed."""
    made = after(DemandChange(preset="a", ttl="5"), DemandChange(preset="b"))

    on = rules(made, is_held=True)
    assert on.listed == {"a", "b"}
    assert dict(on.ttls_s) == {"a": 5.0}
    assert on.is_held
    off = rules(changed(made, DemandChange(is_on=False), check), is_held=False)
    assert off.listed == frozenset()


def test_streams_wait_longer_than_those_that_show_nothing() -> None:
    """Node gives up after 300 s without headers; a stream has its headers."""
    assert within_s(DemandSettings(), is_stream=False) == PLAIN_WAIT_S < 300
    assert within_s(DemandSettings(), is_stream=True) == STREAM_WAIT_S
    assert within_s(DemandSettings(wait_s=9.0), is_stream=True) == 9.0
