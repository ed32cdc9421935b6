"""Reading a bundle: what was signed and nothing else, wherever somebody put a hand on it."""

import gzip
import io
import random
import subprocess
import tarfile
from pathlib import Path

import pytest

from studio.domain.errors import Damaged, HostLacks, NotFound, StudioError
from studio.host.blocks import BlockWriter
from studio.host.progress import Progress
from studio.runtimes import bundle, bundle_read
from tests.runtimes.bundles import FILES, item, tree, write_small
from tests.runtimes.standin import StandIn

SMALL = {path: data for path, data in FILES.items() if len(data) < 10_000}


def unpack(file: Path, target: Path) -> None:
    """Unpack a bundle."""
    with bundle_read.opened(file) as opened:
        opened.unpack(target, Progress())


def refusal(file: Path, target: Path) -> str | None:
    """Return the code of the error with which a bundle is refused; None when it is not."""
    try:
        unpack(file, target)
    except StudioError as error:
        return error.code
    return None


def rewritten(file: Path, target: Path, edit: dict[str, bytes], end: bytes = bundle.END) -> Path:
    """Write a bundle with other content under the same signature, well packed."""
    with tarfile.open(file) as tar, target.open("wb") as out, BlockWriter(out) as blocks:
        for member in tar.getmembers():
            source = tar.extractfile(member)
            data = edit.get(member.name, source.read() if source is not None else b"")
            blocks.write(bundle.header(member.name, len(data), mode=member.mode, link=None))
            blocks.write(data + bundle.padding(len(data)))
        blocks.write(end)
    return target


def test_files_come_out_as_they_went_in(stand_in: StandIn, tmp_path: Path) -> None:
    """Content, mode, time to the nanosecond, links; names of any length and script."""
    link = item("runtime/python/link", link="lib/large")
    write_small(stand_in, tmp_path / "b", FILES, link)

    unpack(tmp_path / "b", tmp_path / "out")

    found = tree(tmp_path / "out")
    assert found.pop("python/link") == "lib/large"
    assert {f"runtime/{path}": value[0] for path, value in found.items()} == {
        path: data for path, data in FILES.items() if path.startswith("runtime/")
    }
    assert {value[1:] for value in found.values()} == {(0o644, 1_700_000_000_123_456_789)}


def test_a_changed_byte_is_refused_wherever_it_is(stand_in: StandIn, tmp_path: Path) -> None:
    """300 seeded places and both ends; what was unpacked before it is what was signed.

    A packed block has a few bits that say nothing; where one of those changes, all that comes out
    is what was signed.
    """
    signed = {path: data for path, data in SMALL.items() if path.startswith("runtime/")}
    meaningless = 0
    write_small(stand_in, tmp_path / "b", SMALL)
    whole = (tmp_path / "b").read_bytes()
    places = {*range(24), *range(len(whole) - 12, len(whole))}
    places |= set(random.Random(20261129).sample(range(len(whole)), 300))
    for place in sorted(places):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        (tmp_path / "broken").write_bytes(broken)

        code = refusal(tmp_path / "broken", tmp_path / "out")

        if code is None:
            meaningless += 1
            out = tree(tmp_path / "out")
            assert {f"runtime/{path}": value[0] for path, value in out.items()} == signed
        else:
            assert code in ("bundle-damaged", "bundle-signature"), place
    assert meaningless <= 2
    for path, value in tree(tmp_path / "out").items():
        assert value[0] == SMALL[f"runtime/{path}"]


