"""A commit from whichever place can prove it, kept as one file that is whole or absent."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks, NetworkFailure, NotFound, StudioError
from studio.host.network import NetworkPolicy, Proxy
from studio.runtimes.upstream import obtain, program
from studio.runtimes.upstream.objects import root_tree
from studio.runtimes.upstream.obtain import Source, Wanted
from tests.fakes.git import git, make_repository, serving
from tests.runtimes.upstream.test_objects import objects_of

ROOT = Path(__file__).parents[3]
FILES = {
    "patches/series": b"one.patch\n",
    "patches/one.patch": b"text\n",
    "kvarn/files/new.py": b"X = 1\n",
    "pictures/large.bin": bytes(range(256)) * 2000,
    "README.md": b"words\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The project's repository."""
    make_repository(tmp_path / "upstream", FILES)
    return tmp_path / "upstream"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of series in a home with a blank and a foreign letter."""
    return tmp_path / "my höme" / "series"


@pytest.fixture
def no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the git program."""
    monkeypatch.setattr(program, "program", lambda: None)


def head(repository: Path) -> str:
    """Return the newest commit."""
    return git(repository, "rev-parse", "HEAD").decode().strip()


def wanted(address: str, commit: str, *, tree: str | None = None) -> Wanted:
    """Return what the recipe of these tests needs."""
    return Wanted(
        repository=address, commit=commit, tree=tree, paths=("patches", "kvarn/files", "gone")
    )


def have(one: Wanted, folder: Path) -> Source:
    """Make the kept file hold it."""
    return asyncio.run(obtain.ensure(one, folder / f"{one.commit}.bundle", None))


def refused(one: Wanted, folder: Path) -> StudioError:
    """Return the error, and see that nothing was left behind."""
    before = sorted(folder.rglob("*")) if folder.exists() else []
    with pytest.raises((NetworkFailure, NotFound, HostLacks)) as caught:
        have(one, folder)
    assert (sorted(folder.rglob("*")) if folder.exists() else []) == before
    return caught.value


def names_kept(one: Wanted, folder: Path) -> set[str]:
    """Return the objects of the kept file."""
    kept = obtain.kept_snapshot(folder / f"{one.commit}.bundle", one)
    assert kept is not None
    return set(kept.objects)


@pytest.mark.parametrize("has_git", [True, False], ids=["git", "own client"])
def test_a_network_that_is_switched_off_is_not_asked(
    repository: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, has_git: bool
) -> None:
    """`weir network --set offline=on` holds for git as for everything else."""
    if not has_git:
        monkeypatch.setattr(program, "program", lambda: None)
    policy = NetworkPolicy(offline_source="the Studio's settings")
    with serving(repository) as server:
        one = wanted(server.address, head(repository))
        with pytest.raises(NetworkFailure) as caught:
            asyncio.run(obtain.ensure(one, folder / f"{one.commit}.bundle", None, policy))

        assert server.asked == []
    assert caught.value.code == "series-unreachable"
    assert "switched off by the Studio's settings" in caught.value.message
    assert (caught.value.hint or "").startswith("Switch the network on with `weir network")
    assert "Check the network" not in (caught.value.hint or "")


@pytest.mark.parametrize("has_git", [True, False], ids=["git", "own client"])
def test_the_proxy_of_the_policy_is_taken(
    repository: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, has_git: bool
) -> None:
    """Behind a company's proxy the repository is reached through it or not at all."""
    if not has_git:
        monkeypatch.setattr(program, "program", lambda: None)
    with serving(repository) as server:
        through = Proxy(url=server.address, source="a test")
        policy = NetworkPolicy(proxies={"http": through})
        one = wanted("http://series.invalid/project", head(repository))
        with contextlib.suppress(NetworkFailure, NotFound):  # the server may serve it or not
            asyncio.run(obtain.ensure(one, folder / f"{one.commit}.bundle", None, policy))

        assert server.asked


@pytest.mark.parametrize("can_filter", [True, False], ids=["filter", "no filter"])
@pytest.mark.parametrize("has_git", [True, False], ids=["git", "own client"])
def test_every_way_keeps_the_same_file(
    repository: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    has_git: bool,
    can_filter: bool,
) -> None:
    """With git or without, the runtime is the same one."""
    if not has_git:
        monkeypatch.setattr(program, "program", lambda: None)
    reference = folder.parent / "reference"
    have(wanted(str(repository), head(repository)), reference) if has_git else None
    with serving(repository, can_filter=can_filter) as server:
        one = wanted(server.address, head(repository))
        source = have(one, folder)
        (kept,) = folder.iterdir()
        first = kept.read_bytes()
        asked = len(server.asked)
        again = have(one, folder)

        assert len(server.asked) == asked
        assert again.words == "kept from before"
    assert source.words == ("fetched with git" if has_git else "fetched over HTTP")
    assert source.bytes == len(first) < 3_000
    if has_git:
        assert first == next(reference.iterdir()).read_bytes()
    found = objects_of(repository)
    blob = git(repository, "rev-parse", "HEAD:pictures/large.bin").decode().strip()
    assert names_kept(one, folder) < set(found) - {blob}


