"""New files as a patch: what the engine makes of it is byte for byte what was given."""

from pathlib import Path

import pytest

from studio.runtimes.patching.apply import apply, preview
from studio.runtimes.patching.model import HunkResult
from studio.runtimes.patching.parse import parse_series
from studio.runtimes.upstream.copies import as_patch
from studio.runtimes.upstream.objects import File

FILES = {
    "v1/plain.py": File(data=b"X = 1\nY = 2\n"),
    "v1/one_line.py": File(data=b"X = 1\n"),
    "v1/no_end.py": File(data=b"X = 1\nY = 2"),
    "v1/dos.py": File(data=b"X = 1\r\nY = 2\r\n"),
    "v1/empty.py": File(data=b""),
    "v1/blank.py": File(data=b"\n"),
    "v1/tool.sh": File(data=b"#!/bin/sh\n", is_executable=True),
    "v1/looks like a diff.py": File(data=b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
    "v1/k\u00fcche.py": File(data="k = 'ü'\n".encode()),
    'v1/quo"tes\\d.py': File(data=b"x\n"),
    "v1/bytes.bin.py": File(data=b"\x01\xff\xfe\n\x80"),
}


@pytest.mark.parametrize("strip", [1, 2])
def test_every_file_arrives_byte_for_byte(tmp_path: Path, strip: int) -> None:
    """Kernels and tables of a series lie in such files."""
    tree = tmp_path / "tree"
    tree.mkdir()
    series = parse_series([("new files", as_patch(FILES, strip=strip))])

    apply(series, tree, journal=tmp_path / "journal.json", strip=strip)

    for name, file in FILES.items():
        assert (tree / name).read_bytes() == file.data, name
        assert bool((tree / name).stat().st_mode & 0o100) == file.is_executable
    plan = preview(series, tree, strip)
    assert {hunk.result for hunk in plan.hunks} == {HunkResult.ALREADY}, plan


def test_a_file_that_is_there_and_differs_is_never_overwritten(tmp_path: Path) -> None:
    """A release may bring a file of that name: then somebody has to look."""
    tree = tmp_path / "tree"
    (tree / "v1").mkdir(parents=True)
    (tree / "v1" / "plain.py").write_bytes(b"X = 0\n")
    series = parse_series([("new files", as_patch({"v1/plain.py": FILES["v1/plain.py"]}))])

    plan = preview(series, tree, 1)

    assert any(hunk.result is HunkResult.REJECTED for hunk in plan.hunks)
