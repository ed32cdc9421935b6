"""Large wheels before uv is asked: which, from where, and what is left to uv."""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.events import Stage, StageProgress
from studio.host.meter import Meter
from studio.host.network import NetworkPolicy
from studio.host.pip_config import PackageSources
from studio.host.prefetch import LARGE_BYTES, Asked, Prefetched, forget, prefetch
from tests.fakes.hostile import Hostile
from tests.fakes.package_index import index_of
from tests.fakes.wheels import make_wheel, wheel_sha256

LARGE = "weirlarge-1.0-py3-none-any.whl"


@pytest.fixture(autouse=True)
def _no_other_place(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "WEIR_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


@pytest.fixture
def lines(tmp_path: Path) -> tuple[str, str]:
    """Make a large wheel and a small one."""
    files = {"weirlarge/__init__.py": b"", "weirlarge/x": os.urandom(LARGE_BYTES + 1)}
    large = make_wheel(tmp_path / "wheels", "weirlarge", files)
    return large, make_wheel(tmp_path / "wheels", "weirsmall", {"weirsmall/__init__.py": b""})


@pytest.fixture
def index(lines: tuple[str, str], tmp_path: Path) -> Iterator[Hostile]:
    """Serve both."""
    assert lines
    with index_of(tmp_path / "wheels") as server:
        yield server


def asked(place: Path, text: str, **more: object) -> Asked:
    """Return a question about some requirements."""
    work = place / "wörk"
    work.mkdir(exist_ok=True)
    (work / "all.lock").write_text(text)
    return Asked(
        requirements=work / "all.lock",
        python=Path(sys.executable),
        folder=place / "wheels of ä",
        work=work,
        cache=place / "cache",
        **more,
    )


async def ask(one: Asked, url: str, **how: object) -> tuple[Prefetched, list[StageProgress]]:
    """Fetch what is large."""
    said: list[StageProgress] = []
    meter = Meter(Stage.RUNTIME, "Test", said.append)
    policy = NetworkPolicy(sources=PackageSources(index_url=url), **how)
    return await prefetch(one, meter, policy=policy), said


async def test_what_is_large_is_here_and_listed_afterwards(
    index: Hostile, lines: tuple[str, str], tmp_path: Path
) -> None:
    """Its size is the index's; the small one and all notes of the search are not here."""
    one = asked(tmp_path, "\n".join((*lines, "")))

    found, said = await ask(one, index.url("/simple"))

    assert found == Prefetched(requirements=one.requirements, folders=(one.folder,))
    assert {path.name for path in one.folder.iterdir()} == {LARGE, "simple"}
    data = (one.folder / LARGE).read_bytes()
    assert hashlib.sha256(data).hexdigest() == wheel_sha256(lines[0])
    page = (one.folder / "simple" / "weirlarge" / "index.html").read_text()
    assert f"{LARGE}#sha256={wheel_sha256(lines[0])}" in page
    assert said[-1].total == len(data)
    assert {path.name for path in one.work.iterdir()} == {"all.lock"}
    forget(one.folder, one.work)
    assert not one.folder.exists()


async def test_a_table_that_calls_all_small_costs_no_question(
    index: Hostile, lines: tuple[str, str], tmp_path: Path
) -> None:
    """Nor does a lock of nothing, or a network that is switched off."""
    small = {"weirlarge==1.0": 1, "weirsmall==1.0": 1}
    questions = (
        ("\n".join(lines), small, {}),
        ("", {}, {}),
        ("\n".join(lines), {}, {"offline_source": "WEIR_OFFLINE"}),
    )
    for text, sizes, how in questions:
        one = asked(tmp_path, text, sizes=sizes)
        found, _said = await ask(one, index.url("/simple"), **how)
        assert found == Prefetched(requirements=one.requirements)
    assert index.requests == []


async def test_a_wheel_that_lies_here_already_is_checked_and_used(
    index: Hostile, lines: tuple[str, str], tmp_path: Path
) -> None:
    """From before a kill; one of another lock, or one that rotted, goes."""
    one = asked(tmp_path, lines[0])
    one.folder.mkdir()
    shutil.copy(tmp_path / "wheels" / LARGE, one.folder / LARGE)
    (one.folder / "weirother-1.0-py3-none-any.whl").write_bytes(b"other")

    found, _said = await ask(one, index.url("/simple"))

    assert found.folders == (one.folder,)
    assert {path.name for path in one.folder.iterdir()} == {LARGE, "simple"}
    assert not any(request.target.startswith("/files/") for request in index.requests)
