"""A preset's model from published files to a folder that the engine serves, step by step.

Everything happens beside the final folder, which appears in one rename, its proof written before.
One process at a time; a kill at any instant leaves what was there, and the steps that were done.
"""

import asyncio
import contextlib
import dataclasses
import functools
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import Damaged, StudioError
from studio.domain.events import Stage
from studio.domain.manifests import InstalledModel, ModelSpec
from studio.domain.preparing import PreparationStep
from studio.domain.proofs import ModelState, ProofRecord, ProvenFile
from studio.domain.units import bytes_text
from studio.host.documents import write_json
from studio.host.files import (
    exclusive,
    from_os_error,
    require_space,
    sha256_bytes,
)
from studio.host.meter import Meter, Report
from studio.host.paths import Paths
from studio.host.sharing import Way
from studio.host.threads import in_thread
from studio.models import assemble, library, proof, steps, weight_map
from studio.models.assemble import Held, Layer, LayerFile
from studio.models.journal import Journal
from studio.models.keys import source_key
from studio.models.step_run import ScriptOf, StepRun

_LOOK_S = 0.2
_SAVE_BYTES = 64 << 20
"""After so many bytes it is written down which files are here; what came since is redone."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """One model, and what it is made of."""

    spec: ModelSpec
    layers: tuple[Layer, ...]
    paths: Paths
    python: Path | None
    """The interpreter of the preset's runtime; None: none is installed."""
    script_of: ScriptOf


async def prepare(one: Preparation, report: Report) -> Path:
    """Return the folder of a prepared model; does what is not done yet.

    A second caller waits for the first, whichever process that is.

    Raises: what `StepRun.run` raises; Damaged (`model-weights`, `model-incomplete`), HostLacks
    (`disk-space`, `disk-full`, `not-writable`).
    """
    meter = Meter(Stage.MODEL, one.spec.title, report)
    try:
        folder = await _alone(one, meter)
    except StudioError as error:
        meter.fail(error.message)
        raise
    except OSError as error:
        place = Path(error.filename) if isinstance(error.filename, str) else one.paths.models
        failure = from_os_error(error, place)
        meter.fail(failure.message)
        raise failure from error
    return folder


def is_under_way(models: Path, spec: ModelSpec) -> bool:
    """Tell whether a model is being prepared, by whatever process. Blocks. Raises: HostLacks."""
    lock = _lock(models, spec)
    if not lock.exists():
        return False
    with exclusive(lock) as is_free:
        return not is_free


def _lock(models: Path, spec: ModelSpec) -> Path:
    return models / f".{spec.id}.lock"


async def _alone(one: Preparation, meter: Meter) -> Path:
    lock = _lock(one.paths.models, one.spec)
    is_first = True
    while True:
        with exclusive(lock) as is_ours:
            if is_ours:
                await in_thread(lambda: lock.write_text(str(os.getpid())))
                return await _Preparing(one, meter).run()
        if is_first:
            meter.begin(f"Waiting: {_holder(lock)} prepares it already")
            is_first = False
        await asyncio.sleep(_LOOK_S)