def test_only_what_is_needed_is_fetched_where_the_server_can(
    repository: Path, folder: Path, no_git: None
) -> None:
    """Recordings and pictures stay where they are."""
    blob = git(repository, "rev-parse", "HEAD:pictures/large.bin").decode().strip()
    patch = git(repository, "rev-parse", "HEAD:patches/one.patch").decode().strip()
    with serving(repository) as server:
        have(wanted(server.address, head(repository)), folder)

    second = server.bodies[-1]
    assert len(server.bodies) == 2
    assert patch.encode() in second
    assert blob.encode() not in second


@pytest.mark.parametrize("form", ["clone", "bundle", "tar.gz", "kept"])
def test_a_person_can_hand_it_in(
    repository: Path, folder: Path, tmp_path: Path, no_git: None, form: str
) -> None:
    """A box without network: whatever form a friend could make."""
    folder.mkdir(parents=True)
    (folder / "a note.txt").write_text("from the other machine")
    match form:
        case "clone":
            shutil.copytree(repository, folder / "HyperQwen")
        case "bundle":
            git(repository, "bundle", "create", "-q", str(folder / "x.bundle"), "--all")
        case "tar.gz":
            subprocess.run(
                ["tar", "czf", folder / "x.tar.gz", "-C", tmp_path, "upstream"], check=True
            )
        case "kept":
            other = wanted(str(repository), head(repository))
            (folder / f"{other.commit}.bundle").write_bytes(made(other, tmp_path / "other"))

    source = have(wanted("http://127.0.0.1:9/series", head(repository)), folder)

    assert source.bytes > 0
    assert names_kept(wanted("", head(repository)), folder) <= set(objects_of(repository))


def made(one: Wanted, folder: Path) -> bytes:
    """Return the file that another machine with git keeps."""
    folder.mkdir()
    objects = objects_of(Path(one.repository))
    git_program, program.program = program.program, lambda: "git"
    try:
        have(one, folder)
    finally:
        program.program = git_program
    assert one.commit in objects
    return (folder / f"{one.commit}.bundle").read_bytes()


def test_an_archive_of_files_is_proven_by_the_tree_of_the_recipe(
    repository: Path, folder: Path, no_git: None
) -> None:
    """And refused without one, with the tree that it has, so that somebody can compare it."""
    folder.mkdir(parents=True)
    data = git(repository, "archive", "--prefix=Series-1/", "--format=tar.gz", "HEAD")
    (folder / "Series-1.tar.gz").write_bytes(data)
    tree = root_tree(objects_of(repository), head(repository))
    nowhere = "http://127.0.0.1:9/series"

    error = refused(wanted(nowhere, head(repository)), folder)
    other = refused(wanted(nowhere, head(repository), tree="ab" * 20), folder)
    source = have(wanted(nowhere, head(repository), tree=tree), folder)

    assert any(tree in line for line in error.evidence)
    assert any("ab" * 20 in line for line in other.evidence)
    assert source.words.endswith("Series-1.tar.gz")
    have(wanted(nowhere, head(repository), tree=tree), folder)


def test_a_tree_that_is_not_the_commits_is_refused(repository: Path, folder: Path) -> None:
    """Two statements of a recipe that contradict each other."""
    error = refused(wanted(str(repository), head(repository), tree="ab" * 20), folder)

    assert error.code == "series-unreachable"


def test_without_network_it_says_which_file_to_put_where(folder: Path, no_git: None) -> None:
    """The one sentence that a person on a train needs."""
    folder.mkdir(parents=True)
    (folder / "broken.bundle").write_bytes(b"<html>")

    error = refused(wanted("http://127.0.0.1:9/series", "ab" * 20), folder)

    assert error.code == "series-unreachable"
    assert str(folder) in (error.hint or "")
    assert f"{'ab' * 20}.bundle" in (error.hint or "")
    assert "git bundle create" in (error.hint or "")
    assert error.evidence == ("broken.bundle: it is no bundle",)


def test_a_lost_commit_and_a_lost_repository_are_told_apart(
    repository: Path, folder: Path, no_git: None
) -> None:
    """One was rewritten, the other withdrawn."""
    folder.mkdir(parents=True)
    with serving(repository) as server:
        lost = refused(wanted(server.address, "ab" * 20), folder)
        server.status = 404
        gone = refused(wanted(server.address, head(repository)), folder)

    assert (lost.code, gone.code) == ("series-commit-missing", "series-repository-missing")


def test_a_moved_repository_is_named(repository: Path, folder: Path, no_git: None) -> None:
    """Its bytes are the commit's wherever it lies; the recipe wants an update all the same."""
    with serving(repository) as server:
        server.moved_to = "/renamed"
        source = have(wanted(server.address, head(repository)), folder)

    assert "has moved to" in source.words
    assert "/renamed" in source.words