def test_a_changed_byte_under_a_right_checksum_is_refused(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """Whoever changes it on purpose packs it well again: only the signature is left to tell."""
    write_small(stand_in, tmp_path / "b", SMALL)
    for path, data in SMALL.items():
        other = bytes([data[0] ^ 1]) + data[1:] if data else b"x"
        file = rewritten(tmp_path / "b", tmp_path / "changed", {path: other})

        assert refusal(file, tmp_path / "out") == "bundle-damaged", path
    with tarfile.open(tmp_path / "b") as tar:
        raw = tar.extractfile(bundle.INDEX).read()
    swapped = {bundle.INDEX: raw.replace(b"/nowhere/", b"/elsewhere/")}
    assert refusal(rewritten(tmp_path / "b", tmp_path / "changed", swapped), tmp_path / "out") == (
        "bundle-signature"
    )


def test_the_signature_of_another_file_does_not_pass(stand_in: StandIn, tmp_path: Path) -> None:
    """Nor does one that is no signature."""
    write_small(stand_in, tmp_path / "b", SMALL)
    write_small(stand_in, tmp_path / "other", {**SMALL, "recipe/more": b"1"})
    with tarfile.open(tmp_path / "other") as tar:
        mark = tar.extractfile(bundle.SIGNATURE).read()
    for text, code in (
        (mark, "bundle-signature"),
        (b"{}", "bundle-damaged"),
        (b'{"public_key": "zz", "signature": "00"}', "bundle-damaged"),
        (b'{"public_key": "00", "signature": "00"}', "bundle-signature"),
    ):
        edit = {bundle.SIGNATURE: text}
        file = rewritten(tmp_path / "b", tmp_path / "changed", edit)
        assert refusal(file, tmp_path / "out") == code
    assert not (tmp_path / "out").exists()


def test_cut_off_anywhere_it_is_refused(stand_in: StandIn, tmp_path: Path) -> None:
    """A copy that was broken off, also between two blocks."""
    write_small(stand_in, tmp_path / "b")
    whole = (tmp_path / "b").read_bytes()
    heads = [at for at in range(len(whole)) if whole.startswith(b"\x1f\x8b\x08\x04", at)]
    assert len(heads) > 2
    for length in (0, 1, 100, *heads[1:], len(whole) - 1, len(whole) - 600):
        (tmp_path / "cut").write_bytes(whole[:length])
        assert refusal(tmp_path / "cut", tmp_path / "out") == "bundle-damaged", length


def test_what_follows_or_is_left_out_is_refused(stand_in: StandIn, tmp_path: Path) -> None:
    """Junk, a second archive, zeros without end, another member than the index lists."""
    write_small(stand_in, tmp_path / "b", SMALL)
    whole = (tmp_path / "b").read_bytes()
    more = io.BytesIO()
    with BlockWriter(more) as blocks:
        blocks.write(bytes(10 << 20))
    for junk in (b"\0", b"junk", whole, more.getvalue()):
        (tmp_path / "long").write_bytes(whole + junk)
        assert refusal(tmp_path / "long", tmp_path / "out") == "bundle-damaged"
    extra = bundle.header("runtime/extra", 0, link=None) + bundle.END
    file = rewritten(tmp_path / "b", tmp_path / "changed", {}, extra)
    assert refusal(file, tmp_path / "out") == "bundle-damaged"
    assert not (tmp_path / "out" / "extra").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\3\4", gzip.compress(b"x" * 5000), b"\x1f\x8b" + bytes(100), bytes(10_000)],
    ids=["empty", "zip", "gzip", "half gzip", "zeros"],
)
def test_what_is_no_bundle_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    """A person takes the wrong file of the stick."""
    (tmp_path / "file").write_bytes(content)

    assert refusal(tmp_path / "file", tmp_path / "out") == "bundle-damaged"
    assert not (tmp_path / "out").exists()


def test_a_bomb_in_the_index_is_not_read(stand_in: StandIn, tmp_path: Path) -> None:
    """A header may promise more than memory holds; it is refused by its size alone."""
    head = bundle.header(bundle.INDEX, 1 << 40, link=None)
    with (tmp_path / "b").open("wb") as out, BlockWriter(out) as blocks:
        blocks.write(head)

    assert refusal(tmp_path / "b", tmp_path / "out") == "bundle-damaged"


