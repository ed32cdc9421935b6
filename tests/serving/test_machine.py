"""The engine's life, driven with every interleaving that hypothesis can think of."""

from hypothesis import given
from hypothesis import strategies as st

from studio.domain.server import EngineState as State
from studio.serving import machine
from studio.serving.machine import Effect, Input, Kind, Machine

UP = (Kind.START, Kind.PREPARED, Kind.BECAME_READY)


def walk(*kinds: Kind, at_s: float = 0.0) -> tuple[Machine, list[Effect]]:
    """Feed these inputs to a fresh machine."""
    now, effects = Machine(), []
    for kind in kinds:
        now, more = machine.step(now, Input(kind=kind, at_s=at_s))
        effects += more
    return now, effects


def test_a_boot_goes_from_stopped_to_ready() -> None:
    """The one path that every user takes."""
    now, effects = walk(Kind.START, Kind.PREPARED, Kind.BECAME_READY)

    assert now.state is State.READY
    assert effects == [Effect.PREPARE, Effect.SPAWN]


def test_a_boot_that_dies_is_not_repeated() -> None:
    """A wrong flag would otherwise be tried for ever, a minute each."""
    now, effects = walk(Kind.START, Kind.PREPARED, Kind.EXITED)

    assert now.state is State.FAILED
    assert effects[-1] is Effect.DIAGNOSE


def test_a_stop_while_serving_drains_before_it_terminates() -> None:
    """Answers that are being written are finished first."""
    now, effects = walk(
        Kind.START, Kind.PREPARED, Kind.BECAME_READY, Kind.STOP, Kind.DRAINED, Kind.EXITED
    )

    assert now.state is State.STOPPED
    assert effects[2:] == [Effect.DRAIN, Effect.TERMINATE]


def test_a_second_stop_does_not_wait_for_the_answers() -> None:
    """Pressing Stop twice means now."""
    now, effects = walk(Kind.START, Kind.PREPARED, Kind.BECAME_READY, Kind.STOP, Kind.STOP)

    assert now.state is State.STOPPING
    assert effects[-1] is Effect.TERMINATE


def test_an_engine_that_cannot_generate_ends_as_failed() -> None:
    """Up is not ready: a hybrid may answer /health and die on the first request."""
    now, effects = walk(Kind.START, Kind.PREPARED, Kind.NOT_USABLE, Kind.EXITED)

    assert now.state is State.FAILED
    assert Effect.KILL in effects


def test_an_engine_that_will_not_go_is_killed() -> None:
    """SIGTERM may be ignored; SIGKILL may not."""
    now, effects = walk(*UP, Kind.STOP, Kind.DRAINED, Kind.OVERDUE)

    assert now.state is State.STOPPING
    assert effects[-1] is Effect.KILL


def test_a_stop_during_the_boot_does_not_ask() -> None:
    """vLLM 0.32 loses a SIGTERM that comes while it boots, and boots on; nothing is lost by it."""
    now, effects = walk(Kind.START, Kind.PREPARED, Kind.STOP)

    assert now.state is State.STOPPING
    assert effects[-1] is Effect.KILL


def test_a_death_while_serving_is_followed_by_a_new_start() -> None:
    """Nobody should have to press Start at night."""
    now, effects = walk(Kind.START, Kind.PREPARED, Kind.BECAME_READY, Kind.EXITED, Kind.RETRY)

    assert now.state is State.PREPARING
    assert effects[-3:] == [Effect.DIAGNOSE, Effect.ARM_RETRY, Effect.PREPARE]


def test_the_third_death_in_ten_minutes_stops_the_crash_loop() -> None:
    """A crash loop hides its cause and heats the room."""
    life = (Kind.PREPARED, Kind.BECAME_READY, Kind.EXITED)
    now, _ = walk(Kind.START, *life, Kind.RETRY, *life, Kind.RETRY, *life)

    assert now.state is State.FAILED


def test_deaths_far_apart_never_add_up() -> None:
    """Three deaths in a month are three restarts."""
    now = Machine()
    for hour in range(5):
        at_s = hour * 3600.0
        kinds = (Kind.START, Kind.PREPARED, Kind.BECAME_READY, Kind.EXITED, Kind.RETRY)
        for kind in kinds:
            now, _ = machine.step(now, Input(kind=kind, at_s=at_s))

    assert now.state is State.PREPARING


def test_late_news_changes_nothing() -> None:
    """A ready that arrives after Stop must not bring a stopped engine back."""
    stopped, _ = walk(Kind.START, Kind.PREPARED, Kind.STOP, Kind.EXITED)

    assert machine.step(stopped, Input(kind=Kind.BECAME_READY)) == (stopped, ())


@given(st.lists(st.sampled_from(list(Kind)), max_size=60))
def test_no_interleaving_yields_two_children_or_a_dead_end(kinds: list[Kind]) -> None:
    """Whatever happens in whatever order: one child at most, and Stop always leads out."""
    now = Machine()
    has_child = False
    for number, kind in enumerate(kinds):
        now, effects = machine.step(now, Input(kind=kind, at_s=float(number)))
        if kind is Kind.EXITED:
            has_child = False
        if Effect.SPAWN in effects:
            assert not has_child
            has_child = True
        if not now.has_child:
            has_child = False
        assert now.has_child or Effect.KILL not in effects

    for kind in (Kind.STOP, Kind.DRAINED, Kind.OVERDUE, Kind.EXITED, Kind.STOP):
        now, _ = machine.step(now, Input(kind=kind, at_s=1e6))
    assert now.state is State.STOPPED
