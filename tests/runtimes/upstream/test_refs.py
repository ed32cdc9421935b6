"""A branch or tag becomes a commit once, when a person says so."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.errors import NetworkFailure, NotFound
from studio.host.network import NetworkPolicy
from studio.runtimes.upstream import program, refs
from tests.fakes.git import commit, git, make_repository, serving


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a tag on its older commit, and a branch."""
    make_repository(tmp_path / "made", {"a": b"1\n"})
    git(tmp_path / "made", "tag", "-a", "-m", "Text", "v1", "HEAD~1")
    git(tmp_path / "made", "branch", "line/0.32", "HEAD~1")
    return tmp_path / "made"


@pytest.fixture(params=["git", "own client"])
def address(
    request: pytest.FixtureRequest, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Serve it to the git program, or to a machine without one."""
    if request.param != "git":
        monkeypatch.setattr(program, "program", lambda: None)
    with serving(repository) as server:
        yield server.address


async def test_head_branch_and_tag_are_their_commits(address: str, repository: Path) -> None:
    """A tag with a text of its own is not the commit that it names."""
    newest = git(repository, "rev-parse", "HEAD").decode().strip()
    older = git(repository, "rev-parse", "HEAD~1").decode().strip()
    policy = NetworkPolicy()

    assert await refs.resolve(address, refs.NEWEST, policy) == newest
    assert await refs.resolve(address, "main", policy) == newest
    assert await refs.resolve(address, "v1", policy) == older
    assert await refs.resolve(address, "line/0.32", policy) == older
    assert await refs.resolve(address, "refs/heads/main", policy) == newest
    later = commit(repository, {"b": b"2\n"}, "Third")
    assert await refs.resolve(address, refs.NEWEST, policy) == later


async def test_what_is_not_there_is_named_with_what_is(address: str) -> None:
    """A short commit is no name: it may mean another one tomorrow."""
    with pytest.raises(NotFound) as caught:
        await refs.resolve(address, "b20b740", NetworkPolicy())

    assert caught.value.code == "commit-unknown"
    assert "line/0.32, main" in (caught.value.hint or "")


async def test_without_a_network_a_commit_in_full_will_do(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switched off, dead, or no git and no address of a server."""
    policy = NetworkPolicy(offline_source="WEIR_OFFLINE")
    for address, how in (
        ("http://127.0.0.1:1/repo", policy),
        ("http://127.0.0.1:1/repo", NetworkPolicy()),
    ):
        with pytest.raises(NetworkFailure) as caught:
            await refs.resolve(address, refs.NEWEST, how)
        assert caught.value.code == "repository-unreachable"
        assert caught.value.hint
    assert shutil.which("git")
    monkeypatch.setattr(program, "program", lambda: None)
    with pytest.raises(NetworkFailure, match="git is not on this machine"):
        await refs.resolve(str(repository), refs.NEWEST, NetworkPolicy())
