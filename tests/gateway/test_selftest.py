"""The gateway's attack on itself: it holds, and the test notices each defence that is missing."""

import dataclasses
import errno
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.domain.selftest import Defence, Place
from studio.gateway import selftest
from studio.gateway.attacks import MARK, Ground, attacks
from studio.gateway.keys import KeyStore
from studio.gateway.service import Gateway
from tests.fakes.weir import free_port
from tests.gateway.engine_support import Setup


async def test_the_gateway_repels_every_attack() -> None:
    """On a desktop, any page in the browser can send these."""
    results = await selftest.attack_twin()

    assert [one for one in results if not one.is_repelled] == []
    assert len(results) > 100
    assert {one.place for one in results} == {Place.TWIN}


@pytest.mark.parametrize("defence", Defence)
async def test_a_missing_defence_is_noticed_and_named(
    defence: Defence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A self-test that passes whatever happens is worse than none."""
    monkeypatch.setattr(selftest, "_LIMIT_S", 4.0)  # some are noticed by an answer that stays away
    results = await selftest.attack_twin([defence])

    through = [one for one in results if not one.is_repelled]
    assert {one.defence for one in through} == {defence}
    assert all(one.found for one in through)


async def test_the_open_address_is_attacked_without_a_key(setup: Setup) -> None:
    """Nothing of it may reach an engine that serves people."""
    results = await selftest.attack_live(setup.port)

    assert [one for one in results if not one.is_repelled] == []
    assert {one.place for one in results} == {Place.LIVE}
    assert len(results) > 40
    assert setup.engine.received == []


async def test_its_own_attacks_are_not_kept_and_a_strangers_are(setup: Setup) -> None:
    """A list full of refused hosts looks like a break-in; and nobody may hide in it."""
    with setup.gateway.attacked() as mark:
        results = await selftest.attack_live(setup.port, mark=mark)
        hidden = await setup.keys.requests(key_id=None, count=1000, errors_only=False)
        guess = await setup.post("/v1/models", authorization="Bearer x", **{MARK: "0" * 32})
        seen = await setup.keys.requests(key_id=None, count=1000, errors_only=False)
    late = await setup.post("/v1/models", authorization="Bearer x", **{MARK: mark})
    after = await setup.keys.requests(key_id=None, count=1000, errors_only=False)

    assert [one for one in results if not one.is_repelled] == []
    assert [(one.code, one.request_id) for one in hidden] == []
    assert (guess.status_code, len(seen)) == (405, 1)
    assert (late.status_code, len(after)) == (405, 2)


async def test_an_open_address_that_lacks_a_defence_is_found(setup: Setup, keys: KeyStore) -> None:
    """What serves may be another version than what tests."""
    limits = selftest.Limits(without=frozenset([Defence.HOST]))
    weak = Gateway(keys, upstream=lambda: setup.target, limits=limits)
    await weak.open()
    try:
        port = weak.info().port
        assert port is not None
        results = await selftest.attack_live(port)
    finally:
        await weak.close()

    assert {one.defence for one in results if not one.is_repelled} == {Defence.HOST}


async def test_an_address_where_nobody_answers_is_not_called_safe() -> None:
    """No answer is no defence."""
    results = await selftest.attack_live(free_port())

    assert not any(one.is_repelled for one in results)
    assert results[0].found.startswith("no answer, where")


async def test_a_stranger_on_the_port_is_not_called_safe(tmp_path: Path) -> None:
    """A program that says 200 to everything, and one that says nonsense."""
    ground = Ground(port=1, key="k", head_bytes=100, head_count=5, body_bytes=10)
    attack = attacks(ground)[0]
    answers = {
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n": "answered 200, where 400 or 403 was due",
        b"SSH-2.0-OpenSSH_9.6\r\n": "an answer that is not HTTP, where 400 or 403 was due",
        b"HTTP/1.1 403 F\r\n\r\nHTTP/1.1 200 OK\r\n\r\n": "was taken for 2 requests",
        b"HTTP/1.1 403 F\r\naccess-control-allow-origin: *\r\n\r\n": "the answer lets * read it",
    }
    for raw, said in answers.items():
        answer = selftest._Answer(raw=raw, is_over=True)
        found = selftest._let_through(attack, answer, ground, None)
        assert found is not None
        assert said in found


def test_what_a_client_steers_with_is_told_apart() -> None:
    """The engine's key, the client's key, and cookies."""
    ground = Ground(port=1, key="secret", head_bytes=1, head_count=1, body_bytes=1)
    own = (b"authorization", b"Bearer key-of-the-stand-in")

    assert selftest._steered([[own]], ground) is None
    assert "own key was taken off" in (selftest._steered([[]], ground) or "")
    assert "x-api-key" in (selftest._steered([[own, (b"x-api-key", b"secret")]], ground) or "")
    assert "cookie" in (selftest._steered([[own, (b"cookie", b"a")]], ground) or "")
    assert "0 times" in (selftest._steered([], ground) or "")


def test_no_defence_is_left_out_where_nobody_asks_for_it() -> None:
    """The switch exists for these tests only."""
    assert selftest.Limits().without == frozenset()
    assert [field.name for field in dataclasses.fields(selftest.Limits)][-1] == "without"


async def test_without_room_for_its_keys_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is no failed defence."""

    def refuse(**_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(selftest.tempfile, "TemporaryDirectory", refuse)

    with pytest.raises(HostLacks) as caught:
        await selftest.attack_twin()

    assert caught.value.code == "disk-full"
