"""What `weir keys` takes."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


def test_limits_are_collected_under_the_names_of_the_api() -> None:
    """Those that take several values may be given again."""
    call = parse(
        [
            "keys",
            "create",
            "laptop",
            "--model",
            "a",
            "--model",
            "b",
            "--from",
            "10.0.0.0/8",
            "--per-minute",
            "30",
            "--tokens-per-day",
            "2M",
            "--max-context",
            "32k",
            "--expires",
            "30d",
        ]
    )

    assert call.limits == {
        "models": ("a", "b"),
        "addresses": ("10.0.0.0/8",),
        "requests_per_minute": 30,
        "tokens_per_day": 2 * 1024 * 1024,
        "max_context": 32_000,
        "expires_at": "30d",
    }
    assert parse(["keys", "create", "x"]).limits == {}


def test_a_change_names_what_to_take_away() -> None:
    """By the option's name, which is what people remember."""
    call = parse(
        ["keys", "limit", "laptop", "--no", "from", "--no", "per-minute", "--max-concurrent", "2"]
    )

    assert call.dropped == ("from", "per-minute")
    assert call.limits == {"max_concurrent": 2}


@pytest.mark.parametrize(("text", "seconds"), [("24h", 86_400), ("7d", 604_800), ("8w", 4838400)])
def test_a_span_is_read_in_hours_days_and_weeks(text: str, seconds: int) -> None:
    """`weir keys usage --since 7d`."""
    assert parse(["keys", "usage", "--since", text]).seconds == seconds
    assert parse(["keys", "usage"]).seconds == 30 * 86_400


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        ("keys usage --since soon", "no span"),
        ("keys usage --since 401d", "no span"),
        ("keys usage --since 0d", "no span"),
        ("keys usage --by week", "`week` is not one of hour, day, key"),
        ("keys limit x --no per-minute --per-minute 4", "`per-minute` cannot be set and taken"),
        ("settings --set stall-s=600 --forget stall-s", "`stall-s` cannot be set and taken"),
        ("settings --set stall-s=600 --forget stall_s", "cannot be set and taken"),
        ("network --set offline=yes --forget offline", "cannot be set and taken"),
        ("gateway listen --tls --no-tls", "`--no-tls` and `--tls` cannot be given together"),
        ("keys create x --max-context many", "no number"),
        ("keys limit x --no everything", "everything"),
        ("requests --lines 0", "0"),
    ],
)
def test_a_mistake_is_said_in_one_sentence(argv: str, part: str) -> None:
    """With what would be right."""
    with pytest.raises(UsageError, match=part):
        parse(argv.split())


def test_requests_of_one_key_or_of_all() -> None:
    """`weir requests laptop --errors`."""
    call = parse(["requests", "laptop", "--errors", "-n", "5", "--csv"])

    assert (call.command, call.reference, call.errors, call.lines, call.csv) == (
        "requests", "laptop", True, 5, True,
    )  # fmt: skip
    assert parse(["requests"]).lines == 50
