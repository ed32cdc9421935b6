"""Lines thinned to the pixels there are."""

from studio.ui.viewmodels.decimate import stretches


def test_a_single_peak_among_thousands_of_points_survives() -> None:
    """A spike of one second is what a person looks for in an hour."""
    points = tuple((3600.0 - i, 900.0 if i == 1801 else 10.0) for i in range(3600))
    (kept,) = stretches(points, 3600.0, 300)
    assert len(kept) <= 2 * 302
    assert (1799.0, 900.0) in kept


def test_ends_and_order_of_time_are_kept() -> None:
    """A line that begins late or runs backwards would tell another story."""
    points = tuple((3600.0 - i, float((i * 7919) % 101)) for i in range(3600))
    (kept,) = stretches(points, 3600.0, 200)
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert [age for age, _ in kept] == sorted((age for age, _ in kept), reverse=True)


def test_a_gap_stays_a_gap_however_narrow() -> None:
    """Unknown is never drawn over."""
    points = tuple((3600.0 - i, None if i == 1800 else 1.0) for i in range(3600))
    before, after = stretches(points, 3600.0, 100)
    assert (before[-1][0], after[0][0]) == (1801.0, 1799.0)


def test_few_points_pass_as_they_are() -> None:
    """Nothing is gained by thinning what fits."""
    points = ((3.0, 1.0), (2.0, 5.0), (1.0, None), (0.0, 2.0))
    assert stretches(points, 4.0, 400) == (((3.0, 1.0), (2.0, 5.0)), ((0.0, 2.0),))


def test_nothing_known_gives_nothing() -> None:
    """An empty chart draws no line."""
    assert stretches(((1.0, None), (0.0, None)), 300.0, 100) == ()
    assert stretches((), 300.0, 100) == ()
