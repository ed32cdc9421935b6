"""Whether a window that nobody sees paints."""

from pathlib import Path

from studio.app import window_proof

SMOKE = '#!/bin/sh\n[ "$1 $2" = "ui --smoke" ] && [ "$QT_QPA_PLATFORM" = offscreen ] || exit 1\n'


def program(folder: Path, name: str, more: str) -> Path:
    """Return a program whose window does something."""
    made = folder / name
    made.write_text(SMOKE + more, encoding="utf-8")
    made.chmod(0o755)
    return made


async def test_a_window_that_paints_its_pages_is_good(tmp_path: Path) -> None:
    """Read from its words and its exit status: a broken binding says all is well and aborts."""
    good = program(tmp_path, "good", 'echo \'{"first_paint_s": 0.4, "pages": ["serve"]}\'\n')
    aborts = program(tmp_path, "aborts", 'echo \'{"pages": ["serve"]}\'; kill -ABRT $$\n')
    silent = program(tmp_path, "silent", "echo started\n")

    assert await window_proof.shortcoming(good, None) is None
    assert "status" in str(await window_proof.shortcoming(aborts, good))
    assert "no page" in str(await window_proof.shortcoming(silent, good))
    assert "does not start" in str(await window_proof.shortcoming(tmp_path / "none", good))


async def test_what_the_old_window_cannot_either_is_the_machines_fault(tmp_path: Path) -> None:
    """Libraries may be missing here: no version is to blame."""
    aborts = program(tmp_path, "aborts", "exit 3\n")

    assert await window_proof.shortcoming(aborts, aborts) is None
