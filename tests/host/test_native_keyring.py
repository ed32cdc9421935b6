"""The keyrings of Windows and macOS, behind a stand-in for `keyring`'s backends."""

import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

from studio.host import native_keyring
from studio.host.keyring_faults import Unavailable


class Memory(KeyringBackend):
    """Keeps passwords until it is locked."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep one."""
        self._look()
        self.kept[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        """Return one."""
        self._look()
        return self.kept.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        """Forget one."""
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("No such password!")

    def _look(self) -> None:
        if self.is_locked:
            raise KeyringLocked("The user said no!")


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Return the stand-in, in use."""
    made = Memory()
    monkeypatch.setattr(native_keyring, "backend", lambda: made)
    return made


def test_what_is_kept_is_read_and_forgotten(memory: Memory) -> None:
    """And forgetting what is not there is no error."""
    native_keyring.probe()
    native_keyring.put("s", "a", "one", 1.0)
    native_keyring.put("s", "a", "two", 1.0)
    assert native_keyring.get("s", "a", 1.0) == "two"

    native_keyring.delete("s", "a", 1.0)
    native_keyring.delete("s", "a", 1.0)

    assert native_keyring.get("s", "a", 1.0) is None
    assert memory.kept == {}


def test_a_refusal_is_said_in_a_part_of_a_sentence(memory: Memory) -> None:
    """What follows is a file instead, with this reason."""
    memory.is_locked = True

    for call in (
        native_keyring.probe,
        lambda: native_keyring.put("s", "a", "b", 1.0),
        lambda: native_keyring.delete("s", "a", 1.0),
    ):
        with pytest.raises(Unavailable, match=r"^the user said no$"):
            call()