def _holder(lock: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        return f"process {int(lock.read_text().strip())}"
    return "another process of the Studio"


def ready_folder(paths: Paths, spec: ModelSpec) -> Path | None:
    """Return the folder of a model that is prepared and unchanged since it was proven, or None."""
    folder = library.model_folder(paths, spec)
    try:
        library.check(folder, spec)
        record = proof.read_proof(folder, paths.models)
    except StudioError:
        return None
    if proof.standing(folder, record).state is not ModelState.READY:
        return None
    return folder


class _Preparing:
    """One model under way; the lock is held."""

    def __init__(self, one: Preparation, meter: Meter) -> None:
        self._one = one
        self._spec = one.spec
        self._meter = meter
        self._journal = Journal(one.paths.models, one.spec.id)
        self._files = assemble.merged(one.layers)

    async def run(self) -> Path:
        """Return the finished folder."""
        scripts = [await self._script(step) for step in self._spec.preparation]
        digests = [
            steps.digest(step, await in_thread(script.read_bytes) if script else b"")
            for step, script in zip(self._spec.preparation, scripts, strict=True)
        ]
        key = self._key(digests)
        ready = await in_thread(lambda: self._finished(key))
        if ready is not None:
            await in_thread(self._journal.clear)
            self._meter.finish(f"{self._spec.title} is prepared", skipped=True)
            return ready
        await in_thread(lambda: self._journal.open(key))
        await self._assemble()
        work = StepRun(self._spec, self._journal, self._one.python, self._meter)
        done = {step.name for step in self._journal.state.done}
        for step, digest, script in zip(self._spec.preparation, digests, scripts, strict=True):
            if step.name not in done:
                await work.run(step, digest, script)
        self._meter.step(None)
        folder = await in_thread(self._finish)
        self._meter.finish(self._said())
        return folder

    async def _script(self, step: PreparationStep) -> Path | None:
        return await self._one.script_of(step) if step.tool or step.series else None

    def _key(self, digests: Sequence[str]) -> str:
        """Return what this preparation is known by: a changed input or step is another one."""
        inputs = [(one.name, one.size_bytes, one.modified_ns) for one in self._files]
        document = (source_key(self._spec), inputs, digests)
        return sha256_bytes(msgspec.json.encode(document))

    def _finished(self, key: str) -> Path | None:
        """Return the folder when just this was made before; other inputs make it anew."""
        folder = ready_folder(self._one.paths, self._spec)
        if folder is None:
            return None
        is_same = _made_from(folder) in (None, key)
        return folder if is_same else None

    async def _assemble(self) -> None:
        have = self._journal.state.files
        missing = [one for one in self._files if one.name not in have]
        if not missing:
            return
        total = sum(one.size_bytes for one in self._files)
        self._meter.begin(f"Putting {self._spec.title} together", total=total, unit="bytes")
        self._meter.reach(total - sum(one.size_bytes for one in missing))
        await in_thread(lambda: self._require_room(missing))
        unsaved, made = 0, dict(have)
        copied = self._journal.state.copied_bytes
        for file in missing:
            held, way = await in_thread(functools.partial(self._bring, file))
            made[file.name] = held
            copied += file.size_bytes if way is Way.COPY else 0
            unsaved += file.size_bytes
            if unsaved >= _SAVE_BYTES:
                unsaved = 0
                await in_thread(functools.partial(self._keep, dict(made), copied))
            self._meter.advance(file.size_bytes)
        await in_thread(functools.partial(self._keep, made, copied))

    def _bring(self, file: LayerFile) -> tuple[Held, Way]:
        return assemble.bring(file, self._journal.folder, self._spec.title)

    def _keep(self, files: Mapping[str, Held], copied: int) -> None:
        state = self._journal.state
        self._journal.keep(msgspec.structs.replace(state, files=dict(files), copied_bytes=copied))

    def _require_room(self, missing: Sequence[LayerFile]) -> None:
        """Raise where files have to be copied and there is no room for them.

        A file of another disk cannot be linked; on one disk it can nearly always, and where not
        the copy says so itself.
        """
        device = self._journal.work.stat().st_dev
        apart = sum(one.size_bytes for one in missing if one.path.stat().st_dev != device)
        if apart:
            require_space(self._journal.work, apart, self._spec.title)

    def _finish(self) -> Path:
        folder, spec = self._journal.folder, self._spec
        files = self._journal.state.files
        absent = [name for name in spec.files if name not in files]
        if absent:
            raise Damaged(
                "model-incomplete",
                f"{spec.title} lacks {', '.join(absent)} after it was prepared.",
                hint="The repository holds something else than the preset was written for.",
            )
        library.require_prepared(folder, spec)
        weight_map.require_whole(folder, spec.title)
        record = InstalledModel(
            id=spec.id,
            source_sha256="",
            files={name: held.size_bytes for name, held in sorted(files.items())},
            licence=spec.licence,
            origin=spec.origin,
            key=source_key(spec),
            made_from=self._journal.state.key,
            steps=self._journal.state.done,
        )
        write_json(folder / library.PREPARED_FILE, record)
        proof.write_proof(folder, self._one.paths.models, proof_of(files))
        return self._put_into_place()

    def _put_into_place(self) -> Path:
        """Rename it there; a folder that a person made keeps its files under another name."""
        target = library.model_folder(self._one.paths, self._spec)
        if target.exists() or target.is_symlink():
            is_ours = (target / library.PREPARED_FILE).is_file()
            target.rename(self._journal.work / "replaced" if is_ours else _aside(target))
        self._journal.folder.rename(target)
        self._journal.clear()
        return target

    def _said(self) -> str:
        copied = self._journal.state.copied_bytes
        text = f"{self._spec.licence}, {self._spec.origin}"
        if copied:
            text += f"; {bytes_text(copied)} copied: links are not possible here"
        return text


def _made_from(folder: Path) -> str | None:
    record = library.read_prepared(folder)
    return None if record is None else record.made_from


def now_s() -> float:
    """Return the time that a proof bears, in seconds since 1970."""
    return time.time()


def sweep(paths: Paths, spec: ModelSpec) -> None:
    """Remove what a kill left between a finished model and the end of its preparation. Blocks."""
    journal = Journal(paths.models, spec.id)
    if not journal.work.exists():
        return
    with exclusive(paths.models / f".{spec.id}.lock") as is_ours:
        if is_ours and library.find(paths, spec) == library.model_folder(paths, spec):
            journal.clear()


def proof_of(files: Mapping[str, Held]) -> ProofRecord:
    """Return the proof of a folder whose files were hashed."""
    return ProofRecord(
        source="spec",
        proven_at_s=now_s(),
        files=tuple(
            ProvenFile(
                name=name,
                size_bytes=held.size_bytes,
                sha256=held.sha256,
                modified_ns=held.modified_ns,
            )
            for name, held in sorted(files.items())
        ),
    )


def _aside(folder: Path) -> Path:
    number = 1
    while (place := folder.with_name(f"{folder.name}.before-{number}")).exists():
        number += 1
    return place
