"""How a call travels."""

from studio.control.transport import part, query_text


def test_a_part_of_a_path_stays_one_part() -> None:
    """Dots would be taken for a way up."""
    assert part("../a b") == "%2E%2E%2Fa%20b"


def test_what_is_not_asked_is_not_in_the_query() -> None:
    """An empty query is none."""
    assert query_text(a="x&y", b=None) == "?a=x%26y"
    assert query_text(a=None) == ""
