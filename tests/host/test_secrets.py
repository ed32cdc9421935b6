"""Secrets that are kept: in a keyring, or in files where there is none."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.errors import Damaged, HostLacks, NotFound
from studio.domain.secrets import StoreKind
from studio.host import keyring_store
from studio.host.secrets import SecretStore
from tests.fakes.logind import private_bus
from tests.fakes.secret_service import SecretService, secret_service

SECRET = "sk-weir-0123456789"


@pytest.fixture
def headless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a process without a desktop session: a server, WSL, a container."""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretService]:
    """Return a Secret Service on a session bus of its own."""
    folder = tmp_path / "bus"
    folder.mkdir()
    with (
        private_bus(folder, monkeypatch, variable="DBUS_SESSION_BUS_ADDRESS"),
        secret_service() as made,
    ):
        yield made


def store_in(tmp_path: Path) -> SecretStore:
    """Return a store in a folder with a name that people have."""
    return SecretStore(tmp_path / "wéir home" / "secrets")


def test_a_keyring_keeps_a_secret_and_the_folder_only_that_it_does(
    tmp_path: Path, keyring: SecretService
) -> None:
    """What lies on the disk must be of no use to whoever copies it."""
    store = store_in(tmp_path)

    assert (store.info().kind, store.info().where) == (StoreKind.KEYRING, "Secret Service")
    assert store.put("client-keys", "a1", SECRET) is StoreKind.KEYRING
    assert store.get("client-keys", "a1") == SECRET
    assert store.kinds("client-keys") == {"a1": StoreKind.KEYRING}
    assert list(keyring.secrets.values()) == [SECRET.encode()]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(SECRET.encode() not in path.read_bytes() for path in files)

    assert store.put("client-keys", "a1", "other") is StoreKind.KEYRING
    assert list(keyring.secrets.values()) == [b"other"], "replaced, not kept twice"
    assert store.delete("client-keys", "a1")
    assert keyring.secrets == {}
    assert store.kinds("client-keys") == {}


@pytest.mark.usefixtures("headless")
def test_without_a_keyring_a_file_keeps_it_that_only_its_owner_reads(tmp_path: Path) -> None:
    """Servers and WSL have no Secret Service; it is said, and it is not hidden in plain sight."""
    store = store_in(tmp_path)

    info = store.info()
    assert info.kind is StoreKind.FILE
    assert info.reason
    assert store.put("hub", "huggingface.co: mine", SECRET) is StoreKind.FILE
    (file,) = (tmp_path / "wéir home" / "secrets" / "hub").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert SecretStore(tmp_path / "wéir home" / "secrets").get("hub", "huggingface.co: mine") == (
        SECRET
    )
    assert store.delete("hub", "huggingface.co: mine")
    assert not file.exists()
    assert not store.delete("hub", "huggingface.co: mine")


@pytest.mark.usefixtures("headless")
def test_services_and_names_do_not_mix(tmp_path: Path) -> None:
    """Also names that look like paths, which people give."""
    store = store_in(tmp_path)
    for name in ("../../evil", "a/b", "名前", "x" * 4096):
        store.put("one", name, f"of {name}")

    assert store.get("one", "../../evil") == "of ../../evil"
    assert store.kinds("one").keys() == {"../../evil", "a/b", "名前", "x" * 4096}
    assert store.kinds("other") == {}
    with pytest.raises(NotFound):
        store.get("other", "a/b")
    outside = [path for path in tmp_path.rglob("*") if "secrets" not in str(path)]
    assert outside == [tmp_path / "wéir home"]


def test_a_keyring_that_is_declined_makes_it_a_file(tmp_path: Path, keyring: SecretService) -> None:
    """The person said no to the prompt; the key must not be lost for it."""
    keyring.is_locked, keyring.answers_prompts = True, False

    assert store_in(tmp_path).put("client-keys", "a1", SECRET) is StoreKind.FILE

    assert keyring.prompts == 1
    assert store_in(tmp_path).get("client-keys", "a1") == SECRET


def test_a_keyring_that_is_unlocked_when_it_asks_is_used(
    tmp_path: Path, keyring: SecretService
) -> None:
    """After a login without a password it asks once."""
    keyring.is_locked, keyring.answers_prompts = True, True

    assert store_in(tmp_path).put("client-keys", "a1", SECRET) is StoreKind.KEYRING
    assert store_in(tmp_path).get("client-keys", "a1") == SECRET


def test_a_prompt_that_nobody_sees_holds_nobody_up(
    tmp_path: Path, keyring: SecretService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over SSH the prompt is on a screen in another room."""
    store = store_in(tmp_path)
    store.put("client-keys", "a1", SECRET)
    keyring.is_locked, keyring.answers_prompts = True, None
    monkeypatch.setattr(keyring_store, "PROMPT_S", 0.2)

    with pytest.raises(HostLacks) as caught:
        store.get("client-keys", "a1")
    kind = store.put("client-keys", "b2", "other")

    assert caught.value.code == "keyring-unavailable"
    assert "waits for its password" in caught.value.message
    assert kind is StoreKind.FILE


def test_a_keyring_that_is_gone_is_said_and_what_is_left_in_it_logged(
    tmp_path: Path,
    keyring: SecretService,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The same home, later, over SSH."""
    store = store_in(tmp_path)
    store.put("client-keys", "a1", SECRET)
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")

    with pytest.raises(HostLacks) as caught:
        store.get("client-keys", "a1")
    assert store.delete("client-keys", "a1")

    assert "belongs to no desktop session" in caught.value.message
    assert "left in the keyring" in caplog.text
    assert SECRET not in caplog.text
    assert store.kinds("client-keys") == {}
    assert list(keyring.secrets.values()) == [SECRET.encode()]


def test_what_somebody_else_took_out_of_the_keyring_is_not_there(
    tmp_path: Path, keyring: SecretService
) -> None:
    """People tidy up their keyrings."""
    store = store_in(tmp_path)
    store.put("client-keys", "a1", SECRET)
    keyring.secrets.clear()

    with pytest.raises(NotFound) as caught:
        store.get("client-keys", "a1")

    assert caught.value.code == "secret-unknown"


def test_two_homes_of_a_person_do_not_share_a_secret(
    tmp_path: Path, keyring: SecretService
) -> None:
    """The keyring is one; removing a token here must not remove it there."""
    one, other = SecretStore(tmp_path / "a"), SecretStore(tmp_path / "b")
    one.put("hub", "token", "first")
    other.put("hub", "token", "second")
    one.delete("hub", "token")

    assert other.get("hub", "token") == "second"
    assert len(keyring.secrets) == 1


@pytest.mark.usefixtures("headless")
def test_a_damaged_file_is_named_and_hides_no_other(tmp_path: Path) -> None:
    """One key lost must not take the list with it."""
    store = store_in(tmp_path)
    store.put("one", "a", SECRET)
    store.put("one", "b", SECRET)
    (first, _) = sorted((tmp_path / "wéir home" / "secrets" / "one").iterdir())
    name = json.loads(first.read_text())["name"]
    first.write_text("{")

    with pytest.raises(Damaged):
        store.get("one", name)
    assert len(store.kinds("one")) == 1
    assert store.put("one", name, "again") is StoreKind.FILE
    assert store.get("one", name) == "again"
