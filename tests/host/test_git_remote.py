"""The client's half of git over HTTP, against git's own server on loopback."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.errors import NetworkFailure, NotFound
from studio.host import git_remote
from tests.fakes.git import GitServer, git, make_repository, serving

FILES = {"patches/series": b"one.patch\n", "patches/one.patch": b"text\n", "big.bin": bytes(90_000)}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a history of two commits."""
    make_repository(tmp_path / "made", FILES)
    return tmp_path / "made"


@pytest.fixture
def server(repository: Path) -> Iterator[GitServer]:
    """A server that hands it out."""
    with serving(repository) as running:
        yield running


def head(repository: Path) -> str:
    """Return the newest commit."""
    return git(repository, "rev-parse", "HEAD").decode().strip()


def ask(address: str, wants: list[str], **how: bool) -> bytes:
    """Fetch once and return the pack."""

    async def fetch() -> bytes:
        async with git_remote.reached(address) as remote:
            return await remote.pack(wants, **how)

    return asyncio.run(fetch())


def names_in(pack: bytes, folder: Path) -> set[str]:
    """Return what git finds in a pack."""
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "unpack-objects", "-q", data=pack)
    found = git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return set(found.decode().split())


def test_a_commit_comes_without_its_history(
    server: GitServer, repository: Path, tmp_path: Path
) -> None:
    """A series is a few files at one commit; its project may have years of history."""
    found = names_in(
        ask(server.address, [head(repository)], without_history=True), tmp_path / "got"
    )

    every = git(repository, "rev-list", "--objects", "--no-object-names", "HEAD").decode().split()
    first = git(repository, "rev-list", "--objects", "--no-object-names", "HEAD~1").decode().split()
    assert head(repository) in found
    assert found == set(every) - set(first)


def test_files_can_be_left_out_and_asked_for_alone(
    server: GitServer, repository: Path, tmp_path: Path
) -> None:
    """Of a repository with recordings and pictures only the patches are fetched."""
    without = ask(server.address, [head(repository)], without_files=True, without_history=True)
    blob = git(repository, "rev-parse", "HEAD:patches/one.patch").decode().strip()

    assert blob not in names_in(without, tmp_path / "without")
    assert names_in(ask(server.address, [blob]), tmp_path / "one") == {blob}


def test_a_server_that_cannot_filter_says_so(repository: Path) -> None:
    """Then everything is fetched at once."""

    async def can_filter(address: str) -> bool:
        async with git_remote.reached(address) as remote:
            return remote.can_filter

    with serving(repository, can_filter=False) as server:
        assert not asyncio.run(can_filter(server.address))
    with serving(repository) as server:
        assert asyncio.run(can_filter(server.address))


def test_a_commit_that_is_not_there_is_named(server: GitServer) -> None:
    """A rewritten history is another matter than a dead network."""
    with pytest.raises(NotFound) as caught:
        ask(server.address, ["ab" * 20])

    assert caught.value.code == "commit-missing"
    assert "ab" * 20 in caught.value.message


def test_branches_and_tags_are_told_with_their_commits(server: GitServer, repository: Path) -> None:
    """As git itself lists them: a tag with a text is another object than the commit it names."""
    git(repository, "tag", "light")
    git(repository, "tag", "-a", "-m", "Text", "v1")
    git(repository, "branch", "old/line", "HEAD~1")

    async def refs() -> dict[str, str]:
        async with git_remote.reached(server.address) as remote:
            return await remote.refs()

    listed = git(repository, "ls-remote", str(repository)).decode().splitlines()
    assert asyncio.run(refs()) == {line.split()[1]: line.split()[0] for line in listed}


def test_a_repository_that_moved_is_followed(
    server: GitServer, repository: Path, tmp_path: Path
) -> None:
    """Projects are renamed; whoever knows the commit need not trust the new place."""
    server.moved_to = "/renamed"

    async def fetch() -> tuple[str, bytes]:
        async with git_remote.reached(server.address) as remote:
            return remote.address, await remote.pack([head(repository)])

    address, pack = asyncio.run(fetch())

    assert address.endswith("/renamed")
    assert head(repository) in names_in(pack, tmp_path / "got")


@pytest.mark.parametrize("target", ["https://example.invalid/login?next=1", "/login", ""])
def test_a_way_to_a_login_page_is_not_followed(server: GitServer, target: str) -> None:
    """A portal in a hotel answers everything, and never with a repository."""
    server.moved_to = target.removesuffix("") + "?"

    with pytest.raises((NotFound, NetworkFailure)) as caught:
        ask(server.address, ["ab" * 20])

    assert caught.value.code in ("repository-missing", "repository-unreachable")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "repository-missing"),
        (404, "repository-missing"),
        (429, "repository-unreachable"),
        (500, "repository-unreachable"),
    ],
)
def test_a_refusal_says_what_it_means(server: GitServer, status: int, code: str) -> None:
    """Gone, or busy: a person does different things about them."""
    server.status = status

    with pytest.raises((NotFound, NetworkFailure)) as caught:
        ask(server.address, ["ab" * 20])

    assert caught.value.code == code
    assert str(status) in caught.value.message


@pytest.mark.parametrize(
    "answer", [b"", b"<html>Sign in</html>", b"001e# service=git-upload-pack\n0000", b"zzzz", b"00"]
)
def test_an_answer_that_is_not_git_is_refused(server: GitServer, answer: bytes) -> None:
    """Proxies answer in place of the server, and with status 200."""
    server.instead = answer

    with pytest.raises(NetworkFailure) as caught:
        ask(server.address, ["ab" * 20])

    assert caught.value.code == "repository-unreachable"


def test_an_answer_that_breaks_off_is_refused(server: GitServer, repository: Path) -> None:
    """Half a pack would be found out later; saying it at once is kinder."""
    for length in (0, 3, 40, 300):
        server.cut_at = length
        with pytest.raises(NetworkFailure) as caught:
            ask(server.address, [head(repository)])
        assert caught.value.code == "repository-unreachable"


def test_an_answer_without_end_is_refused(
    server: GitServer, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is finite."""
    monkeypatch.setattr(git_remote, "MOST_BYTES", 2_000)

    server.instead = bytes(5_000)

    with pytest.raises(NetworkFailure, match="more than 2000 bytes"):
        ask(server.address, [head(repository)])


def test_nobody_there_is_a_matter_of_the_network() -> None:
    """The commonest case of all."""
    with pytest.raises(NetworkFailure) as caught:
        ask("http://127.0.0.1:9/series", ["ab" * 20])

    assert caught.value.code == "repository-unreachable"
    assert "127.0.0.1" in caught.value.message
