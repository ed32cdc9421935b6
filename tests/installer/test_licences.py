"""What a build says of Debian's libraries in it, by a stand-in of dpkg."""

import os
from pathlib import Path

import pytest

from installer import licences

DPKG = """\
#!/bin/sh
[ "$1" = -S ] && echo "base-files:amd64: /usr/lib/libweir-trial.so.1"
"""
QUERY = "#!/bin/sh\nprintf %s {version}\n"
"""A package that every Debian has, so that its copyright file lies there."""


def written(folder: Path, name: str, text: str) -> None:
    """Put a program into a folder."""
    (folder / name).write_text(text, encoding="utf-8")
    (folder / name).chmod(0o755)


def test_what_is_installed_while_a_build_runs_changes_none_of_its_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Licences are collected at its beginning, the manifest is written minutes later."""
    frozen, programs = tmp_path / "frozen", tmp_path / "programs"
    (frozen / "_internal").mkdir(parents=True)
    (frozen / "_internal/libweir-trial.so.1").write_bytes(b"library")
    programs.mkdir()
    written(programs, "dpkg", DPKG)
    written(programs, "dpkg-query", QUERY.format(version="1.0"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")

    first = [(name, version) for name, version, _ in licences.system_packages(frozen)]
    written(programs, "dpkg-query", QUERY.format(version="2.0"))
    then = [(name, version) for name, version, _ in licences.system_packages(frozen)]

    assert first == [("base-files", "1.0")]
    assert then == first
