"""Files that name their folder, and the form of them that does not."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from studio.runtimes import relocate
from studio.runtimes.folder import PYTHON

PLACES = (Path("/srv/weir"), Path("/srv/my höme"), Path("/srv") / ("deep" * 40), Path("/srv/o'er"))


def _script(root: Path) -> bytes:
    return relocate.placed(b"#!{runtime}\nimport sys\nprint('{runtime}/x', sys.argv[1])\n", root)


@pytest.mark.parametrize("old", PLACES)
@pytest.mark.parametrize("new", PLACES)
def test_a_script_moves_from_any_place_to_any_other(old: Path, new: Path) -> None:
    """Blanks and long names need another first line, so the text alone cannot be replaced."""
    form = relocate.general(_script(old), old)

    assert form is not None
    assert relocate.placed(form, new) == _script(new)


@pytest.mark.parametrize("name", ["plain", "with blank", "d" * 150])
def test_a_placed_script_runs(tmp_path: Path, name: str) -> None:
    """The first lines are for the kernel and the shell, which have the last word."""
    root = tmp_path / name
    (root / PYTHON).parent.mkdir(parents=True)
    (root / PYTHON).symlink_to(sys.executable)
    script = root / "script"
    script.write_bytes(_script(root))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)

    done = subprocess.run([script, "a b"], capture_output=True, text=True, check=True)

    assert done.stdout == f"{root}/x a b\n"


def test_a_quote_in_the_folder_s_name_does_not_hide_it() -> None:
    """The shell's first line spells it in another way, so the folder as it is stands nowhere."""
    place = Path("/srv/o'er the weir")
    script = relocate.placed(b"#!{runtime}\nprint()\n", place)
    assert b"/srv/o'er the weir/" not in script

    assert relocate.general(script, place) == b"#!{runtime}\nprint()\n"


def test_what_does_not_name_its_folder_has_no_other_form() -> None:
    """It is compared byte for byte."""
    assert relocate.general(b"#!/bin/sh\necho\n", PLACES[0]) is None
    assert relocate.general(b"\0" * (1 << 20) + b"/srv/weir", PLACES[0]) is None


def test_only_scripts_and_settings_may_name_their_folder() -> None:
    """A library that holds the path by chance is a library that was changed."""
    assert relocate.may_name_its_folder("python/bin/vllm")
    assert relocate.may_name_its_folder("python/pyvenv.cfg")
    assert not relocate.may_name_its_folder("python/bin/sub/file")
    assert not relocate.may_name_its_folder("python/lib/x.py")


def test_a_listing_forgets_only_digests_that_differ_from_place_to_place() -> None:
    """All other rows stand as they are."""
    listing = (
        b"../../../bin/vllm,sha256=aaa,10\n"
        b"vllm/__init__.py,sha256=bbb,20\n"
        b"vllm-1.dist-info/uv_cache.json,sha256=ccc,30\n"
        b"vllm-1.dist-info/RECORD,,\n"
    )

    assert relocate.listing(listing) == (
        b"../../../bin/vllm,,\n"
        b"vllm/__init__.py,sha256=bbb,20\n"
        b"vllm-1.dist-info/uv_cache.json,,\n"
        b"vllm-1.dist-info/RECORD,,\n"
    )
    assert relocate.is_listing("python/lib/python3.11/site-packages/a-1.dist-info/RECORD")
