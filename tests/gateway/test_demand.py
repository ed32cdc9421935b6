"""Which engine runs when, as a table and as a game against any order of requests."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.demand import Reason
from studio.gateway.demand import (
    ABANDONED_S,
    BRAKES_S,
    LONGEST_RESIDENCE_S,
    SHORTEST_RESIDENCE_S,
    Act,
    Decision,
    Line,
    Present,
    Rules,
    Stand,
    braked,
    decide,
    residence_s,
)

NOW_S = 1_000.0
LISTED = Rules(listed=frozenset({"a", "b", "c"}), residence_s=60.0)
READY = Present(stand=Stand.READY, preset="a", ready_s=NOW_S - 10, boot_s=30.0, idle_s=NOW_S)
LONG_READY = dataclasses.replace(READY, ready_s=NOW_S - 100)
BY_HAND = dataclasses.replace(LONG_READY, is_by_hand=True)
COMING = Present(stand=Stand.COMING, preset="a")
A, B, C = (Line(preset=name, since_s=NOW_S - age) for name, age in (("a", 5), ("b", 9), ("c", 7)))
TTL = dataclasses.replace(LISTED, ttl_s=30.0)


@pytest.mark.parametrize(
    ("present", "lines", "rules", "expected"),
    [
        pytest.param(Present(), [], LISTED, Decision(), id="nothing to do"),
        pytest.param(
            Present(),
            [A, B, C],
            LISTED,
            Decision(act=Act.START, preset="b", reason=Reason.WANTED),
            id="who waits longest starts",
        ),
        pytest.param(
            READY,
            [B],
            LISTED,
            Decision(preset="b", at_s=NOW_S + 50, reason=Reason.RESIDENCE),
            id="what serves stays for its time",
        ),
        pytest.param(
            dataclasses.replace(LONG_READY, is_measured=True),
            [C, B],
            LISTED,
            Decision(preset="b", reason=Reason.MEASURED),
            id="what is being measured stays until that is over",
        ),
        pytest.param(
            LONG_READY,
            [C, B],
            LISTED,
            Decision(act=Act.SWITCH, preset="b", reason=Reason.WANTED),
            id="then the oldest has its turn",
        ),
        pytest.param(
            BY_HAND,
            [B],
            LISTED,
            Decision(act=Act.SWITCH, preset="b", reason=Reason.WANTED),
            id="a listed one that was started by hand comes back by itself",
        ),
        pytest.param(
            BY_HAND,
            [B],
            dataclasses.replace(LISTED, listed=frozenset({"b"})),
            Decision(act=Act.TURN_AWAY, preset="b", reason=Reason.BY_HAND),
            id="one that is not listed would not",
        ),
        pytest.param(
            COMING,
            [B],
            LISTED,
            Decision(preset="b", reason=Reason.BOOTING),
            id="a boot is waited for",
        ),
        pytest.param(
            dataclasses.replace(COMING, alone_s=NOW_S - ABANDONED_S),
            [],
            dataclasses.replace(LISTED, ends_abandoned=True),
            Decision(act=Act.END_BOOT, preset="a", at_s=NOW_S, reason=Reason.ABANDONED),
            id="a boot for nobody ends",
        ),
        pytest.param(
            dataclasses.replace(COMING, alone_s=NOW_S - 900, is_by_hand=True),
            [],
            dataclasses.replace(LISTED, ends_abandoned=True),
            Decision(reason=Reason.BOOTING),
            id="but not a person's",
        ),
        pytest.param(
            dataclasses.replace(COMING, alone_s=NOW_S - 900),
            [],
            LISTED,
            Decision(reason=Reason.BOOTING),
            id="unless left boots go on",
        ),
        pytest.param(
            Present(stand=Stand.ENDING, preset="a"),
            [B],
            LISTED,
            Decision(preset="b", reason=Reason.ENDING),
            id="an end is waited for",
        ),
        pytest.param(
            dataclasses.replace(LONG_READY, idle_s=NOW_S - 20),
            [],
            TTL,
            Decision(preset="a", at_s=NOW_S + 10, reason=Reason.IDLE),
            id="idle, not long enough",
        ),
        pytest.param(
            dataclasses.replace(LONG_READY, idle_s=NOW_S - 30),
            [],
            TTL,
            Decision(act=Act.STOP, preset="a", at_s=NOW_S, reason=Reason.IDLE),
            id="idle for long enough",
        ),
        pytest.param(
            dataclasses.replace(READY, idle_s=NOW_S - 900),
            [],
            TTL,
            Decision(preset="a", at_s=NOW_S + 20, reason=Reason.IDLE),
            id="idleness counts from readiness",
        ),
        pytest.param(
            dataclasses.replace(LONG_READY, idle_s=None),
            [],
            TTL,
            Decision(at_s=NOW_S + 30),
            id="in use",
        ),
        pytest.param(
            dataclasses.replace(BY_HAND, idle_s=NOW_S - 900),
            [],
            TTL,
            Decision(),
            id="a person's engine is left alone",
        ),
        pytest.param(
            dataclasses.replace(BY_HAND, idle_s=NOW_S - 900),
            [],
            dataclasses.replace(TTL, ttl_by_hand=True),
            Decision(act=Act.STOP, preset="a", at_s=NOW_S - 70, reason=Reason.IDLE),
            id="unless they said so",
        ),
        pytest.param(
            dataclasses.replace(LONG_READY, idle_s=NOW_S - 900),
            [],
            dataclasses.replace(TTL, ttls_s={"a": 0.0}),
            Decision(),
            id="0 is never",
        ),
        pytest.param(
            Present(),
            [B],
            dataclasses.replace(LISTED, is_held=True),
            Decision(act=Act.TURN_AWAY, preset="b", reason=Reason.HELD),
            id="stop means stop",
        ),
        pytest.param(
            Present(stand=Stand.FOREIGN),
            [B],
            LISTED,
            Decision(act=Act.TURN_AWAY, preset="b", reason=Reason.BY_HAND),
            id="another's engine is no business of ours",
        ),
    ],
)
def test_the_table(present: Present, lines: list[Line], rules: Rules, expected: Decision) -> None:
    """Each row is a sentence of the rules that people are told."""
    assert decide(NOW_S, present, lines, rules) == expected


@pytest.mark.parametrize(
    ("boot_s", "chosen_s", "expected_s"),
    [
        (42.0, None, 42.0),
        (0.5, None, SHORTEST_RESIDENCE_S),
        (4_000.0, None, LONGEST_RESIDENCE_S),
        (None, None, 30.0),
        (42.0, 7.0, 7.0),
        (42.0, 0.0, 0.0),
    ],
)
def test_an_engine_serves_as_long_as_its_boot_took(
    boot_s: float | None, chosen_s: float | None, expected_s: float
) -> None:
    """So at most half of the time goes into boots."""
    assert residence_s(boot_s, Rules(residence_s=chosen_s)) == expected_s


def test_a_preset_that_fails_is_left_alone_for_ever_longer() -> None:
    """Requests come all day; boots that fail must not."""
    brake = None
    for expected_s in (*BRAKES_S, BRAKES_S[-1]):
        brake = braked(brake, NOW_S, heals=True)
        assert brake.until_s == NOW_S + expected_s
        assert brake.holds(brake.until_s - 1)
        assert not brake.holds(brake.until_s)
    assert braked(None, NOW_S, heals=False).until_s == NOW_S + BRAKES_S[-1]


@dataclasses.dataclass
class Asked:
    """One request of the game."""

    preset: str
    at_s: int
    patience_s: int
    ended_s: int | None = None
    is_served: bool = False


class Game:
    """A machine with one engine, second by second."""

    def __init__(self, requests: list[Asked], boots_s: dict[str, int], rules: Rules) -> None:
        self.requests = requests
        self.boots_s = boots_s
        self.rules = rules
        self.present = Present()
        self.ready_at_s: int | None = None
        self.switches: list[tuple[int, float]] = []
        """When, and when what was pushed out had become ready."""

    def play(self, until_s: int) -> None:
        """Let time pass."""
        for now_s in range(until_s):
            self._second(now_s)

    def _second(self, now_s: int) -> None:
        if self.ready_at_s is not None and now_s >= self.ready_at_s:
            self.ready_at_s = None
            preset = self.present.preset
            assert preset is not None
            self.present = Present(
                stand=Stand.READY, preset=preset, ready_s=now_s, idle_s=now_s,
                boot_s=self.boots_s[preset],
            )  # fmt: skip
        waiting = [one for one in self.requests if one.at_s <= now_s and one.ended_s is None]
        for one in waiting:
            if self.present.stand is Stand.READY and one.preset == self.present.preset:
                one.ended_s, one.is_served = now_s, True
                self.present = dataclasses.replace(self.present, idle_s=now_s)
            elif now_s - one.at_s >= one.patience_s:
                one.ended_s = now_s
        oldest: dict[str, float] = {}
        for one in waiting:
            if one.ended_s is None:
                oldest[one.preset] = min(one.at_s, oldest.get(one.preset, now_s))
        lines = [Line(preset=preset, since_s=since_s) for preset, since_s in oldest.items()]
        self._act(now_s, decide(now_s, self.present, lines, self.rules))

    def _act(self, now_s: int, decision: Decision) -> None:
        match decision.act:
            case Act.START | Act.SWITCH:
                assert self.ready_at_s is None, "two engines at a time"
                assert decision.preset is not None
                assert (decision.act is Act.SWITCH) is (self.present.stand is Stand.READY)
                if self.present.ready_s is not None:
                    self.switches.append((now_s, self.present.ready_s))
                self.present = Present(stand=Stand.COMING, preset=decision.preset)
                self.ready_at_s = now_s + self.boots_s[decision.preset]
            case Act.STOP:
                self.present = Present()
            case _:
                assert decision.act is Act.WAIT
                assert decision.at_s is None or decision.at_s > now_s, "a loop without a pause"


PRESETS = ("a", "b", "c")
ASKED = st.builds(
    Asked,
    preset=st.sampled_from(PRESETS),
    at_s=st.integers(0, 200),
    patience_s=st.integers(1, 2_000),
)
BOOTS = st.fixed_dictionaries({name: st.integers(1, 40) for name in PRESETS})
RESIDENCES = st.one_of(st.none(), st.integers(0, 60).map(float))
TTLS = st.sampled_from([0.0, 5.0, 60.0])


@given(st.lists(ASKED, max_size=30), BOOTS, RESIDENCES, TTLS)
def test_every_request_ends_and_switches_keep_their_distance(
    requests: list[Asked], boots_s: dict[str, int], chosen_s: float | None, ttl_s: float
) -> None:
    """Whatever clients do: one engine, an upper bound on thrash, and nobody waits for ever."""
    rules = Rules(listed=frozenset(PRESETS), residence_s=chosen_s, ttl_s=ttl_s)
    game = Game(requests, boots_s, rules)

    game.play(2_400)

    assert all(one.ended_s is not None for one in requests)
    for at_s, ready_s in game.switches:
        least_s = chosen_s if chosen_s is not None else SHORTEST_RESIDENCE_S
        assert at_s - ready_s >= least_s


@given(st.lists(ASKED, max_size=30), BOOTS, RESIDENCES)
def test_nobody_is_starved(
    requests: list[Asked], boots_s: dict[str, int], chosen_s: float | None
) -> None:
    """However many ask for another model: each of those has one turn before, at most."""
    for one in requests:
        one.patience_s = 10_000
    rules = Rules(listed=frozenset(PRESETS), residence_s=chosen_s)
    game = Game(requests, boots_s, rules)

    game.play(1_200)

    turn_s = max(residence_s(boot_s, rules) + boot_s for boot_s in map(float, boots_s.values()))
    for one in requests:
        assert one.is_served
        assert one.ended_s is not None
        assert one.ended_s - one.at_s <= (len(PRESETS) + 1) * (turn_s + 2)
