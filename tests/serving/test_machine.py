"""The engine's life, driven with every interleaving that hypothesis can think of."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.domain.server import EngineState as State
from studio.domain.settings import OnDeath, OnStall
from studio.serving import machine
from studio.serving.machine import Effect, Input, Kind, Machine, Policy

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


def test_an_engine_that_lost_a_process_is_ended_and_started_again() -> None:
    """Its web server lives on and says 200 to `/health`; nobody gets an answer from it."""
    now, effects = walk(*UP, Kind.PART_DIED)
    assert now.state is State.STOPPING
    assert effects[-1] is Effect.KILL_SOON
    assert machine.step(now, Input(kind=Kind.OVERDUE))[1] == (Effect.KILL,)
    assert machine.is_coming(now)

    now, effects = machine.step(now, Input(kind=Kind.EXITED))

    assert now.state is State.BACKING_OFF
    assert effects == (Effect.DIAGNOSE, Effect.ARM_RETRY)


def test_nobody_is_asked_for_last_words_when_a_process_was_killed() -> None:
    """The rest does not know more than the signal; half a second without answers is saved."""
    now, effects = walk(*UP, Kind.PART_KILLED)
    assert now.state is State.STOPPING
    assert effects[-1] is Effect.KILL
    assert machine.step(now, Input(kind=Kind.EXITED))[0].state is State.BACKING_OFF

    now, effects = walk(*UP, Kind.STOP, Kind.PART_KILLED)
    assert effects[-1] is Effect.KILL
    assert machine.step(now, Input(kind=Kind.EXITED))[0].state is State.STOPPED


def test_a_boot_that_lost_a_process_is_not_repeated() -> None:
    """Two workers of three load weights for ever; the third was killed for want of memory."""
    now, effects = walk(Kind.START, Kind.PREPARED, Kind.PART_DIED, Kind.EXITED)

    assert now.state is State.FAILED
    assert effects[-2:] == [Effect.KILL, Effect.DIAGNOSE]


def test_nobody_is_waited_for_once_a_draining_engine_lost_a_process() -> None:
    """The answers that a drain waits for will not come."""
    now, effects = walk(*UP, Kind.STOP, Kind.PART_DIED)

    assert now.state is State.STOPPING
    assert effects[-1] is Effect.KILL_SOON
    assert machine.step(now, Input(kind=Kind.EXITED))[0].state is State.STOPPED


def test_a_stop_during_a_crash_means_stop() -> None:
    """Whoever presses Stop while the engine is being ended does not want it back."""
    now, _ = walk(*UP, Kind.PART_DIED, Kind.STOP, Kind.EXITED)

    assert now.state is State.STOPPED


@pytest.mark.parametrize(
    ("action", "state", "effects"),
    [
        (OnStall.RESTART, State.STOPPING, (Effect.KILL,)),
        (OnStall.TELL, State.READY, (Effect.TELL_STALL,)),
        (OnStall.WAIT, State.READY, ()),
    ],
)
def test_what_follows_a_standstill_is_policy(
    action: OnStall, state: State, effects: tuple[Effect, ...]
) -> None:
    """Who debugs a hang wants it left as it is."""
    up, _ = walk(*UP)

    now, found = machine.step(up, Input(kind=Kind.STALLED), Policy(on_stall=action))

    assert (now.state, found) == (state, effects)


def test_whoever_only_wants_to_be_told_gets_no_restart() -> None:
    """An engine that died is left as it lies, with its cause."""
    up, _ = walk(*UP)

    now, found = machine.step(up, Input(kind=Kind.EXITED), Policy(on_death=OnDeath.TELL))

    assert (now.state, found) == (State.FAILED, (Effect.DIAGNOSE,))


def test_standstills_count_for_the_brake() -> None:
    """An engine that hangs on each long prompt is as good as one that dies of it."""
    life = (Kind.PREPARED, Kind.BECAME_READY, Kind.STALLED, Kind.EXITED)
    now, effects = walk(Kind.START, *life, Kind.RETRY, *life, Kind.RETRY, *life)

    assert now.state is State.FAILED
    assert effects[-1] is Effect.BRAKE


class World:
    """The supervisor's side of the machine: what it was told to do, and who waits for what."""

    def __init__(self) -> None:
        self.machine = Machine()
        self.at_s = 0.0
        self.has_child = False
        self.is_preparing = False
        self.is_retrying = False
        self.is_ending = False
        self.deaths: list[float] = []

    def happen(self, kind: Kind, policy: Policy) -> None:
        """Feed one input, do what it asks for, and check what must always hold."""
        if kind is Kind.EXITED:
            self.has_child = self.is_ending = False
        if kind in (Kind.PREPARED, Kind.PREPARE_FAILED):
            self.is_preparing = False
        if kind is Kind.RETRY:
            self.is_retrying = False
        self.machine, effects = machine.step(self.machine, Input(kind=kind, at_s=self.at_s), policy)
        for effect in effects:
            self.do(effect)
        self.check()

    def do(self, effect: Effect) -> None:
        """Keep what would now be under way."""
        match effect:
            case Effect.SPAWN:
                assert not self.has_child, "two children"
                self.has_child = True
            case Effect.PREPARE:
                assert not self.has_child, "prepared beside a child"
                assert not self.is_preparing, "prepared twice"
                self.is_preparing = True
            case Effect.CANCEL_PREPARE:
                self.is_preparing = False
            case Effect.ARM_RETRY:
                assert not self.is_retrying
                self.is_retrying = True
                self.deaths.append(self.at_s)
            case Effect.CANCEL_RETRY:
                self.is_retrying = False
            case Effect.KILL | Effect.KILL_SOON | Effect.TERMINATE:
                assert self.has_child, "nobody to end"
                self.is_ending = True
            case Effect.DRAIN:
                assert self.has_child
            case Effect.DIAGNOSE | Effect.BRAKE | Effect.TELL_STALL:
                pass

    def check(self) -> None:
        """Every state has whoever will lead out of it, so that nobody waits for ever."""
        now = self.machine
        assert now.has_child == self.has_child
        assert (now.state is State.PREPARING) == self.is_preparing
        assert (now.state is State.BACKING_OFF) == self.is_retrying
        if now.state is State.STOPPING:
            assert self.is_ending
        recent = [at_s for at_s in self.deaths if self.at_s - at_s < machine.CRASH_WINDOW_S]
        assert len(now.crashes_at_s) < machine.CRASH_LIMIT
        assert len(now.crashes_at_s) <= max(len(recent), len(self.deaths))

    def possible(self) -> list[Kind]:
        """Return what the world outside may bring now; anything else is news of earlier lives."""
        kinds = [Kind.START, Kind.STOP]
        if self.has_child:
            kinds += [
                Kind.EXITED, Kind.PART_DIED, Kind.PART_KILLED, Kind.STALLED, Kind.BECAME_READY,
                Kind.NOT_USABLE, Kind.DRAINED, Kind.OVERDUE,
            ]  # fmt: skip
        if self.is_preparing:
            kinds += [Kind.PREPARED, Kind.PREPARE_FAILED]
        if self.is_retrying:
            kinds.append(Kind.RETRY)
        return kinds

    def settle(self) -> None:
        """Let what is under way come to its end, and nothing new begin."""
        for _ in range(20):
            match self.machine.state:
                case State.STOPPED | State.FAILED | State.READY:
                    return
                case State.PREPARING:
                    self.happen(Kind.PREPARED, Policy())
                case State.STARTING:
                    self.happen(Kind.BECAME_READY, Policy())
                case State.DRAINING:
                    self.happen(Kind.DRAINED, Policy())
                case State.STOPPING:
                    self.happen(Kind.EXITED, Policy())
                case State.BACKING_OFF:
                    self.happen(Kind.RETRY, Policy())
        raise AssertionError(f"stuck in {self.machine}")


