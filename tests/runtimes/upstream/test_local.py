"""What a person puts into the folder: clones, bundles, archives; and what is none of these."""

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from studio.runtimes.upstream import local, pack
from studio.runtimes.upstream.objects import BadObject, root_tree
from tests.fakes.git import git, make_repository
from tests.runtimes.upstream.test_objects import FILES, objects_of


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose objects lie in files of their own, as after a few commits."""
    make_repository(tmp_path / "my clöne", FILES)
    return tmp_path / "my clöne"


def head(repository: Path) -> str:
    """Return the newest commit."""
    return git(repository, "rev-parse", "HEAD").decode().strip()


def archive_of(repository: Path, path: Path, *arguments: str) -> Path:
    """Write what a forge offers for download: the files at a commit, without git's data."""
    data = git(repository, "archive", "--prefix=Series-abc/", *arguments, "HEAD")
    path.write_bytes(data)
    return path


def test_a_clone_is_read_as_it_lies_there(repository: Path) -> None:
    """Loose objects now, packed ones after git has tidied up; both are the same repository."""
    loose = local.read(repository)
    git(repository, "gc", "-q")
    packed = local.read(repository)

    assert loose is not None
    assert packed is not None
    assert loose.objects == packed.objects == objects_of(repository)
    assert local.is_clone(repository)


def test_a_bare_clone_and_a_shallow_one_are_read(repository: Path, tmp_path: Path) -> None:
    """Whichever form somebody had at hand."""
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare.git")
    git(tmp_path, "clone", "-q", "--depth=1", repository.as_uri(), "shallow")

    for name in ("bare.git", "shallow"):
        found = local.read(tmp_path / name)
        assert found is not None
        assert root_tree(found.objects, head(repository)) in found.objects


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tgz", ".tar.xz"])
def test_an_archive_of_a_clone_is_read(repository: Path, tmp_path: Path, suffix: str) -> None:
    """The way of a clone through a USB stick or a mail."""
    path = tmp_path / f"clone{suffix}"
    mode = {".tar": "w", ".tar.xz": "w:xz"}.get(suffix, "w:gz")
    with tarfile.open(path, mode) as tar:
        tar.add(repository, "somewhere/clone")

    found = local.read(path)

    assert found is not None
    assert found.objects == objects_of(repository)


def test_a_bundle_is_read(repository: Path, tmp_path: Path) -> None:
    """One file, made by `git bundle`."""
    path = tmp_path / "series.bundle"
    git(repository, "bundle", "create", "-q", str(path), "--all")

    found = local.read(path)

    assert found is not None
    assert found.objects == objects_of(repository)


def test_an_archive_of_the_files_proves_a_tree_and_no_commit(
    repository: Path, tmp_path: Path
) -> None:
    """A forge's download holds no commit; its tree is computed and compared with the recipe's."""
    found = local.read(archive_of(repository, tmp_path / "files.tar"))

    assert found is not None
    assert found.trees == {root_tree(objects_of(repository), head(repository))}
    assert head(repository) not in found.objects


def test_one_changed_byte_makes_another_tree(repository: Path, tmp_path: Path) -> None:
    """Else the comparison would be worth nothing."""
    whole = archive_of(repository, tmp_path / "files.tar").read_bytes()
    (tmp_path / "changed.tar").write_bytes(whole.replace(b"below\n", b"belov\n"))

    found = local.read(tmp_path / "changed.tar")

    assert found is not None
    assert found.trees != {root_tree(objects_of(repository), head(repository))}


def test_what_is_none_of_these_is_passed_over(tmp_path: Path) -> None:
    """The folder is the person's; a note in it is no error."""
    (tmp_path / "notes.txt").write_text("remember")
    (tmp_path / "folder").mkdir()

    assert local.read(tmp_path / "notes.txt") is None
    assert local.read(tmp_path / "folder") is None


@pytest.mark.parametrize("name", ["a.bundle", "a.pack", "a.tar.gz", "a.tar"])
@pytest.mark.parametrize("content", [b"", b"<html>Sign in</html>" * 9, b"# v2 git bundle\n"])
def test_what_only_has_the_name_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """A download that a portal answered."""
    (tmp_path / name).write_bytes(content)

    with pytest.raises(BadObject):
        local.read(tmp_path / name)


def test_a_cut_archive_is_refused(repository: Path, tmp_path: Path) -> None:
    """Half of the files would make a tree too."""
    path = tmp_path / "clone.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(repository, "clone")
    path.write_bytes(path.read_bytes()[:-300])

    with pytest.raises(BadObject):
        local.read(path)


def test_a_bomb_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size stands in its head."""
    monkeypatch.setattr(pack, "MOST_BYTES", 10_000)
    with tarfile.open(tmp_path / "big.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo("x/zeros")
        info.size = 1_000_000
        tar.addfile(info, io.BytesIO(bytes(info.size)))

    with pytest.raises(BadObject, match="more than any series"):
        local.read(tmp_path / "big.tar.gz")


def test_damage_in_a_clone_is_a_missing_object(repository: Path) -> None:
    """A flipped bit gives another name, so the right one is simply not there."""
    whole = objects_of(repository)
    victim = next(p for p in sorted((repository / ".git/objects").glob("[0-9a-f]*/*")))
    victim.chmod(0o644)
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 0x10
    victim.write_bytes(bytes(data))

    found = local.read(repository)

    assert found is not None
    assert whole.keys() - found.objects.keys()
    assert all(one == whole[name] for name, one in found.objects.items() if name in whole)


def test_nothing_is_written_while_reading(repository: Path, tmp_path: Path) -> None:
    """It may be a stick that is not writable."""
    before = sorted(p.relative_to(repository) for p in repository.rglob("*"))

    local.read(repository)

    assert sorted(p.relative_to(repository) for p in repository.rglob("*")) == before
    shutil.rmtree(repository)
