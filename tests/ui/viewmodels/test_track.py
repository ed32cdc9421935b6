"""Series as charts draw them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from studio.ui.viewmodels.track import Scale, Spot, Stretch, Track

SECONDS = Scale(begin=100.0, px_per_s=1.0, width_px=60)


def live(*values: float | None, at: float = 100.0) -> Track:
    """Return a track that a value a second came to."""
    track = Track()
    for second, value in enumerate(values):
        track.append(at + second, value)
    return track


def test_a_gap_parts_two_stretches_and_a_lone_value_stands_alone() -> None:
    """A line through a gap would show values that nobody measured."""
    track = live(1.0, 2.0, None, 5.0, None, 7.0, 8.0)

    means = [stretch.mean for stretch in track.drawn(SECONDS)]

    assert means == [[1.0, 2.0], [5.0], [7.0, 8.0]]


def test_history_and_live_values_are_one_line() -> None:
    """And a tick that the history holds already is not drawn twice."""
    track = Track([(100.0, 1.0, 2.0, 3.0), (101.0, None, None, None), (102.0, 4.0, 4.0, 4.0)])
    track.append(102.0, 9.0)
    track.append(103.0, 5.0)

    assert track.drawn(SECONDS) == [
        Stretch([0.0], [1.0], [2.0], [3.0]),
        Stretch([2.0, 3.0], [4.0, 5.0], [4.0, 5.0], [4.0, 5.0]),
    ]
    assert track.last == 5.0


def test_the_newest_value_is_not_known_after_a_gap() -> None:
    """An old value is not the present one."""
    track = live(1.0, None)

    assert track.last is None
    assert track.newest_at == 100.0


def test_a_line_runs_to_the_edges_of_what_is_in_sight() -> None:
    """One value beyond each edge stays."""
    track = live(*map(float, range(20)))

    (stretch,) = track.drawn(Scale(begin=105.5, px_per_s=10.0, width_px=50))

    assert stretch.mean == [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]


def test_a_machine_that_slept_leaves_a_gap() -> None:
    """Nobody measured meanwhile; ten seconds between two looks are none."""
    track = live(1.0)
    track.append(110.0, 2.0)
    track.append(200.0, 3.0)

    stretches = track.drawn(Scale(begin=100.0, px_per_s=1.0, width_px=200))

    assert [some.mean for some in stretches] == [[1.0, 2.0], [3.0]]


def test_what_is_out_of_sight_is_let_go_in_large_pieces_and_gaps_stay() -> None:
    """A window that is open for a week holds no more than one that was just opened."""
    track = live(*[1.0] * 600, None, *[2.0] * 600)
    track.forget(before=400.0)
    assert len(track) == 1_200

    track.forget(before=690.0)

    assert len(track) == 610
    assert len(track.drawn(Scale(begin=0.0, px_per_s=1.0, width_px=2_000))) == 2


def test_forgetting_everything_leaves_an_empty_track_that_goes_on() -> None:
    """The machine slept for a night."""
    track = live(*[1.0] * 600)
    track.forget(before=10_000.0)
    track.append(10_000.0, 3.0)

    assert [some.mean for some in track.drawn(Scale(9_990.0, 1.0, 60))] == [[3.0]]


def test_near_says_what_is_known_there_and_no_more() -> None:
    """A crosshair in a gap names nothing."""
    track = live(1.0, 2.0, None, None, None, None, 7.0)

    assert track.near(101.4, reach_s=1.0) == Spot(101.0, 2.0, 2.0, 2.0)
    assert track.near(103.5, reach_s=1.0) is None
    assert Track().near(1.0, reach_s=1e9) is None


VALUES = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), max_size=400)


@given(values=VALUES, width_px=st.integers(1, 200))
def test_no_peak_is_lost_and_no_column_has_two_spots(
    values: list[float | None], width_px: int
) -> None:
    """However much is thinned."""
    track = live(*values, at=0.0)
    known = [value for value in values if value is not None]
    scale = Scale(begin=0.0, px_per_s=width_px / 400, width_px=width_px)

    stretches = track.drawn(scale)

    highs = [high for stretch in stretches for high in stretch.high]
    lows = [low for stretch in stretches for low in stretch.low]
    assert max(highs, default=None) == max(known, default=None)
    assert min(lows, default=None) == min(known, default=None)
    for stretch in stretches:
        assert len({len(column) for column in stretch}) == 1
        columns = [math.floor(x) for x in stretch.x]
        assert columns == sorted(columns)
        assert len(columns) <= (stretch.x[-1] - stretch.x[0]) + 2
    assert track.highest(0.0, 400.0) == max(known, default=None)


SPREADS = st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 3).map(sorted), min_size=4, max_size=400)


@given(spreads=SPREADS, px_per_s=st.sampled_from([1 / 64, 1 / 8, 1 / 4]))
def test_each_column_holds_the_extremes_of_its_own_moments(
    spreads: list[list[float]], px_per_s: float
) -> None:
    """A peak stands where it was, also where values of the history stand for minutes."""
    track = Track([(float(at), *spread) for at, spread in enumerate(spreads)])
    scale = Scale(begin=0.0, px_per_s=px_per_s, width_px=math.ceil(400 * px_per_s))

    (stretch,) = track.drawn(scale)

    for place, x in enumerate(stretch.x):
        inside = [
            spread for at, spread in enumerate(spreads) if math.floor(at * px_per_s) + 0.5 == x
        ]
        assert stretch.low[place] == min(low for low, _mean, _high in inside)
        assert stretch.high[place] == max(high for _low, _mean, high in inside)


def test_single_values_have_no_extremes_to_draw() -> None:
    """A live line is all there is; one value of many from the history, and there is a band."""
    (flat,) = live(1.0, 2.0).drawn(SECONDS)
    (wide,) = Track([(100.0, 1.0, 2.0, 3.0)]).drawn(SECONDS)

    assert flat.is_flat
    assert not wide.is_flat


@given(
    values=st.lists(st.integers(0, 9), min_size=1, max_size=60),
    spans=st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=20),
)
def test_the_largest_value_is_that_of_the_span_whatever_was_asked_before(
    values: list[int], spans: list[tuple[int, int]]
) -> None:
    """Spans move on, grow, shrink and go back, and values come in between."""
    track = Track()
    for at, value in enumerate(values):
        track.append(float(at), float(value))
        for begin, end in spans[at : at + 3]:
            seen = values[begin : min(end, at) + 1]
            assert track.highest(float(begin), float(end)) == max(seen, default=None)


def test_the_largest_value_is_right_after_old_ones_were_let_go() -> None:
    """What is let go moves the places of all that stays."""
    track = live(*[1.0] * 600, 9.0, *[2.0] * 600)
    assert track.highest(100.0, 1_400.0) == 9.0

    track.forget(before=650.0)

    assert track.highest(650.0, 1_400.0) == 9.0
    assert track.highest(701.0, 1_400.0) == 2.0