def test_no_flipped_byte_is_kept(repository: Path, folder: Path, no_git: None) -> None:
    """Whatever a proxy does to the bytes: the commit's digest finds it."""
    folder.mkdir(parents=True)
    answer_bytes = len(git(repository, "bundle", "create", "-q", "-", "HEAD", "^HEAD~1"))
    codes = []
    with serving(repository, can_filter=False) as server:
        for at in range(60, answer_bytes - 40, max(1, answer_bytes // 25)):
            server.flip_at = at
            codes.append(code_or_none(wanted(server.address, head(repository)), folder))
            kept = folder / f"{head(repository)}.bundle"
            if kept.exists():  # the byte was none of those that are needed
                found = objects_of(repository)
                assert names_kept(wanted("", head(repository)), folder) <= set(found)
                kept.unlink()

    assert {"series-unreachable"} <= set(codes) <= {"series-unreachable", None}


def code_or_none(one: Wanted, folder: Path) -> str | None:
    """Return how an attempt failed, if it did."""
    try:
        have(one, folder)
    except (NetworkFailure, NotFound) as error:
        return error.code
    return None


def test_a_damaged_kept_file_is_fetched_anew(repository: Path, folder: Path) -> None:
    """Disks forget; nothing but the commit is believed."""
    one = wanted(str(repository), head(repository))
    have(one, folder)
    kept = folder / f"{one.commit}.bundle"
    whole = kept.read_bytes()
    for broken in (b"", whole[:-30], whole[:100] + b"\xff" + whole[101:]):
        kept.write_bytes(broken)

        assert have(one, folder).words == "fetched with git"
        assert kept.read_bytes() == whole


@pytest.mark.parametrize("place", ["a file", "/proc/nowhere", "/dev/full"])
def test_a_home_that_cannot_be_written_is_named(
    repository: Path, tmp_path: Path, place: str
) -> None:
    """Read-only, full, or no folder at all: a sentence, and no traceback."""
    (tmp_path / "a file").write_text("")
    folder = tmp_path / place / "series"

    with pytest.raises(HostLacks) as caught:
        have(wanted(str(repository), head(repository)), folder)

    assert caught.value.code == "not-writable"


def test_two_at_once_leave_one_whole_file(repository: Path, folder: Path) -> None:
    """Two runtimes of one commit, installed side by side."""
    one = wanted(str(repository), head(repository))

    async def both() -> list[Source]:
        target = folder / f"{one.commit}.bundle"
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(obtain.ensure(one, target, None)) for _ in range(3)]
        return [task.result() for task in tasks]

    assert len({source.bytes for source in asyncio.run(both())}) == 1
    assert [path.name for path in folder.iterdir()] == [f"{one.commit}.bundle"]
    assert names_kept(one, folder)


def test_what_a_killed_fetch_left_is_swept(repository: Path, folder: Path) -> None:
    """Only when it is old: another runtime may be fetching right now."""
    (folder / ".git-old").mkdir(parents=True)
    (folder / ".git-old" / "HEAD").write_text("x")
    (folder / ".git-new").mkdir()
    long_ago = time.time() - 7200
    os.utime(folder / ".git-old", (long_ago, long_ago))

    have(wanted(str(repository), head(repository)), folder)

    assert not (folder / ".git-old").exists()
    assert (folder / ".git-new").exists()


def test_a_recipe_that_needs_more_fetches_more(repository: Path, folder: Path) -> None:
    """A later recipe may use another folder of the same commit."""
    one = wanted(str(repository), head(repository))
    have(one, folder)
    more = Wanted(
        repository=one.repository, commit=one.commit, tree=None, paths=(*one.paths, "pictures")
    )

    assert have(more, folder).words == "fetched with git"
    assert have(one, folder).words == "kept from before"


VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
from studio.runtimes.upstream import obtain
target, address, commit, last = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
points = 0
def hook(event, arguments):
    global points
    if event in ("os.rename", "os.mkdir", "os.remove", "open", "subprocess.Popen"):
        points += 1
        if points == last:
            os.kill(os.getpid(), signal.SIGKILL)
wanted = obtain.Wanted(repository=address, commit=commit, tree=None, paths=("patches",))
sys.addaudithook(hook)
asyncio.run(obtain.ensure(wanted, target, None))
print(points)
"""


def test_killed_anywhere_it_is_whole_or_absent(repository: Path, folder: Path) -> None:
    """And the next run has it, with nothing left over under a name of its own."""
    one = Wanted(repository=str(repository), commit=head(repository), tree=None, paths=("patches",))
    target = folder / f"{one.commit}.bundle"

    def victim(last: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", VICTIM, str(target), one.repository, one.commit, str(last)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    whole = victim(0)
    assert whole.returncode == 0, whole.stderr
    points = int(whole.stdout)
    first = target.read_bytes()
    killed = 0
    for last in range(1, points + 1, max(1, points // 8)):
        shutil.rmtree(folder)
        killed += victim(last).returncode == -9
        assert not target.exists() or target.read_bytes() == first
        have(one, folder)

        assert target.read_bytes() == first
        assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == [
            target.name
        ]
    assert killed >= 6  # how often the loop asks git for its end is not the same in every run
