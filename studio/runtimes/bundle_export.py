"""An installed runtime as one signed file for machines without a network.

Nothing that is damaged leaves the house: every file is compared with the list first. While it is
packed each is read again, and what has changed since ends the export.
"""

import asyncio
import contextlib
import functools
import os
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from studio.domain.bundles import Exported
from studio.domain.errors import BadInput, Busy, Damaged, NotFound, StudioError
from studio.domain.events import Stage
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.domain.units import bytes_text
from studio.host import signing
from studio.host.files import exclusive, from_copy_error
from studio.host.meter import Meter, Report
from studio.host.paths import Paths
from studio.host.progress import Progress, followed
from studio.host.threads import in_thread
from studio.runtimes import bundle, bundle_part, bundle_write, carry, moved, signers, survey, verify
from studio.runtimes import folder as folders
from studio.runtimes import manifest as manifests
from studio.runtimes.bundle_write import Content
from studio.runtimes.catalog import recipe_folder
from studio.runtimes.interpreter import host_platform
from studio.runtimes.manifest import LINK, LISTING, NOTE, PLACED, Manifest
from studio.runtimes.verify import Examination
from studio.runtimes.versions import INSTALL_LOCK

_ID_SHOWN = 12
_SHOWN_DIFFERENCES = 10


async def export(
    recipe: RuntimeRecipe,
    paths: Paths,
    report: Report,
    *,
    to: Path,
    key: Path | None = None,
    glibc: str | None = None,
) -> Exported:
    """Write the present installation of `recipe` into the new file `to`, or into that folder.

    `glibc` is this machine's, which decides where what is taken along of it runs.

    Raises: NotFound (`runtime-not-installed`), BadInput (`file-exists`), Busy (`install-running`,
    `export-running`), Damaged (`runtime-damaged`, `runtime-changed`, `signing-key-invalid`),
    HostLacks (`interpreter-not-portable`, `disk-full`, `not-writable`, `not-readable`).
    """
    began = time.perf_counter()
    record = folders.current(paths, recipe.name)
    if record is None:
        raise NotFound(
            "runtime-not-installed",
            f"{recipe.title} is not installed, so there is nothing to export.",
            hint=f"`weir runtime install {recipe.name}` does that.",
        )
    target = _target(to, record)
    meter = Meter(Stage.RUNTIME, f"Exporting {recipe.title}", report)
    try:
        home = folders.named_folder(paths, recipe.name)
        with exclusive(home / INSTALL_LOCK) as is_ours:
            if not is_ours:
                raise _busy(recipe)
            with bundle_part.noted(home, target):
                signer, is_new = await in_thread(functools.partial(_signer, paths, key))
                made = _Export(recipe, paths, record, meter, glibc)
                index, written = await made.run(target, signer)
    except StudioError as error:
        meter.fail(error.message)
        raise
    except OSError as error:
        failure = from_copy_error(error, target, folders.folder_of(paths, record))
        meter.fail(failure.message)
        raise failure from error
    meter.finish(f"{bytes_text(written.file_bytes)} in {target}")
    return Exported(
        runtime=record.name,
        runtime_id=record.runtime_id,
        path=str(target),
        files=len(index.items),
        bytes=index.bytes,
        file_bytes=written.file_bytes,
        sha256=written.sha256,
        fingerprint=signer.fingerprint,
        public_key=signer.public_key.hex(),
        is_new_key=is_new,
        seconds=time.perf_counter() - began,
    )


def _target(to: Path, record: InstalledRuntime) -> Path:
    if not to.is_absolute():
        raise BadInput(
            "path-relative",
            f"`{to}` is no absolute path, and the service stands in another folder than you.",
            hint="Give the whole path.",
        )
    if to.is_dir():
        to = to / f"{record.name}-{record.runtime_id[:_ID_SHOWN]}{bundle.SUFFIX}"
    bundle_write.refuse_existing(to)
    if not to.parent.is_dir():
        raise NotFound("folder-missing", f"There is no folder {to.parent}.", hint="Make it first.")
    return to


def _signer(paths: Paths, key: Path | None) -> tuple[signing.Signer, bool]:
    if key is not None:
        return signing.load(key), False
    return signing.own(signers.key_file(paths))


