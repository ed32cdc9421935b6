"""A keyring is foreign code: it may hang."""

import threading
from collections.abc import Iterator

import pytest

from studio.host import keyring_store, secret_service
from studio.host.keyring_faults import Unavailable


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every question to the keyring take for ever."""
    end = threading.Event()

    def hang(*_arguments: object) -> None:
        end.wait(30)

    for name in ("probe", "put", "get", "delete"):
        monkeypatch.setattr(secret_service, name, hang)
    for name in ("PROBE_S", "PROMPT_S", "_SPARE_S"):
        monkeypatch.setattr(keyring_store, name, 0.05)
    yield
    end.set()


@pytest.mark.usefixtures("stuck")
def test_a_keyring_that_hangs_is_unavailable_and_nobody_waits() -> None:
    """`weir doctor` is asked when things hang."""
    for call in (
        keyring_store.require,
        lambda: keyring_store.put("s", "a", "b"),
        lambda: keyring_store.get("s", "a"),
        lambda: keyring_store.delete("s", "a"),
    ):
        with pytest.raises(Unavailable, match="did not answer within"):
            call()


def test_it_has_the_name_that_people_know() -> None:
    """It stands in sentences."""
    assert keyring_store.name() == "Secret Service"
