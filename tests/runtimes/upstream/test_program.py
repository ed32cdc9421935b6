"""One commit by the git program of this machine."""

import asyncio
import os
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks, NetworkFailure, NotFound
from studio.runtimes.upstream import program
from studio.runtimes.upstream.objects import root_tree
from tests.fakes.git import git, make_repository, serving

FILES = {"patches/series": b"one.patch\n", "patches/one.patch": b"text\n"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a history, in a folder with a blank and a foreign letter."""
    make_repository(tmp_path / "my clöne", FILES)
    return tmp_path / "my clöne"


def head(repository: Path) -> str:
    """Return the newest commit."""
    return git(repository, "rev-parse", "HEAD").decode().strip()


def test_a_commit_comes_from_a_server_without_its_history(repository: Path, tmp_path: Path) -> None:
    """And nothing is left of the folder that git worked in."""
    (tmp_path / "series").mkdir()
    with serving(repository) as server:
        found = asyncio.run(program.fetch(server.address, head(repository), tmp_path / "series"))

    assert root_tree(found, head(repository)) in found
    assert git(repository, "rev-parse", "HEAD~1").decode().strip() not in found
    assert list((tmp_path / "series").iterdir()) == []


def test_a_commit_comes_from_a_folder(repository: Path, tmp_path: Path) -> None:
    """A recipe of one's own may name a place on the disk."""
    for address in (str(repository), repository.as_uri()):
        assert head(repository) in asyncio.run(program.fetch(address, head(repository), tmp_path))


def test_each_failure_has_its_code(repository: Path, tmp_path: Path) -> None:
    """What a person does next depends on it."""
    with serving(repository) as server, pytest.raises(NotFound) as missing:
        asyncio.run(program.fetch(server.address, "ab" * 20, tmp_path))
    with serving(repository) as server:
        server.status = 404
        with pytest.raises(NotFound) as gone:
            asyncio.run(program.fetch(server.address, head(repository), tmp_path))
    with pytest.raises(NetworkFailure) as dead:
        asyncio.run(program.fetch("http://127.0.0.1:9/series", head(repository), tmp_path))

    assert missing.value.code == "commit-missing"
    assert gone.value.code == "repository-missing"
    assert dead.value.code == "repository-unreachable"
    assert [one.name for one in tmp_path.iterdir()] == ["my clöne"]


def test_nobody_is_asked_for_a_password(repository: Path, tmp_path: Path) -> None:
    """A server that wants one would hang an installation that nobody watches."""
    with serving(repository) as server:
        server.status = 401
        with pytest.raises((NotFound, NetworkFailure)):
            asyncio.run(program.fetch(server.address, head(repository), tmp_path))


def test_an_address_is_never_an_option(tmp_path: Path) -> None:
    """Recipes are handed around; `--upload-pack=…` would run a program."""
    marker = tmp_path / "ran"

    with pytest.raises((NotFound, NetworkFailure)):
        asyncio.run(program.fetch(f"--upload-pack=touch {marker}", "ab" * 20, tmp_path))

    assert not marker.exists()


def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many desktops have none; another way is taken then."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert program.program() is None
    with pytest.raises(HostLacks):
        asyncio.run(program.fetch("http://127.0.0.1:9/", "ab" * 20, tmp_path))
    assert os.environ["PATH"] == str(tmp_path)
