"""`weir keys create --store` and `weir keys reveal` as a person types them."""

import json
from pathlib import Path

import pytest

from tests.cli.typed import Typed
from tests.fakes.logind import private_bus
from tests.fakes.secret_service import secret_service


def test_a_key_in_the_keyring_is_shown_again_until_it_is_revoked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way, over a real bus; each command begins anew."""
    typed = Typed(tmp_path / "my höme")
    (tmp_path / "bus").mkdir()
    with (
        private_bus(tmp_path / "bus", monkeypatch, variable="DBUS_SESSION_BUS_ADDRESS"),
        secret_service() as keyring,
    ):
        made = typed("keys", "create", "helper", "--store")
        shown = typed("keys", "reveal", "helper")
        listed = typed("keys", "list")
        typed("keys", "revoke", "helper")

        assert "kept in the Secret Service" in made.stderr
        assert shown.stdout == made.stdout
        assert "system's keyring, for `weir keys reveal`: `helper`" in listed.stdout
        assert keyring.secrets == {}


def test_without_a_keyring_it_is_said_where_the_key_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a server: in a file, said when it is made, in the list and by the doctor."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    typed = Typed(tmp_path / "my höme")
    made = typed("keys", "create", "helper", "--store")
    typed("keys", "create", "laptop")

    assert "No keyring can be used (this process belongs to no desktop session)" in made.stderr
    found = json.loads(typed("keys", "reveal", "helper", "--json").stdout)
    assert found["key"] == made.stdout.strip()
    assert found["info"]["stored"] == "file"
    assert "only a hash is kept" in typed("keys", "reveal", "laptop", status=3).stderr
    assert "No key is called" in typed("keys", "reveal", "nobody", status=3).stderr
    checks = json.loads(typed("doctor", "--json").stdout)["checks"]
    (check,) = [one for one in checks if one["code"] == "secret-store"]
    assert check["level"] == "good"
    assert "no desktop session" in check["found"]