def test_devices_and_links_of_a_tar_have_no_meaning(stand_in: StandIn, tmp_path: Path) -> None:
    """Another writer's members are refused, for no header is read as one."""
    write_small(stand_in, tmp_path / "b", SMALL)
    for kind in (tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE):
        with (
            tarfile.open(tmp_path / "b") as tar,
            (tmp_path / "bad").open("wb") as out,
            BlockWriter(out) as blocks,
        ):
            for member in tar.getmembers():
                data = tar.extractfile(member).read()
                if member.name == "runtime/python/lib/empty":
                    member.type, member.linkname = kind, "/etc/passwd"
                blocks.write(member.tobuf(tarfile.GNU_FORMAT))
                blocks.write(data + bundle.padding(len(data)))
            blocks.write(bundle.END)
        assert refusal(tmp_path / "bad", tmp_path / "out") == "bundle-damaged"


def test_it_goes_on_where_it_stopped(stand_in: StandIn, tmp_path: Path) -> None:
    """What lies there and is right stays the same file; what is wrong is made right."""
    link = item("runtime/python/link", link="lib")
    write_small(stand_in, tmp_path / "b", FILES, link)
    out = tmp_path / "out"
    unpack(tmp_path / "b", out)
    before = tree(out)
    large = (out / "python/lib/large").stat().st_ino
    (out / "python/bin/python3").write_bytes(b"other")
    (out / "python/lib/empty").unlink()
    (out / "python/lib/empty").mkdir()
    (out / "python/lib/empty/inside").write_text("x")
    (out / "python/link").unlink()
    (out / "python/link").write_text("was a link")
    (out / "python/lib/stranger").write_text("x")
    (out / "python/bin/.importing").write_text("cut off")

    unpack(tmp_path / "b", out)

    assert tree(out) == before
    assert (out / "python/lib/large").stat().st_ino == large


def test_nothing_is_written_through_a_link_that_lies_there(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """Who may write to the folder must not send our files elsewhere."""
    write_small(stand_in, tmp_path / "b", SMALL)
    (tmp_path / "away").mkdir()
    (tmp_path / "out" / "python").mkdir(parents=True)
    (tmp_path / "out" / "python" / "lib").symlink_to(tmp_path / "away")
    (tmp_path / "out" / "python" / "bin").symlink_to(tmp_path / "away")

    unpack(tmp_path / "b", tmp_path / "out")

    assert list((tmp_path / "away").iterdir()) == []
    assert (tmp_path / "out/python/lib/empty").is_file()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Missing, a folder, a disk that gives errors: each in words."""
    with pytest.raises(NotFound) as missing:
        unpack(tmp_path / "none", tmp_path / "out")
    with pytest.raises(HostLacks) as directory:
        unpack(tmp_path, tmp_path / "out")

    assert missing.value.code == "file-missing"
    assert directory.value.code == "not-readable"


def test_a_full_disk_is_an_error_of_the_system(stand_in: StandIn, tmp_path: Path) -> None:
    """Whoever imports names the folder; here nothing is left under a file's name but whole ones."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    try:
        write_small(stand_in, tmp_path / "b")
        with pytest.raises(OSError, match="No space"):
            unpack(tmp_path / "b", small / "out")
        assert not (small / "out/python/lib/large").exists()
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_the_head_names_all_that_is_inside(stand_in: StandIn, tmp_path: Path) -> None:
    """Two heads are equal when the runtimes are, and the signer is known before anything else."""
    signer = write_small(stand_in, tmp_path / "b", SMALL)
    write_small(stand_in, tmp_path / "same", SMALL)
    write_small(stand_in, tmp_path / "other", {**SMALL, "recipe/more": b"1"})
    heads = []
    for name in ("b", "same", "other"):
        with bundle_read.opened(tmp_path / name) as opened:
            heads.append(opened.head)

    assert heads[0].fingerprint == signer.fingerprint
    assert heads[0].digest == heads[1].digest != heads[2].digest
    with pytest.raises(Damaged):
        unpack(rewritten(tmp_path / "b", tmp_path / "x", {}, b""), tmp_path / "out")
