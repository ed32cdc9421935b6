"""Writes runtimes/interpreters.toml from the table of builds that pbs-installer ships.

    python -m installer.interpreters TABLE

TABLE is the package's wheel, or `versions.json` out of it. For each series and platform the newest
build of python-build-standalone is taken, stripped and with the plain instruction set. An entry
without a sha256 is refused, whatever else it says.
"""

import argparse
import json
import re
import sys
import urllib.parse
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

SERIES = ("3.11", "3.12")
ARCHES = ("x86_64", "aarch64")
MEMBER = "pbs_installer/versions.json"
TARGET = Path(__file__).resolve().parents[1] / "runtimes" / "interpreters.toml"
ROOT = "https://github.com/astral-sh/python-build-standalone/releases/download/"
_FILE = re.compile(
    r"cpython-(?P<version>\d+\.\d+\.\d+)\+(?P<release>\d{8})-(?P<arch>\w+?)-unknown-linux-gnu"
    r"-install_only_stripped\.tar\.gz"
)
_SHA256 = re.compile(r"[0-9a-f]{64}")


def read_table(path: Path) -> list[dict[str, Any]]:
    """Return the table out of a wheel or a plain file."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return json.loads(wheel.read(MEMBER))
    return json.loads(path.read_bytes())


def builds(table: Iterable[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Yield the Linux builds of the table that may stand in a recipe."""
    for entry in table:
        if entry["python_version"].get("freethreaded"):
            continue
        for file in entry["files"]:
            found = _FILE.fullmatch(file["filename"])
            url, sha256 = file.get("url") or "", file.get("sha256") or ""
            if found is None or not _SHA256.fullmatch(sha256):
                continue
            # The address must be the project's own, and that of this very file.
            if url != f"{ROOT}{found['release']}/{urllib.parse.quote(file['filename'])}":
                continue
            yield {**found.groupdict(), "url": url, "sha256": sha256}


def newest(found: Iterable[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    """Return for each series the newest build of each platform, all of one release.

    Raises: LookupError when a series lacks a platform.
    """
    chosen: dict[str, list[dict[str, str]]] = {}
    every = list(found)
    for series in SERIES:
        ours = [one for one in every if one["version"].startswith(f"{series}.")]
        whole = {
            key: arches
            for one in ours
            if len(arches := _of_build(ours, key := (one["version"], one["release"])))
            == len(ARCHES)
        }
        if not whole:
            raise LookupError(f"The table has no build of {series} for {', '.join(ARCHES)}.")
        chosen[series] = whole[max(whole, key=_order)]
    return chosen


def _of_build(ours: list[dict[str, str]], key: tuple[str, str]) -> list[dict[str, str]]:
    same = {one["arch"]: one for one in ours if (one["version"], one["release"]) == key}
    return [same[arch] for arch in ARCHES if arch in same]


def _order(key: tuple[str, str]) -> tuple[int, ...]:
    version, release = key
    return (*(int(part) for part in version.split(".")), int(release))


def text_of(chosen: dict[str, list[dict[str, str]]], source: str) -> str:
    """Return the data file."""
    lines = [
        "# Written by `python -m installer.interpreters`; edited by hand it would be lost.",
        "schema_version = 1",
        f'source = "{source}"',
    ]
    for series, archives in chosen.items():
        for one in archives:
            lines += [
                "",
                f'[[archives."{series}"]]',
                f'platform = "linux-{one["arch"]}"',
                *(f'{key} = "{one[key]}"' for key in ("version", "release", "url", "sha256")),
            ]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    """Write the file; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--target", type=Path, default=TARGET)
    asked = parser.parse_args(argv)
    name = re.sub(r"^(\w+)-([^-]+)-.*\.whl$", r"\1 \2", asked.table.name)
    try:
        chosen = newest(builds(read_table(asked.table)))
    except (OSError, ValueError, LookupError, zipfile.BadZipFile) as error:
        print(f"error: {asked.table}: {error}", file=sys.stderr)
        return 1
    partial = asked.target.with_name(f".{asked.target.name}.partial")
    partial.write_text(text_of(chosen, name), encoding="utf-8")
    partial.replace(asked.target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
