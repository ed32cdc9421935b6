"""The person's editor: theirs first, and never a surprise."""

import asyncio
import sys
import tempfile
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.host import editor


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let files to edit lie below the test's own folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def program(folder: Path, code: str) -> str:
    """Return an editor that runs `code` with the file's path in `path`."""
    script = folder / "my editor.py"
    script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[-1])\n{code}\n")
    return f"{sys.executable} '{script}' --wait"


async def test_the_named_editor_gets_the_text_and_its_change_is_returned(tmp_path: Path) -> None:
    """With its own arguments, and in a file whose name says what it is."""
    changing = "path.write_text(path.read_text(encoding='utf-8') + 'ü', encoding='utf-8')"
    named = program(tmp_path, changing)

    path = await editor.edit("text", "mine.toml", {"EDITOR": "/nothing", "VISUAL": named})

    assert path.name == "mine.toml"
    assert path.read_text(encoding="utf-8") == "textü"


def test_an_editor_that_fails_says_so_and_keeps_the_text(tmp_path: Path, temporary: Path) -> None:
    """`:cq` in vi means: do nothing."""
    with pytest.raises(HostLacks) as caught:
        asyncio.run(editor.edit("text", "a.toml", {"EDITOR": program(tmp_path, "sys.exit(3)")}))

    assert caught.value.code == "editor-failed"
    assert "status 3" in caught.value.message
    (kept,) = temporary.glob("*/a.toml")
    assert kept.read_text(encoding="utf-8") == "text"
    assert str(kept) in (caught.value.hint or "")


@pytest.mark.parametrize("named", ["/nowhere/at/all", "'unclosed"])
def test_an_editor_that_cannot_be_started_is_named(named: str, temporary: Path) -> None:
    """A typing mistake in a profile; nothing stays behind."""
    with pytest.raises(HostLacks) as caught:
        asyncio.run(editor.edit("text", "a.toml", {"EDITOR": named}))

    assert caught.value.code == "editor-missing"
    assert list(temporary.iterdir()) == []


def test_without_a_choice_a_common_one_is_taken(tmp_path: Path) -> None:
    """And without any, the person is told what to do instead."""
    (tmp_path / "nano").write_text("#!/bin/sh\n")
    (tmp_path / "nano").chmod(0o755)

    assert editor.command({"PATH": str(tmp_path)}) == [str(tmp_path / "nano")]
    with pytest.raises(HostLacks) as caught:
        editor.command({"PATH": str(tmp_path / "empty"), "EDITOR": "  "})
    assert "--set" in (caught.value.hint or "")
