"""`weir gateway` as a person types it, on a real home and without a service."""

import json

import pytest

from studio.cli.arguments import parse
from studio.cli.gateway import report_text
from studio.domain.gateway import GatewayReport, GatewaySettings
from tests.cli.typed import Typed


def test_names_are_set_shown_and_forgotten(typed: Typed) -> None:
    """Kept between two commands, service or not."""
    typed("gateway", "alias", "gpt-4o")
    typed("gateway", "allow", "http://localhost:3000")
    shown = typed("gateway").stdout
    assert "gpt-4o means whatever is served" in shown
    assert "http://localhost:3000" in shown

    typed("gateway", "forget", "gpt-4o")
    assert json.loads(typed("gateway", "show", "--json").stdout)["settings"]["aliases"] == {}


def test_other_machines_are_let_in_only_after_a_yes(typed: Typed) -> None:
    """What it exposes is said first."""
    assert "needs one" in typed("gateway", "listen", "0.0.0.0", "--expose", status=3).stderr
    typed("keys", "create", "laptop")
    assert "unencrypted" in typed("gateway", "listen", "0.0.0.0", status=4).stderr
    shown = typed("gateway", "listen", "0.0.0.0", "--expose", "--tls").stdout
    assert "https://127.0.0.1:" in shown
    assert "SHA-256" in shown


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gateway listen --tls", True),
        ("gateway listen --no-tls", False),
        ("gateway listen ::1", None),
    ],
)
def test_encryption_is_left_alone_unless_it_is_named(line: str, expected: bool | None) -> None:
    """Moving the door must not take its lock away."""
    assert parse(line.split()).tls is expected


def test_a_report_says_everything_in_lines() -> None:
    """Also what was given, and what follows."""
    text = report_text(
        GatewayReport(
            settings=GatewaySettings(tls=True, certificate="/etc/x.pem", hosts=("a", "b")),
            port=1,
            is_open=True,
            urls=("https://127.0.0.1:1/v1", "https://10.0.0.1:1/v1"),
            fingerprint="AA:BB",
            notes=("First.", "Second."),
        )
    )

    for part in ("https://10.0.0.1:1/v1", "yes, with /etc/x.pem", "AA:BB", "Second.", "none"):
        assert part in text
