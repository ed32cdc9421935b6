"""Many small files: few connections, no journal and no flush for each, and yet nothing unproven."""

import os
import random
from pathlib import Path

import pytest

from studio.hub import get
from studio.hub.layout import Layout
from tests.fakes import hub as fake
from tests.fakes.hub import COMMIT, Hub, blob_id, sha256
from tests.hub.test_get import access, content, named, request

FILES = {f"{one // 9}/é{one}.json": random.Random(one).randbytes(1 + 97 * one) for one in range(90)}
LFS = frozenset([*FILES][::2])


def blob(folder: Path, name: str) -> Path:
    """Return where a file's content lies."""
    digest = sha256(FILES[name]) if name in LFS else blob_id(FILES[name])
    return folder / "hf/hub/models--owner--model/blobs" / digest


async def test_a_redirect_costs_no_connection(tmp_path: Path) -> None:
    """A hub redirects each large file; with TLS a new connection takes three round trips."""
    with fake.running(Hub(files=FILES, lfs=frozenset(FILES))) as hub:
        found = await get.get(request(), access(hub, tmp_path))

        assert len(hub.asked) == 2 * len(FILES) + 3
        assert hub.connections <= 2 * 16 + 1
    assert all(content(found.folder, name) == data for name, data in FILES.items())


async def test_tiny_files_are_on_the_disk_before_the_branch_is_said_to_be_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut must not leave a model that looks whole with files of nothing."""
    flushed: set[str] = set()
    before: set[str] = set()
    real_fsync, real_note = os.fsync, Layout.note_commit

    def fsync(file: int) -> None:
        flushed.add(str(Path(f"/proc/self/fd/{file}").readlink()))
        real_fsync(file)

    def note_commit(self: Layout, revision: str, commit: str) -> None:
        before.update(flushed)
        real_note(self, revision, commit)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Layout, "note_commit", note_commit)
    with fake.running(Hub(files=FILES, lfs=LFS)) as hub:
        await get.get(request(), access(hub, tmp_path))

    assert {str(blob(tmp_path, name)) for name in FILES} <= before
    assert str(blob(tmp_path, "0/é0.json").parent) in before


@pytest.mark.parametrize("is_linked", [True, False])
async def test_a_tiny_file_of_the_right_size_is_looked_into(
    tmp_path: Path, *, is_linked: bool
) -> None:
    """What a power cut left of it may have its size and none of its bytes."""
    name = "3/é30.json"
    with fake.running(Hub(files=FILES, lfs=LFS)) as hub:
        way = access(hub, tmp_path)
        await get.get(request(), way)
        blob(tmp_path, name).write_bytes(bytes(len(FILES[name])))
        if not is_linked:
            (tmp_path / "hf/hub/models--owner--model/snapshots" / COMMIT / name).unlink()
        found = await get.get(request(), way)

    assert found.fetched_bytes == len(FILES[name])
    assert content(found.folder, name) == FILES[name]


async def test_what_a_kill_left_of_a_tiny_file_is_taken_up_or_replaced(tmp_path: Path) -> None:
    """Without a journal its digest tells; also a journal of an older version goes."""
    half, wrong = "2/é20.json", "4/é44.json"
    parts = {name: blob(tmp_path, name).with_suffix(".part") for name in (half, wrong)}
    parts[half].parent.mkdir(parents=True)
    parts[half].write_bytes(FILES[half][:900])
    parts[wrong].write_bytes(b"x" * 900)
    parts[wrong].with_suffix(".part.journal").write_bytes(b"of an older version")
    with fake.running(Hub(files=FILES, lfs=LFS)) as hub:
        found = await get.get(request(), access(hub, tmp_path))

        ranges = {path: known.get("Range") for _host, path, known in hub.asked}
        assert ranges[f"/cdn/{half}"] == f"bytes=900-{len(FILES[half]) - 1}"
    assert all(content(found.folder, name) == data for name, data in FILES.items())
    assert not named(tmp_path / "hf", ".part", ".journal", ".lock")
