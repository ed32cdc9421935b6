"""What is known of the engine that runs: its preset, settings, cards, and whether it died."""

from pathlib import Path

import msgspec
import pytest

from studio.app.run_facts import RunFacts
from studio.domain.errors import ErrorInfo
from studio.domain.server import EngineSnapshot, EngineState
from studio.host.paths import Paths
from studio.presets.store import PresetStore
from studio.serving.command import Launch
from tests.app.test_slow_paths import launch
from tests.fakes.catalogue import PRESET, make_catalogue

READY = EngineSnapshot(state=EngineState.READY)
ERROR = ErrorInfo(code="engine-killed", message="The engine was killed.")


def of_preset(cards: str = "", **knobs: object) -> Launch:
    """Return the start of the fake preset."""
    made = launch(cards)
    return Launch(
        **{
            **{field: getattr(made, field) for field in made.__slots__},
            "preset": PRESET,
            "knobs": knobs,
        }
    )


@pytest.fixture
def facts(tmp_path: Path) -> RunFacts:
    """Return the facts of a service that has started nothing yet."""
    store = PresetStore(Paths(home=tmp_path, catalogue=make_catalogue(tmp_path / "catalogue")))
    return RunFacts(store.get, is_wsl=False)


def test_nothing_is_known_before_a_start(facts: RunFacts) -> None:
    """And nothing is guessed."""
    facts.hear(EngineSnapshot(), 1.0)

    assert facts.preset is None
    assert facts.present == {}
    assert facts.cards is None
    assert facts.flags == frozenset()
    assert facts.serving_since_s is None


def test_settings_are_as_typed(facts: RunFacts) -> None:
    """Remedies compute with them."""
    facts.begin(of_preset("", max_num_seqs=8, enforce_eager=True))

    assert facts.preset is not None
    assert facts.present == {"max_num_seqs": "8", "enforce_eager": "true"}
    assert facts.max_num_seqs == 8


@pytest.mark.parametrize(
    ("cards", "numbers", "flags"),
    [
        ("", frozenset(), {"processor"}),
        ("0,2", {0, 2}, set()),
        ("GPU-abc", None, set()),
    ],
)
def test_the_cards_are_those_that_it_was_given(
    facts: RunFacts, cards: str, numbers: object, flags: set[str]
) -> None:
    """An id says not which number it has: then all cards are looked at."""
    facts.begin(of_preset(cards))

    assert facts.cards == numbers
    assert facts.flags == flags


def test_a_pin_and_windows_are_known(tmp_path: Path) -> None:
    """Remedies depend on them."""
    store = PresetStore(Paths(home=tmp_path, catalogue=make_catalogue(tmp_path / "catalogue")))
    facts = RunFacts(store.get, is_wsl=True)
    facts.begin(of_preset("0", kv_cache_memory_bytes=5))

    assert facts.flags == {"wsl", "pinned"}


def test_a_preset_that_was_taken_away_offers_nothing(facts: RunFacts) -> None:
    """What runs goes on."""
    facts.begin(launch())

    assert facts.preset is None


def test_an_adopted_engine_has_no_settings_of_ours(facts: RunFacts) -> None:
    """Even though one of ours ran before it."""
    facts.begin(of_preset("0", max_num_seqs=8))

    facts.hear(EngineSnapshot(state=EngineState.ADOPTED), 1.0)

    assert (facts.preset, facts.present, facts.cards) == (None, {}, None)
    assert facts.serving_since_s == 1.0


def test_a_death_is_known_until_it_serves_again(facts: RunFacts) -> None:
    """Through back-off and the boot after it."""
    facts.begin(of_preset())
    facts.hear(READY, 1.0)
    assert facts.serving_since_s == 1.0

    facts.hear(EngineSnapshot(state=EngineState.BACKING_OFF, error=ERROR), 2.0)
    assert facts.death == "The engine was killed."
    facts.hear(EngineSnapshot(state=EngineState.STARTING), 3.0)
    assert facts.death == "The engine was killed."
    facts.hear(READY, 4.0)

    assert facts.death is None
    assert facts.serving_since_s == 4.0


@pytest.mark.parametrize("state", [EngineState.FAILED, EngineState.STARTING, EngineState.STOPPED])
def test_a_start_that_never_served_is_no_death(facts: RunFacts, state: EngineState) -> None:
    """`weir up` says what it failed at."""
    facts.begin(of_preset())

    facts.hear(msgspec.structs.replace(READY, state=state, error=ERROR), 1.0)

    assert facts.death is None


def test_a_stop_is_no_death(facts: RunFacts) -> None:
    """Somebody wanted it."""
    facts.hear(READY, 1.0)
    facts.hear(EngineSnapshot(state=EngineState.STOPPED), 2.0)
    facts.hear(EngineSnapshot(state=EngineState.FAILED, error=ERROR), 3.0)

    assert facts.death is None
