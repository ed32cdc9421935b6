"""Keys: shown once, kept as hashes, counted without a request ever waiting for the disk."""

import asyncio
import contextlib
import hashlib
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Damaged, HostLacks, NotFound
from studio.domain.keys import KeyLimits
from studio.gateway.keys import KeyStore
from studio.gateway.usage import Tokens

TOKENS = Tokens(prompt=10, cached=4, generated=3)


async def reopened(store: KeyStore) -> KeyStore:
    """Close a store and open its file anew, as after a restart."""
    await store.close()
    again = KeyStore(store.path)
    await again.open()
    return again


async def test_a_key_is_256_random_bits_behind_a_known_prefix(keys):
    """Scanners for leaked secrets look for prefixes; guessing must be hopeless."""
    made = [await keys.create(f"key {n}") for n in range(20)]

    assert len({new.key for new in made}) == 20
    for new in made:
        assert new.key.startswith("sk-weir-")
        assert len(new.key) == len("sk-weir-") + 43
        assert new.key.removeprefix("sk-weir-").isalnum()
        assert new.info.prefix == new.key[:12]


async def test_the_key_itself_is_nowhere_in_the_files(keys):
    """Whoever copies the folder gets no key."""
    new = await keys.create("laptop")
    keys.count(keys.verify(new.key.encode()), tokens=TOKENS, is_error=False)
    await keys.flush()

    files = list(keys.path.parent.iterdir())
    digest = hashlib.sha256(new.key.encode()).hexdigest().encode()
    assert any(digest in file.read_bytes() for file in files)
    for file in files:
        assert new.key[12:].encode() not in file.read_bytes()
        assert file.stat().st_mode & 0o077 == 0


async def test_a_key_works_until_it_is_revoked_and_survives_a_restart(keys):
    """Revoked means from this moment on, and for ever."""
    kept, dropped = await keys.create("kept"), await keys.create("dropped")
    await keys.revoke(dropped.info.id)

    assert keys.verify(kept.key.encode()).name == "kept"
    assert keys.verify(dropped.key.encode()) is None
    keys = await reopened(keys)
    assert keys.verify(kept.key.encode()).name == "kept"
    assert keys.verify(dropped.key.encode()) is None
    assert keys.active == 1
    assert [info.revoked_at is None for info in keys.list()] == [True, False]
    await keys.close()


@pytest.mark.parametrize(
    "secret", [b"", b"sk-weir-", b"sk-weir-" + b"A" * 43, b"\xff\x00", b"x" * 100_000]
)
async def test_what_is_no_key_is_refused(keys, secret):
    """Anything may stand in a header."""
    await keys.create("one")

    assert keys.verify(secret) is None


async def test_a_key_with_one_character_changed_is_refused(keys):
    """The whole key counts, the last character too."""
    secret = (await keys.create("one")).key

    for n in range(len(secret)):
        other = "A" if secret[n] != "A" else "B"
        assert keys.verify((secret[:n] + other + secret[n + 1 :]).encode()) is None


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x00", "x" * 65, "zero\u200bwidth", "\t"])
async def test_a_name_that_cannot_be_read_is_refused(keys, name):
    """Names are how people tell keys apart in a list."""
    with pytest.raises(BadInput) as caught:
        await keys.create(name)

    assert caught.value.code == "key-name-invalid"
    assert keys.list() == []


@pytest.mark.parametrize("name", ["a", "x" * 64, "Open WebUI (Küche)", "模型", "😀"])
async def test_any_visible_name_is_fine(keys, name):
    """People name things in their language."""
    assert (await keys.create(name)).info.name == name


async def test_a_name_is_unique_among_keys_that_work(keys):
    """Also by case, and free again once revoked."""
    first = await keys.create("Laptop")
    with pytest.raises(BadInput) as caught:
        await keys.create(" laptop ")
    assert caught.value.code == "key-name-taken"

    await keys.revoke(first.info.id)
    assert (await keys.create("laptop")).info.id != first.info.id


async def test_two_calls_at_once_cannot_both_have_a_name(keys):
    """Two windows, one click each."""
    results = await asyncio.gather(keys.create("same"), keys.create("same"), return_exceptions=True)

    assert sorted(type(result).__name__ for result in results) == ["BadInput", "NewKey"]


async def test_a_limit_below_one_is_refused(keys):
    """A key that allows nothing is a revoked key."""
    with pytest.raises(BadInput) as caught:
        await keys.create("none", KeyLimits(max_concurrent=0))

    assert caught.value.code == "key-limit-invalid"


async def test_revoking_takes_id_or_name_and_refuses_the_unknown(keys):
    """People know names, programs know ids."""
    await keys.create("by name")
    assert (await keys.revoke("by name")).revoked_at is not None

    with pytest.raises(NotFound) as caught:
        await keys.revoke("by name")
    assert caught.value.code == "key-unknown"


