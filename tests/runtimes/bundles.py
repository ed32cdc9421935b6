"""A runtime that was exported once, for all tests of a module, and bundles of a few bytes."""

import asyncio
import dataclasses
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

from studio.domain.bundles import Exported, Imported
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import InstalledRuntime
from studio.host import signing
from studio.host.paths import Paths
from studio.host.probe import snapshot
from studio.host.progress import Progress
from studio.runtimes import bundle, bundle_export, bundle_import, bundle_write, carry, folder
from studio.runtimes.bundle import Index, Item
from studio.runtimes.bundle_write import Content
from studio.runtimes.install import install
from studio.runtimes.interpreter import host_platform
from tests.runtimes import damage, standin
from tests.runtimes.standin import StandIn

CARRY_NOTHING = """
from studio.runtimes import carry
async def nothing(recipe, paths, root):
    return {}
carry.carried = nothing
"""
"""For a child process, as `made` does it here: the stand-in's interpreter counts as whole."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Made:
    """An installed stand-in and what its export wrote."""

    stand_in: StandIn
    record: InstalledRuntime
    exported: Exported

    @property
    def file(self) -> Path:
        """Return the bundle."""
        return Path(self.exported.path)

    def home(self, home: Path, *, trusts: bool = True) -> StandIn:
        """Return another home with the same catalogue, and nothing that it could fetch."""
        there = self.stand_in.elsewhere(home)
        if trusts:
            bundle_import.signers.trust(there.paths, self.exported.fingerprint, "the other desk")
        return there


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Install the stand-in on an interpreter of an archive, and export it.

    That archive's program finds its library on this machine, which no bundle could take along in
    a few kilobytes; so nothing is taken along (tests/runtimes/test_carry.py is about that).
    """
    place = tmp_path_factory.mktemp("exported")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "WEIR_"))]:
            patch.delenv(name)

        async def nothing(*_arguments: object) -> dict[str, Content]:
            return {}

        patch.setattr(carry, "carried", nothing)
        patch.setenv("PIP_CONFIG_FILE", os.devnull)
        patch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
        patch.setenv("UV_HTTP_RETRIES", "0")
        stand_in = with_archive(place, patch)
        record = asyncio.run(install(stand_in.recipe, stand_in.paths, lambda _report: None))
        exported = asyncio.run(export(stand_in, place))
        patch.delenv("PIP_FIND_LINKS")
        yield Made(stand_in=stand_in, record=record, exported=exported)


def with_archive(place: Path, patch: pytest.MonkeyPatch) -> StandIn:
    """Return a stand-in with a command, whose interpreter comes as an archive."""
    stand_in = standin.make(place)
    damage.add_script(stand_in)
    name = "cpython+1-linux-install_only.tar.gz"
    sha256 = standin.make_interpreter_archive(place / name)
    table = standin.archive_table(f"https://weir.invalid/20990101/{name}", sha256)
    stand_in.recipe_file.write_text(standin.recipe_text(table), "utf-8")
    patch.setenv("PIP_FIND_LINKS", stand_in.wheels.as_uri())
    patch.setenv("WEIR_PYTHON_MIRROR", str(place))
    return stand_in


async def export(stand_in: StandIn, to: Path, key: Path | None = None) -> Exported:
    """Export a stand-in."""
    return await bundle_export.export(
        stand_in.recipe, stand_in.paths, stand_in.reports.append, to=to, key=key, glibc="2.17"
    )


async def take(there: StandIn, file: Path, trust: str | None = None) -> Imported:
    """Import a file into another home, as the service does."""
    head = await bundle_import.read_head(file, there.paths, trust)
    bundle_import.require_fit(head, host(there.paths))
    return await bundle_import.install(file, head, there.recipe, there.paths, there.reports.append)


def host(paths: Paths) -> HostSnapshot:
    """Return this machine, seen from a home that need not exist."""
    paths.home.mkdir(parents=True, exist_ok=True)
    return snapshot(paths.home)


def tree(root: Path) -> dict[str, object]:
    """Return what a folder holds: links by their target, files by content, mode and time."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file():
            stat = path.stat()
            found[name] = (path.read_bytes(), stat.st_mode & 0o777, stat.st_mtime_ns)
    return found


RECORD = InstalledRuntime(
    name=standin.NAME,
    runtime_id="ab" * 32,
    python=folder.PYTHON,
    interpreter="CPython",
    interpreter_build="build",
    lock_digest="00",
    installed_at="2026-01-01T00:00:00+00:00",
)
FILES: Mapping[str, bytes] = {
    "runtime/python/bin/python3": b"#!/bin/sh\n",
    "runtime/python/lib/empty": b"",
    "runtime/python/lib/large": os.urandom(9_000_000),
    "runtime/python/lib/ünï cöde": b"x" * 513,
    f"runtime/python/lib/{'long' * 40}/{'name' * 40}": b"deep",
    "recipe/runtime.toml": b"name = 1\n",
}


def item(path: str, data: bytes = b"", *, link: str | None = None, mode: int = 0o644) -> Item:
    """Return what an index says of a file, or of a link."""
    digest = b"" if link is not None else hashlib.sha256(data).digest()
    return Item(path, mode, len(data), 1_700_000_000_123_456_789, digest, link)


def index_of(stand_in: StandIn, items: tuple[Item, ...]) -> Index:
    """Return an index of made-up content."""
    return Index(
        platform=host_platform(),
        root="/nowhere/runtimes/tiny/abababababab",
        record=RECORD,
        recipe=stand_in.recipe,
        items=items,
    )


def write_small(
    stand_in: StandIn, target: Path, files: Mapping[str, bytes] = FILES, *more: Item
) -> signing.Signer:
    """Write a bundle of made-up files; what is wrong with `more` is nobody's business here."""
    signer, _is_new = signing.own(stand_in.paths.signing / "key")
    items = bundle.ordered((*(item(path, data) for path, data in files.items()), *more))
    index = index_of(stand_in, items)
    members = {path: Content(target.parent, data) for path, data in files.items()}
    bundle_write.write(target, index, members, signer, Progress())
    return signer


def changed(index: Index, **values: object) -> Index:
    """Return an index with other values."""
    return msgspec.structs.replace(index, **values)
