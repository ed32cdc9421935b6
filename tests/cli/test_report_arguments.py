"""The words of `weir report`."""

from studio.cli.arguments import parse


def test_all_words_are_understood() -> None:
    """A file, and what to do about one that is there."""
    call = parse(["report", "x.zip", "--replace", "--json"])

    assert (call.file, call.replace, call.json, call.show) == ("x.zip", True, True, False)


def test_without_words_the_name_is_made_up() -> None:
    """And nothing is overwritten."""
    call = parse(["report"])

    assert (call.file, call.replace, parse(["report", "--show"]).show) == (None, False, True)
