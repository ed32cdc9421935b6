"""What is normal for an adapter: learnt while nothing of ours runs, kept, else assumed."""

from studio.domain.readings import AdapterReading, AdapterReadings
from studio.monitor.baseline import ASSUMED_BYTES, SETTLE_S, Baselines, named
from tests.monitor.scenes import ADAPTER, CARD, windows


def learnt(baselines: Baselines, value: int, begin_s: float, seconds: int, running: bool) -> float:
    """Let it see some seconds; returns the next one."""
    for second in range(seconds):
        baselines.learn(windows(value), begin_s + second, is_running=running)
    return begin_s + seconds


def test_nothing_seen_is_assumed_and_says_so() -> None:
    """Better a rough line than a spill that nobody tells of."""
    assert Baselines().of(CARD.name) == (ASSUMED_BYTES, False)


def test_it_is_seen_while_no_engine_runs() -> None:
    """At once when the service starts: there is nothing to wait for."""
    baselines = Baselines()

    learnt(baselines, 86_000_000, 0.0, 3, running=False)

    assert baselines.of(CARD.name) == (86_000_000, True)


def test_a_load_teaches_nothing() -> None:
    """It reaches 1.3 GB and gives it back."""
    baselines = Baselines()
    now = learnt(baselines, 86_000_000, 0.0, 5, running=False)

    learnt(baselines, 1_300_000_000, now, 60, running=True)

    assert baselines.of(CARD.name) == (86_000_000, True)


def test_the_aftermath_of_an_engine_teaches_nothing() -> None:
    """Windows gives memory back when it gets round to it."""
    baselines = Baselines()
    now = learnt(baselines, 86_000_000, 0.0, 5, running=False)
    now = learnt(baselines, 900_000_000, now, 30, running=True)

    now = learnt(baselines, 900_000_000, now, int(SETTLE_S), running=False)
    assert baselines.of(CARD.name)[0] == 86_000_000
    learnt(baselines, 300_000_000, now, 120, running=False)

    assert baselines.of(CARD.name) == (300_000_000, True), "a browser was opened meanwhile"


def test_what_an_earlier_service_learnt_holds_until_more_is_seen() -> None:
    """`weir up` starts service and engine together."""
    baselines = Baselines({CARD.name: 90_000_000})

    assert baselines.of(CARD.name) == (90_000_000, True)
    learnt(baselines, 86_000_000, 0.0, 3, running=False)
    assert baselines.of(CARD.name) == (86_000_000, True)


def test_only_news_are_worth_a_file() -> None:
    """A few pages more or less are none."""
    baselines = Baselines()
    learnt(baselines, 86_000_000, 0.0, 3, running=False)

    assert baselines.news() == {CARD.name: 86_000_000}
    assert baselines.news() is None
    learnt(baselines, 87_000_000, 3.0, 60, running=False)
    assert baselines.news() is None
    learnt(baselines, 300_000_000, 63.0, 90, running=False)
    assert baselines.news() == {CARD.name: 300_000_000}


def test_integrated_chips_and_other_makers_are_left_out() -> None:
    """Their memory is the machine's anyway."""
    intel = AdapterReading(luid="0x0_0x1", name="Intel(R) UHD", shared_bytes=1, is_nvidia=False)
    blank = AdapterReading(luid="0x0_0x2", shared_bytes=1, dedicated_bytes=64 << 20)
    card = AdapterReading(luid="0x0_0x3", shared_bytes=1, dedicated_bytes=20 << 30)

    assert named((intel, blank, card)) == {"card": card}


def test_cards_of_one_name_are_told_apart() -> None:
    """LUIDs change with each start of Windows, the order does not."""
    readings = AdapterReadings(at_s=0.0, adapters=(ADAPTER, ADAPTER))

    assert list(named(readings.adapters)) == [CARD.name, f"{CARD.name} (2)"]
