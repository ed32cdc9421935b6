"""What happens to files of a runtime on people's machines, done on purpose."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.runtimes import standin
from tests.runtimes.standin import StandIn

SITE = f"python/lib/python{standin.SERIES}/site-packages"
SCRIPT = "python/bin/weirscript"


def add_script(stand_in: StandIn) -> None:
    """Add a package with a command and a data file to the lock, before it is installed."""
    line = standin.make_wheel(
        stand_in.wheels,
        "weirscript",
        {
            "weirscript/__init__.py": b"def main():\n    print('said')\n",
            "weirscript-1.0.dist-info/entry_points.txt": b"[console_scripts]\n"
            b"weirscript = weirscript:main\n",
            "weirscript-1.0.data/data/share/weirscript.txt": b"shared\n",
        },
    )
    lock = stand_in.recipe_file.parent / "requirements.lock"
    lock.write_text(lock.read_text() + line + "\n")


def _rewrite(path: Path, content: bytes) -> None:
    """Put another file in the place of one, as a careful program does."""
    fresh = path.with_name("fresh")
    fresh.write_bytes(content)
    shutil.copymode(path, fresh)
    fresh.replace(path)


def _deleted(root: Path) -> None:
    (root / SITE / "weirtiny/part3.py").unlink()


def _truncated(root: Path) -> None:
    os.truncate(root / SITE / "weirother/data.bin", 100)  # in the cache as well: one file


def _edited_in_place(root: Path) -> None:
    with (root / SITE / "weirtiny/part4.py").open("r+b") as file:
        file.write(b"Y")


def _edited_by_an_editor(root: Path) -> None:
    _rewrite(root / SITE / "weirtiny/part5.py", b"X = 6\n")


def _package_removed(root: Path) -> None:
    shutil.rmtree(root / SITE / "weirtiny")


def _metadata_removed(root: Path) -> None:
    shutil.rmtree(root / SITE / "weirother-1.0.dist-info")


def _alias_removed(root: Path) -> None:
    shutil.rmtree(root / SITE / "tiny_alias-1.0+cpu.dist-info")


def _patched_file_undone(root: Path) -> None:
    _rewrite(root / SITE / "weirtiny/part7.py", b"X = 7\n")


def _added_file_removed(root: Path) -> None:
    (root / SITE / "weirtiny/added/__init__.py").unlink()


def _made_executable(root: Path) -> None:
    (root / SITE / "weirtiny/part8.py").chmod(0o755)


def _script_not_executable(root: Path) -> None:
    (root / SCRIPT).chmod(0o644)


def _script_changed(root: Path) -> None:
    _rewrite(root / SCRIPT, b"#!/bin/sh\necho stolen\n")


def _data_removed(root: Path) -> None:
    shutil.rmtree(root / "python/share")


def _interpreter_removed(root: Path) -> None:
    shutil.rmtree(root / "python/bin")


def _settings_emptied(root: Path) -> None:
    _rewrite(root / "python/pyvenv.cfg", b"")


def _file_for_folder(root: Path) -> None:
    shutil.rmtree(root / SITE / "weirother")
    (root / SITE / "weirother").write_text("in the way")


def _folder_for_file(root: Path) -> None:
    (root / SITE / "weirtiny/part9.py").unlink()
    (root / SITE / "weirtiny/part9.py").mkdir()


def _link_for_folder(root: Path) -> None:
    away = root.parent.parent.parent.parent / "away"
    shutil.rmtree(away, ignore_errors=True)
    shutil.move(root / SITE / "weirtiny", away)
    (root / SITE / "weirtiny").symlink_to(away)


def _stranger(root: Path) -> None:
    (root / SITE / "usercustomize.py").write_text("raise SystemExit\n")
    (root / SITE / "weirtiny" / "part1 (conflicted copy).py").write_text("X = 1\n")


def _everything_removed(root: Path) -> None:
    shutil.rmtree(root / "python")


DAMAGES: dict[str, Callable[[Path], None]] = {
    harm.__name__.strip("_").replace("_", " "): harm
    for harm in (
        _deleted,
        _truncated,
        _edited_in_place,
        _edited_by_an_editor,
        _package_removed,
        _metadata_removed,
        _alias_removed,
        _patched_file_undone,
        _added_file_removed,
        _made_executable,
        _script_not_executable,
        _script_changed,
        _data_removed,
        _interpreter_removed,
        _settings_emptied,
        _file_for_folder,
        _folder_for_file,
        _link_for_folder,
        _stranger,
        _everything_removed,
    )
}
"""By name; each is done to the folder of an installed runtime."""