POLICIES = st.builds(
    Policy, on_death=st.sampled_from(list(OnDeath)), on_stall=st.sampled_from(list(OnStall))
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_interleaving_has_one_child_at_most_and_an_end(data: st.DataObject) -> None:
    """Whatever happens in whatever order and at whatever pace, under policies that change."""
    world = World()
    for _ in range(data.draw(st.integers(0, 40))):
        world.at_s += data.draw(st.sampled_from([0.0, 1.0, 250.0, 700.0]))
        world.happen(data.draw(st.sampled_from(world.possible())), data.draw(POLICIES))

    world.settle()
    world.happen(Kind.STOP, Policy())
    world.settle()

    assert world.machine.state is State.STOPPED


@given(st.lists(st.sampled_from(list(Kind)), max_size=60), POLICIES)
def test_late_news_in_any_order_never_yields_two_children(
    kinds: list[Kind], policy: Policy
) -> None:
    """Also what cannot happen: a table with a hole would go unseen until it did."""
    now, has_child = Machine(), False
    for number, kind in enumerate(kinds):
        now, effects = machine.step(now, Input(kind=kind, at_s=float(number)), policy)
        has_child = has_child and kind is not Kind.EXITED
        if Effect.SPAWN in effects:
            assert not has_child
            has_child = True
        has_child = has_child and now.has_child
        assert now.has_child or Effect.KILL not in effects

    for kind in (Kind.STOP, Kind.DRAINED, Kind.OVERDUE, Kind.EXITED, Kind.STOP):
        now, _ = machine.step(now, Input(kind=kind, at_s=1e6), policy)
    assert now.state is State.STOPPED
