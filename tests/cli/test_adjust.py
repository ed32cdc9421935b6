"""`weir gateway adjust` as a person types it, on a real home and without a service."""

import json

from tests.cli.typed import Typed


def test_a_rule_is_shown_switched_and_switched_back(typed: Typed) -> None:
    """For everybody and for one key."""
    typed("keys", "create", "laptop")
    assert "attribution-line" in typed("gateway", "adjust").stdout
    shown = typed("gateway", "adjust", "attribution-line").stdout
    assert "off by itself" in shown
    assert "claude-code/issues/68900" in shown

    said = typed("gateway", "adjust", "attribution-line", "on", "--key", "laptop").stdout
    assert "is on for the key `laptop`" in said
    assert "laptop: on" in typed("gateway", "adjust", "attribution-line").stdout

    listed = json.loads(typed("gateway", "adjust", "all", "off", "--json").stdout)
    assert listed["are_off"] is True
    assert "switched off" in typed("gateway", "adjust").stdout
    assert "as it is by itself" in typed("gateway", "adjust", "all", "default").stdout


def test_mistakes_say_what_to_do(typed: Typed) -> None:
    """Names that nobody knows, words that mean nothing."""
    assert "Did you mean `stop-empty`" in typed("gateway", "adjust", "stop-emty", status=3).stderr
    assert "No key is called" in typed(
        "gateway", "adjust", "stop-empty", "off", "--key", "nobody", status=3
    ).stderr  # fmt: skip
    assert "is not one of" in typed("gateway", "adjust", "stop-empty", "maybe", status=2).stderr
