"""What the monitor's commands take."""

from studio.cli.arguments import parse


def test_the_words_of_history_are_read() -> None:
    """As the commands use them."""
    call = parse(["history", "--since", "2h", "--series", "pool", "--csv", "x", "--step", "60"])

    assert (call.since, call.series, call.file, call.step_s) == ("2h", "pool", "x", 60)
    assert parse(["history", "--list"]).show


def test_the_words_of_metrics_are_read() -> None:
    """A port only where it is turned on."""
    assert parse(["metrics", "on", "--port", "9999"]).port == 9_999
    assert parse(["metrics"]).command == "metrics"
    assert parse(["metrics", "show-token"]).command == "metrics show-token"
