"""The gzip stream of independent blocks: any gzip reads it, and no other byte passes for one."""

import gzip
import io
import os
import random

import pytest

from studio.host.blocks import BLOCK_BYTES, BlockReader, BlocksDamaged, BlockWriter

DATA = b"".join(
    (os.urandom(BLOCK_BYTES + 7), bytes(2 * BLOCK_BYTES), b"weir" * 100_000, os.urandom(99))
)


def packed(data: bytes = DATA, *, piece: int = 1_234_567) -> bytes:
    """Return the stream that holds `data`, written in pieces."""
    out = io.BytesIO()
    with BlockWriter(out) as writer:
        for at in range(0, len(data), piece):
            writer.write(data[at : at + piece])
    return out.getvalue()


def unpacked(stream: bytes, count: int = len(DATA)) -> bytes:
    """Return `count` bytes of a stream that must end after them."""
    with BlockReader(io.BytesIO(stream)) as reader:
        data = reader.exactly(count)
        reader.finish()
    return data


def test_what_was_written_is_read_and_any_gzip_reads_it() -> None:
    """A person without the Studio can still look inside."""
    stream = packed()

    assert unpacked(stream) == DATA
    assert gzip.decompress(stream) == DATA


def test_equal_content_gives_equal_streams_however_it_is_written() -> None:
    """Two exports of one runtime can be compared by their sha256."""
    assert packed(piece=11_111_111) == packed(piece=100_003)


def test_nothing_is_a_stream_too() -> None:
    """No block at all, and its end is the end."""
    assert packed(b"") == b""
    assert unpacked(b"", 0) == b""


def test_a_changed_byte_is_noticed_wherever_it_is() -> None:
    """In a header, in the packed bytes, in the checksum; seeded, so that a failure repeats."""
    stream = packed(DATA[-500_000:])
    places = [*range(30), *random.Random(20261129).sample(range(len(stream)), 300)]
    places += range(len(stream) - 12, len(stream))
    for place in places:
        broken = bytearray(stream)
        broken[place] ^= 0xFF
        with pytest.raises(BlocksDamaged):
            unpacked(bytes(broken), 500_000)


@pytest.mark.parametrize("left", [0, 1, 19, 20, 21, 200, -1, -9])
def test_a_stream_that_was_cut_off_is_noticed(left: int) -> None:
    """A stick that was pulled out."""
    stream = packed(DATA[-500_000:])

    with pytest.raises(BlocksDamaged):
        unpacked(stream[:left], 500_000)


@pytest.mark.parametrize("junk", [b"\0", b"junk" * 100, packed(b"more")], ids=["a", "b", "c"])
def test_what_follows_is_not_passed_over(junk: bytes) -> None:
    """Also not a whole block that nobody expects."""
    with pytest.raises(BlocksDamaged):
        unpacked(packed() + junk)


def test_a_bomb_is_not_unpacked() -> None:
    """One block never becomes more than a block, whatever its packed bytes say."""
    (stream,) = {packed(bytes(BLOCK_BYTES))}
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    large = packer.compress(bytes(512 << 20)) + packer.flush()
    bomb = stream[:16] + (28 + len(large)).to_bytes(4, "little") + large + bytes(8)

    with pytest.raises(BlocksDamaged, match="not whole"):
        unpacked(bomb, 1)


def test_a_disk_that_fills_up_ends_the_writing() -> None:
    """And leaves no thread behind that goes on packing."""

    class Full:
        def write(self, _data: bytes, /) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"), BlockWriter(Full()) as writer:
        writer.write(DATA * 50)
