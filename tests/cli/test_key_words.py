"""What is said about keys."""

from studio.cli import key_words


def test_a_name_that_nobody_has_is_told_its_neighbour() -> None:
    """Or where all of them stand."""
    assert key_words.unknown("lptop", "laptop")[1] == "Did you mean `laptop`?"
    assert "weir keys list" in key_words.unknown("x", None)[1]
