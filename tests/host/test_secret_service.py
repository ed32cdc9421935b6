"""The Secret Service of a desktop, against a stand-in on a real session bus."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.host import secret_service as ours
from studio.host.keyring_faults import Unavailable
from tests.fakes.logind import private_bus
from tests.fakes.secret_service import SecretService, secret_service


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a session bus on which nobody is yet."""
    with private_bus(tmp_path, monkeypatch, variable="DBUS_SESSION_BUS_ADDRESS"):
        yield


@pytest.fixture
def theirs(bus: None) -> Iterator[SecretService]:
    """Return the stand-in."""
    with secret_service() as made:
        yield made


def test_a_secret_is_kept_replaced_read_and_forgotten(theirs: SecretService) -> None:
    """By the attributes that the `keyring` command looks for."""
    ours.probe()
    ours.put("Weir Studio hub", "a", "one", 1.0)
    ours.put("Weir Studio hub", "a", "schlüssel", 1.0)
    ours.put("Weir Studio hub", "b", "other", 1.0)

    assert ours.get("Weir Studio hub", "a", 1.0) == "schlüssel"
    assert ours.get("Weir Studio hub", "c", 1.0) is None
    assert len(theirs.secrets) == 2
    wanted = {("service", "Weir Studio hub"), ("username", "a")}
    assert any(wanted <= set(attributes) for attributes in theirs.secrets)
    ours.delete("Weir Studio hub", "a", 1.0)
    ours.delete("Weir Studio hub", "a", 1.0)
    assert list(theirs.secrets.values()) == [b"other"]


@pytest.mark.parametrize(
    ("answer", "reason"), [(False, "it is locked"), (None, "it waits for its password")]
)
def test_a_lock_is_no_way_to_hang(theirs: SecretService, answer: bool | None, reason: str) -> None:
    """Declined, or asked where nobody sits."""
    theirs.is_locked, theirs.answers_prompts = True, answer

    with pytest.raises(Unavailable, match=f"^{reason}$"):
        ours.get("s", "a", 0.1)

    assert theirs.prompts == 1


@pytest.mark.usefixtures("bus")
def test_a_bus_without_the_service_is_said() -> None:
    """A desktop without a keyring."""
    with pytest.raises(Unavailable, match="no Secret Service runs here"):
        ours.probe()
    with pytest.raises(Unavailable):
        ours.put("s", "a", "b", 0.1)


@pytest.mark.parametrize("address", [None, "unix:path=/nonexistent/bus", "nonsense"])
def test_a_process_without_a_session_is_told_so(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers, containers, services of the system."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    if address is not None:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)

    with pytest.raises(Unavailable) as caught:
        ours.probe()

    assert str(caught.value)
    assert address is not None or str(caught.value) == "this process belongs to no desktop session"
