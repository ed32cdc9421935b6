"""The facade of keys: what the window and the command line ask."""

from pathlib import Path

import pytest

from studio.app.kept_keys import KeptKeys
from studio.app.keys import Keys
from studio.domain.control import KeyRequest
from studio.domain.errors import BadInput, NotFound
from studio.domain.events import Event, KeysChanged
from studio.domain.keys import KeyLimits, LimitsChange, RenameRequest, RevokeRequest, UsageBy
from studio.gateway.keys import KeyStore
from studio.host.secrets import SecretStore


class Made:
    """The facade and what it announced."""

    def __init__(self, path: Path) -> None:
        self.events: list[Event] = []
        self.store = KeyStore(path)
        self.keys = Keys(
            self.store, self.events.append, KeptKeys(SecretStore(path.parent / "secrets"))
        )


async def test_every_change_is_announced_and_kept(tmp_path: Path) -> None:
    """Two windows show the same."""
    made = Made(tmp_path / "studio.db")
    new = await made.keys.first(KeyRequest(name="default", limits=KeyLimits(max_concurrent=2)))
    assert new is not None
    assert await made.keys.first(KeyRequest(name="again")) is None

    await made.keys.rename("default", RenameRequest(name="laptop"))
    changed = await made.keys.limit(new.info.id, LimitsChange(limits=KeyLimits(routes=("openai",))))
    rotated = await made.keys.rotate("laptop")

    assert changed.limits == KeyLimits(routes=("openai",))
    assert made.store.verify(new.key.encode()) is None
    assert made.store.verify(rotated.key.encode()) is not None
    assert made.events == [KeysChanged()] * 4
    await made.keys.close()

    again = Made(tmp_path / "studio.db")
    (kept,) = await again.keys.all()
    assert (kept.name, kept.limits.routes, again.keys.active) == ("laptop", ("openai",), 1)
    assert kept.rotated_at is not None
    assert again.store.verify(rotated.key.encode()) is not None
    await again.keys.close()


async def test_a_revoked_key_is_shown_and_changes_no_more(tmp_path: Path) -> None:
    """Its usage stays; its secret never comes back."""
    made = Made(tmp_path / "studio.db")
    new = await made.keys.create(KeyRequest(name="gone"))
    await made.keys.revoke("gone", RevokeRequest(stop_running=True))

    for change in (
        made.keys.rotate(new.info.id),
        made.keys.rename(new.info.id, RenameRequest(name="back")),
        made.keys.limit(new.info.id, LimitsChange(limits=KeyLimits())),
    ):
        with pytest.raises(BadInput) as caught:
            await change
        assert caught.value.code == "key-revoked"
    with pytest.raises(NotFound):
        await made.keys.rotate("nobody")
    assert [key.name for key in await made.keys.all()] == ["gone"]
    await made.keys.close()


async def test_a_name_that_is_taken_is_refused_and_the_old_one_stays(tmp_path: Path) -> None:
    """Names are what people revoke by."""
    made = Made(tmp_path / "studio.db")
    await made.keys.create(KeyRequest(name="one"))
    await made.keys.create(KeyRequest(name="two"))

    with pytest.raises(BadInput):
        await made.keys.rename("two", RenameRequest(name="ONE"))
    await made.keys.rename("two", RenameRequest(name="Two"))

    assert [key.name for key in await made.keys.all()] == ["one", "Two"]
    await made.keys.close()


async def test_questions_open_the_store_once(tmp_path: Path) -> None:
    """Without a service the command line asks like this."""
    made = Made(tmp_path / "studio.db")

    assert await made.keys.used(key_id=None, since_s=3600, by=UsageBy.DAY) == []
    assert await made.keys.requests(key_id=None, count=5, errors_only=False) == []
    await made.keys.close()
    await made.keys.close()