async def test_usage_adds_up_and_survives_a_restart(keys):
    """The figures of a month are the sum of its requests."""
    new = await keys.create("one", KeyLimits(max_concurrent=3))
    key = keys.verify(new.key.encode())
    for n in range(5):
        keys.count(key, tokens=TOKENS, is_error=n == 0)
    keys.count(key, tokens=Tokens(), is_error=True)
    before = keys.list()[0]
    keys = await reopened(keys)

    after = keys.list()[0]
    assert after == before
    assert (after.requests, after.errors, after.limits.max_concurrent) == (6, 2, 3)
    assert (after.prompt_tokens, after.cached_tokens, after.generated_tokens) == (50, 20, 15)
    assert after.last_used_at is not None
    await keys.close()


async def test_counting_a_request_touches_no_disk(keys, monkeypatch):
    """A full or sleeping disk must not hold up anyone's tokens."""
    key = keys.verify((await keys.create("one")).key.encode())
    threads: set[int] = set()
    put = keys._put
    monkeypatch.setattr(
        keys, "_put", lambda *what: (threads.add(threading.get_ident()), put(*what))
    )

    for _ in range(1000):
        keys.count(key, tokens=TOKENS, is_error=False)
    assert threads == set()

    await keys.flush()
    assert threads
    assert threading.get_ident() not in threads


async def test_usage_is_written_without_being_asked(keys, monkeypatch):
    """A crash may cost a second of figures, not a day."""
    monkeypatch.setattr("studio.gateway.keys.FLUSH_S", 0.01)
    key = keys.verify((await keys.create("one")).key.encode())
    keys.count(key, tokens=TOKENS, is_error=False)

    def stored() -> int:
        with contextlib.closing(sqlite3.connect(keys.path)) as database:
            return database.execute("SELECT requests FROM keys").fetchone()[0]

    async with asyncio.timeout(30):
        while stored() != 1:
            await asyncio.sleep(0)


async def test_usage_that_cannot_be_written_is_kept_and_written_later(keys, monkeypatch, caplog):
    """Another program may hold the file for a while."""
    monkeypatch.setattr("studio.gateway.keys.FLUSH_S", 0.01)
    monkeypatch.setattr("studio.gateway.keys._RETRY_S", 0.01)
    key = keys.verify((await keys.create("one")).key.encode())
    failures = [HostLacks("disk-full", "Full."), HostLacks("disk-full", "Full.")]
    written = asyncio.Event()
    loop, put = asyncio.get_running_loop(), keys._put

    def failing(*what):
        put(*what)
        if failures:
            raise failures.pop()
        loop.call_soon_threadsafe(written.set)

    monkeypatch.setattr(keys, "_put", failing)
    keys.count(key, tokens=TOKENS, is_error=False)
    async with asyncio.timeout(30):
        await written.wait()

    keys = await reopened(keys)
    assert keys.list()[0].requests == 1
    assert "not written yet" in caplog.text
    await keys.close()


async def test_a_key_that_cannot_be_stored_is_not_given_out(keys, monkeypatch):
    """A key that works today and is unknown tomorrow is worse than none."""

    async def full(work):
        raise HostLacks("disk-full", "Full.")

    monkeypatch.setattr(keys._database, "run", full)
    with pytest.raises(HostLacks):
        await keys.create("one")
    monkeypatch.undo()

    assert keys.list() == []
    assert (await keys.create("one")).info.name == "one"


WRITER = """
import asyncio, sys
from pathlib import Path
from studio.domain.keys import KeyLimits
from studio.gateway.keys import KeyStore
from studio.gateway.usage import Tokens
async def main():
    keys = KeyStore(Path(sys.argv[1]))
    await keys.open()
    key = keys.verify((await keys.create("one")).key.encode())
    while True:
        keys.count(key, tokens=Tokens(prompt=1), is_error=False)
        await keys.flush()
        print("written", flush=True)
asyncio.run(main())
"""


def killed_writer(path: Path) -> int:
    """Kill a process that counts without a pause; return what it said it had written."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    seen = sum(bool(process.stdout.readline()) for _ in range(20))
    process.kill()
    return seen + process.communicate()[0].count("written")


async def test_a_process_killed_while_writing_leaves_a_readable_file(tmp_path):
    """`kill -9` of the service is an everyday event."""
    path = tmp_path / "Größe mit ß" / "studio.db"
    seen = killed_writer(path)
    store = KeyStore(path)
    await store.open()

    assert store.list()[0].requests >= seen >= 20
    await store.close()


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"this is no database, it is a text " * 100, "keys-damaged"), (None, "keys-too-new")],
)
async def test_a_file_that_is_not_ours_is_refused_in_words(tmp_path, content, code):
    """Never a traceback, never an empty list in place of somebody's keys."""
    path = tmp_path / "studio.db"
    if content is None:
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA user_version = 99")
    else:
        path.write_bytes(content)
    store = KeyStore(path)

    with pytest.raises(Damaged) as caught:
        await store.open()

    assert caught.value.code == code
    assert str(path) in caught.value.message
    await store.close()


async def test_a_folder_where_the_file_should_be_is_refused_in_words(tmp_path):
    """Odd, but people do move things."""
    (tmp_path / "studio.db").mkdir()
    store = KeyStore(Path(tmp_path / "studio.db"))

    with pytest.raises(HostLacks) as caught:
        await store.open()

    assert caught.value.code == "not-writable"
    await store.close()
