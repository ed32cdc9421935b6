"""`weir keys` as a person types it, on a real home and without a service."""

import json

from tests.cli.typed import Typed


def test_a_key_from_its_making_to_its_end(typed: Typed) -> None:
    """Made, limited, renamed, replaced, revoked; the secret stands alone on standard output."""
    made = typed("keys", "create", "laptop", "--route", "openai", "--per-minute", "30")
    assert made.stdout.startswith("sk-weir-")
    assert len(made.stdout.split()) == 1

    typed("keys", "limit", "laptop", "--no", "route", "--max-context", "32k")
    again = typed("keys", "limit", "laptop", "--no", "route", "--max-context", "32k").stdout
    assert "these limits already" in again
    shown = json.loads(typed("keys", "show", "laptop", "--json").stdout)
    assert shown["limits"]["routes"] is None
    assert shown["limits"]["requests_per_minute"] == 30
    assert shown["limits"]["max_context"] == 32_000

    assert "`Büro`" in typed("keys", "rename", "laptop", "Büro").stdout
    rotated = typed("keys", "rotate", "Büro").stdout
    assert rotated.startswith("sk-weir-")
    assert rotated != made.stdout
    typed("keys", "revoke", "Büro", "--now")
    assert "revoked" in typed("keys", "show", "Büro").stdout
    assert typed("keys", "limit", "Büro", "--no", "from", status=3).stderr.count("revoked") >= 1


def test_mistakes_say_what_to_do(typed: Typed) -> None:
    """And leave no key behind."""
    assert "192.168.1.0/24" in typed("keys", "create", "x", "--from", "192.168.1.5/24",
                                     status=3).stderr  # fmt: skip
    assert "No limit was named" in typed("keys", "limit", "x", status=3).stderr
    assert json.loads(typed("keys", "list", "--json").stdout) == []
    assert typed("keys", "usage", "--csv").stdout.startswith("key_id,key,")
    assert typed("requests").stdout == "There has been no request yet.\n"
    assert typed("requests", "--errors").stdout == "No request of that kind is on record.\n"
