"""The record of a run."""

from tests.benchmark.samples import part, result


def test_one_disturbed_part_makes_a_disturbed_run() -> None:
    """Whoever reads only the head must be warned."""
    assert result(part(), part("decode-4", is_disturbed=True)).is_disturbed
    assert not result(part()).is_disturbed
    assert not result().is_disturbed
