"""Keys that may be shown again."""

from pathlib import Path

import pytest

from studio.app.kept_keys import SERVICE, KeptKeys
from studio.app.keys import Keys
from studio.domain.control import KeyRequest
from studio.domain.errors import HostLacks, NotFound
from studio.domain.keys import RevokeRequest
from studio.domain.secrets import StoreKind
from studio.gateway.keys import KeyStore
from studio.host.secrets import SecretStore


class Made:
    """The facade over a folder, without a keyring."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
        self.secrets = SecretStore(folder / "secrets")
        self.store = KeyStore(folder / "studio.db")
        self.keys = Keys(self.store, lambda _event: None, KeptKeys(self.secrets))


def files_with(secret: str, folder: Path) -> list[Path]:
    """Return the files that hold a secret."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]


async def test_a_key_is_shown_again_only_when_it_was_made_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others are a hash, and it is said what to do."""
    made = Made(tmp_path, monkeypatch)
    kept = await made.keys.create(KeyRequest(name="helper", store=True))
    plain = await made.keys.create(KeyRequest(name="laptop"))

    shown = await made.keys.reveal("helper")
    with pytest.raises(NotFound) as caught:
        await made.keys.reveal("laptop")

    assert (shown.key, shown.info.stored) == (kept.key, StoreKind.FILE)
    assert plain.info.stored is None
    assert caught.value.code == "key-not-stored"
    assert "rotate laptop" in (caught.value.hint or "")
    stored = {key.name: key.stored for key in await made.keys.all()}
    assert stored == {"helper": StoreKind.FILE, "laptop": None}
    assert (await made.keys.store_info()).kind is StoreKind.FILE
    with pytest.raises(NotFound):
        await made.keys.reveal("nobody")
    await made.keys.close()


async def test_what_is_kept_follows_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new secret replaces the old one, another name changes nothing, a revoked key is gone."""
    made = Made(tmp_path, monkeypatch)
    first = await made.keys.create(KeyRequest(name="helper", store=True))

    rotated = await made.keys.rotate("helper")
    assert rotated.key != first.key
    assert (await made.keys.reveal(first.info.id)).key == rotated.key
    assert made.store.verify(rotated.key.encode()) is not None
    await made.keys.revoke("helper", RevokeRequest())

    assert made.secrets.kinds(SERVICE) == {}
    assert files_with(rotated.key, tmp_path) == []
    await made.keys.close()


async def test_a_key_that_cannot_be_kept_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A helper that asked for it never gets to know it."""
    made = Made(tmp_path, monkeypatch)
    (tmp_path / "secrets").write_text("in the way")

    with pytest.raises(HostLacks):
        await made.keys.create(KeyRequest(name="helper", store=True))

    (key,) = await made.keys.all()
    assert key.revoked_at is not None
    assert made.store.active == 0
    await made.keys.close()


async def test_a_new_secret_that_cannot_be_kept_is_shown_and_the_old_one_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: the person has the new one before them, the old one works no more."""
    made = Made(tmp_path, monkeypatch)
    await made.keys.create(KeyRequest(name="helper", store=True))

    def full(*_arguments: object) -> StoreKind:
        raise HostLacks("disk-full", "The disk is full.")

    monkeypatch.setattr(made.secrets, "put", full)
    rotated = await made.keys.rotate("helper")

    assert made.store.verify(rotated.key.encode()) is not None
    assert rotated.info.stored is None
    with pytest.raises(NotFound):
        await made.keys.reveal("helper")
    await made.keys.close()
