"""The scripts beside the code, and how they are run."""

import sys
from pathlib import Path

import pytest

from studio.domain.errors import NotFound
from studio.host.paths import Paths, bundled_root
from studio.host.tools import run_tool, tool_file


def test_a_catalogues_own_tool_wins(tmp_path: Path) -> None:
    """People who write a runtime bring its tools along; the bundled ones stay within reach."""
    paths = Paths(home=tmp_path / "home", catalogue=tmp_path)
    own = tmp_path / "runtimes" / "tools" / "mine.py"
    own.parent.mkdir(parents=True)
    own.write_text("")

    assert tool_file(paths, "mine.py") == own
    assert tool_file(paths, "probe.py") == bundled_root() / "runtimes" / "tools" / "probe.py"
    with pytest.raises(NotFound, match=r"none\.py"):
        tool_file(paths, "none.py")


async def test_a_tool_sees_nothing_of_the_persons_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PYTHONPATH or a file called json.py beside the person's work must not get in."""
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "sub" / "tool.py"
    script.parent.mkdir()
    script.write_text("import json, sys; print(json.dumps(sys.argv[1:], ensure_ascii=False))")

    result = await run_tool(Path(sys.executable), script, ["ä b"], timeout_s=30)

    assert (result.exit_code, result.tail) == (0, ('["ä b"]',))
