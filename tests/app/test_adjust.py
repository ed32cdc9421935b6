"""The facade of changes of requests: chosen once, kept, and in force for the next request."""

from pathlib import Path

import pytest

from studio.app.adjust import Adjustments
from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput, NotFound
from studio.domain.gateway import AdjustmentChange
from studio.gateway import traps
from studio.gateway.adjust import Adjuster
from studio.gateway.engine import EngineTarget
from studio.host.http_client import Upstream
from studio.host.paths import bundled_root

RULES = traps.load(bundled_root() / "runtimes" / "client_traps.toml")


def made(path: Path, engine: EngineTarget | None = None) -> Adjustments:
    """Return the facade over a settings file."""
    return Adjustments(
        Adjuster(RULES),
        SettingsFile(path / "settings.json"),
        engine=lambda: engine,
        names=lambda: {"k1": "laptop"},
    )


def state(adjustments: Adjustments, name: str) -> tuple[bool, bool, dict[str, bool]]:
    """Return whether a rule is on, by itself, and for which keys it is another way."""
    (one,) = [one for one in adjustments.all().adjustments if one.id == name]
    return one.is_on, one.is_default, one.keys


def test_a_choice_holds_over_a_restart(tmp_path: Path) -> None:
    """For everybody and for one key."""
    one = made(tmp_path)
    one.change(AdjustmentChange(id="attribution-line", is_on=True, key="k1"))
    one.change(AdjustmentChange(id="stop-empty", is_on=False))

    for again in (one, made(tmp_path)):
        assert state(again, "attribution-line") == (False, True, {"laptop": True})
        assert state(again, "stop-empty") == (False, False, {})
        assert state(again, "tools-empty") == (True, True, {})


def test_all_are_switched_off_together_and_come_back_as_they_were(tmp_path: Path) -> None:
    """Who looks for a mistake switches everything off first."""
    one = made(tmp_path)
    off = one.change(AdjustmentChange(id="all", is_on=False))
    assert off.are_off
    assert not any(rule.is_on for rule in off.adjustments)

    back = one.change(AdjustmentChange(id="all", is_on=None))
    assert not back.are_off
    assert all(rule.is_on is not rule.is_asked for rule in back.adjustments)


def test_what_is_asked_for_wrongly_is_refused(tmp_path: Path) -> None:
    """With nothing changed."""
    one = made(tmp_path)
    with pytest.raises(NotFound, match="no change of requests called 'x'"):
        one.change(AdjustmentChange(id="x", is_on=True))
    with pytest.raises(BadInput, match="switched on together"):
        one.change(AdjustmentChange(id="all", is_on=True))

    assert not (tmp_path / "settings.json").exists()


def test_rules_that_are_not_for_the_engine_say_so(tmp_path: Path) -> None:
    """What nobody knows is not said."""
    engine = EngineTarget(upstream=Upstream(port=1), key=None, served_name="m")
    fits = {one.id: one.fits for one in made(tmp_path, engine).all().adjustments}

    assert (fits["effort-unknown"], fits["stop-empty"]) == (False, True)
    assert {one.fits for one in made(tmp_path).all().adjustments} == {None}


def test_what_was_chosen_for_a_key_goes_with_it(tmp_path: Path) -> None:
    """Its id is never used again."""
    one = made(tmp_path)
    one.change(AdjustmentChange(id="attribution-line", is_on=True, key="k1"))

    one.forget("k1")

    assert state(one, "attribution-line") == (False, True, {})
    one.begin()
    assert one.all().adjustments[0].times == 0
