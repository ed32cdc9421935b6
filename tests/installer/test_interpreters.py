"""The table of interpreters: made from a list of builds, and never from an entry without a hash."""

import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from installer import interpreters

HASH = "ab" * 32


def entry(version: str, release: str, arch: str, **changes: Any) -> dict[str, Any]:
    """Return a version with one file, as the table has it."""
    name = f"cpython-{version}+{release}-{arch}-unknown-linux-gnu-install_only_stripped.tar.gz"
    major, minor, micro = version.split(".")
    file = {
        "filename": name,
        "url": f"{interpreters.ROOT}{release}/{name.replace('+', '%2B')}",
        "sha256": HASH,
        **changes,
    }
    return {"python_version": {"major": major, "minor": minor, "micro": micro}, "files": [file]}


def whole(version: str, release: str) -> list[dict[str, Any]]:
    """Return a version on both platforms."""
    return [entry(version, release, arch) for arch in interpreters.ARCHES]


TABLE = [*whole("3.11.9", "20250101"), *whole("3.12.10", "20250101")]


def test_the_newest_build_of_each_series_is_taken() -> None:
    """3.11.10 is newer than 3.11.9, although it is not greater as a text."""
    table = [*TABLE, *whole("3.11.10", "20250101"), *whole("3.11.10", "20250303")]

    chosen = interpreters.newest(interpreters.builds(table))

    assert [(one["version"], one["release"]) for one in chosen["3.11"]] == [
        ("3.11.10", "20250303")
    ] * 2
    assert [one["arch"] for one in chosen["3.12"]] == list(interpreters.ARCHES)


@pytest.mark.parametrize(
    "changes",
    [
        {"sha256": None},
        {"sha256": ""},
        {"sha256": "AB" * 32},
        {"sha256": "ab" * 31},
        {"url": None},
        {"url": "https://example.org/python.tar.gz"},
        {"url": f"{interpreters.ROOT}20990101/cpython.tar.gz"},
        {"filename": "cpython-3.11.99+20990101-x86_64_v3-unknown-linux-gnu-install_only.tar.gz"},
        {"filename": "cpython-3.11.99+20990101-x86_64-unknown-linux-musl-install_only.tar.gz"},
    ],
    ids=str,
)
def test_an_entry_that_cannot_be_trusted_is_refused(changes: dict[str, Any]) -> None:
    """A newer build without a hash must not be taken, and must not hide the older one."""
    doubtful = [entry("3.11.99", "20990101", arch, **changes) for arch in interpreters.ARCHES]

    chosen = interpreters.newest(interpreters.builds([*TABLE, *doubtful]))

    assert {one["version"] for one in chosen["3.11"]} == {"3.11.9"}


def test_a_build_that_one_platform_lacks_is_passed_over() -> None:
    """All platforms of a recipe stand on the same interpreter."""
    table = [*TABLE, entry("3.12.11", "20260101", "x86_64")]

    chosen = interpreters.newest(interpreters.builds(table))

    assert {one["version"] for one in chosen["3.12"]} == {"3.12.10"}


def test_free_threaded_builds_are_not_taken() -> None:
    """No engine wheel is made for them."""
    table = whole("3.11.99", "20990101")
    for one in table:
        one["python_version"]["freethreaded"] = True

    assert list(interpreters.builds(table)) == []


def test_the_file_is_written_from_the_wheel_itself(tmp_path: Path) -> None:
    """One command, and the same bytes each time."""
    wheel, target = tmp_path / "pbs_installer-2026.1.2-py3-none-any.whl", tmp_path / "out.toml"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(interpreters.MEMBER, json.dumps(TABLE))

    assert interpreters.main([str(wheel), "--target", str(target)]) == 0
    first = target.read_bytes()
    assert interpreters.main([str(wheel), "--target", str(target)]) == 0

    assert target.read_bytes() == first
    data = tomllib.loads(first.decode())
    assert data["source"] == "pbs_installer 2026.1.2"
    assert {one["platform"] for one in data["archives"]["3.12"]} == {
        "linux-x86_64",
        "linux-aarch64",
    }
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("content", [b"", b"[]", b"{"])
def test_a_table_that_is_none_leaves_the_old_file(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a table would take interpreters away."""
    table, target = tmp_path / "versions.json", tmp_path / "out.toml"
    table.write_bytes(content)
    target.write_text("old")

    assert interpreters.main([str(table), "--target", str(target)]) == 1

    assert target.read_text() == "old"
    assert "error:" in capsys.readouterr().err