class _Export:
    """One runtime on its way into a file."""

    def __init__(
        self,
        recipe: RuntimeRecipe,
        paths: Paths,
        record: InstalledRuntime,
        meter: Meter,
        glibc: str | None,
    ) -> None:
        self._recipe = recipe
        self._paths = paths
        self._record = record
        self._meter = meter
        self._glibc = glibc
        self._root = folders.folder_of(paths, record)

    async def run(
        self, target: Path, signer: signing.Signer
    ) -> tuple[bundle.Index, bundle_write.Written]:
        """Look at everything, then write it."""
        with contextlib.suppress(Damaged):  # said by what follows
            await in_thread(functools.partial(moved.put_right, self._root))
        manifest = await self._manifest()
        found = await verify.examine_reporting(self._root, manifest, self._meter)
        if found.findings:
            raise self._damaged([finding.path for finding in found.findings])
        self._meter.begin("Looking at what it stands on")
        along = await carry.carried(self._recipe, self._paths, self._root)
        members = await in_thread(functools.partial(self._members, manifest, found, along))
        index = await in_thread(functools.partial(self._index, members, along))
        self._meter.begin("Packing", total=index.bytes, unit="bytes")
        return index, await self._pack(target, index, members, signer)

    async def _pack(
        self,
        target: Path,
        index: bundle.Index,
        members: Mapping[str, Content],
        signer: signing.Signer,
    ) -> bundle_write.Written:
        """Write the file; none is there when this was cancelled, however late."""
        is_whole = False

        def work(progress: Progress) -> bundle_write.Written:
            nonlocal is_whole
            done = bundle_write.write(target, index, members, signer, progress)
            is_whole = True
            return done

        try:
            return await followed(work, self._meter.reach)
        except asyncio.CancelledError:
            if is_whole:
                await in_thread(functools.partial(target.unlink, missing_ok=True))
            raise

    async def _manifest(self) -> Manifest:
        try:
            manifest = await in_thread(functools.partial(manifests.read, self._root))
        except Damaged:
            manifest = None
        if manifest is None:
            raise self._damaged([manifests.MANIFEST_FILE])
        return manifest

    def _damaged(self, names: list[str]) -> Damaged:
        return Damaged(
            "runtime-damaged",
            f"{self._recipe.title} is not as it was installed, so it is not exported: "
            f"{len(names)} {'file differs' if len(names) == 1 else 'files differ'}.",
            hint=f"`weir runtime repair {self._recipe.name}` restores it.",
            evidence=tuple(names[:_SHOWN_DIFFERENCES]),
        )

    def _members(
        self, manifest: Manifest, found: Examination, along: Mapping[str, Content]
    ) -> dict[str, Content]:
        """Return everything that goes in, by its path in the bundle."""
        renewed = {entry.path for entry in found.bytecode}
        known = {
            entry.path: entry.digest
            for entry in manifest.entries
            if not entry.flags & (LINK | PLACED | LISTING | NOTE) and entry.path not in renewed
        }
        inside = {
            path: Content(self._root / path, sha256=known.get(path))
            for path in survey.walk(self._root, with_sizes=False)
        }
        inside |= {name: Content(self._root / name) for name in _records(self._root)}
        inside |= along
        recipe = recipe_folder(self._paths, self._recipe.name)
        beside = {
            place.relative_to(recipe).as_posix(): Content(place.resolve())
            for place in recipe.rglob("*")
            if place.is_file() and not place.name.startswith(".")
        }
        return {bundle.RUNTIME + path: content for path, content in inside.items()} | {
            bundle.RECIPE + path: content for path, content in beside.items()
        }

    def _index(self, members: Mapping[str, Content], along: Mapping[str, Content]) -> bundle.Index:
        led = {
            bundle.RUNTIME + path: link
            for path, link in carry.links(self._root, dict(along)).items()
        }
        items = tuple(
            msgspec.structs.replace(item, link=led[item.path]) if item.path in led else item
            for item in bundle_write.listed(members)
        )
        index = bundle.Index(
            platform=host_platform(),
            glibc=self._glibc if along else self._recipe.needs.min_glibc,
            root=str(self._root),
            record=self._record,
            recipe=self._recipe,
            items=items,
        )
        bundle.require_sound(index, self._recipe.title)
        return index


def _records(root: Path) -> list[str]:
    """Return the records of a runtime folder; its own one travels in the index."""
    with os.scandir(root) as found:
        names = [item.name for item in found if item.is_file(follow_symlinks=False)]
    own = (folders.RECORD_FILE, bundle.ORIGIN_FILE)
    return [name for name in names if name not in own and not name.startswith(".")]


def _busy(recipe: RuntimeRecipe) -> Busy:
    return Busy(
        "install-running",
        f"{recipe.title} is being installed, repaired, exported or imported by another process of "
        "the Studio.",
        hint="Wait until that is done, then run it again.",
    )
