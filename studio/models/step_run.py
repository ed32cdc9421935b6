"""One step of a preparation, carried out: new files in a folder of their own, whole and hashed."""

import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from studio.domain.errors import Damaged, HostLacks, StudioError
from studio.domain.manifests import ModelSpec
from studio.domain.preparing import DoneStep, DoneWhen, PreparationStep
from studio.domain.units import bytes_text
from studio.host import process, system_name, tools, wsl
from studio.host.files import require_space, write_atomic
from studio.host.meter import Meter
from studio.host.threads import in_thread
from studio.models import steps, weight_map
from studio.models.assemble import Held, hashed
from studio.models.journal import Journal

TIMEOUT_S = 6 * 3600.0
"""For the slowest script on the slowest disk; a script that hangs is ended."""
_EVIDENCE_LINES = 12
_PROGRESS = re.compile(r"^progress (\d+) (\d+)$")
_FULL = re.compile(r"Errno 28|No space left on device")
_KILLED = (137, -9)
"""SIGKILL that nobody of ours sent: the kernel's answer to a host without memory."""

ScriptOf = Callable[[PreparationStep], Awaitable[Path]]
"""Finds the script of a step; raises what is missing."""


class StepRun:
    """Carries out one step after another."""

    def __init__(
        self, spec: ModelSpec, journal: Journal, python: Path | None, meter: Meter
    ) -> None:
        self._spec = spec
        self._journal = journal
        self._python = python
        self._meter = meter

    async def run(self, step: PreparationStep, digest: str, script: Path | None) -> DoneStep:
        """Do a step that is not done yet, and return what was done.

        Raises: HostLacks (`disk-space`, `disk-full`, `prepare-step-failed`, `host-memory-short`,
        `prepare-step-open`, `runtime-not-installed`), Damaged (`prepare-change`), OSError.
        """
        self._meter.step(step.name)
        if await in_thread(lambda: steps.is_done(self._journal.folder, step.done)):
            return await self._skipped(step, digest, "It was so already.")
        if not step.is_runnable:
            if step.optional:
                return await self._skipped(step, digest, step.open or "No way to do it is known.")
            raise self._open(step)
        out = await in_thread(self._journal.fresh_out)
        self._meter.begin(step.what, unit="bytes" if script is not None else None)
        try:
            inputs = await self._work(step, script, out)
        except Damaged as error:
            if not step.optional:
                raise
            return await self._skipped(step, digest, error.message)
        made = await in_thread(lambda: self._made(out))
        done = DoneStep(
            name=step.name,
            digest=digest,
            inputs={name: self._journal.state.files[name].sha256 for name in inputs},
            outputs={name: held.sha256 for name, held in made.items()},
        )
        await in_thread(lambda: self._journal.finish_step(done, made))
        await in_thread(lambda: self._prove(step))
        return done

    async def _skipped(self, step: PreparationStep, digest: str, why: str) -> DoneStep:
        done = DoneStep(name=step.name, digest=digest, skipped=why)
        await in_thread(lambda: self._journal.finish_step(done, {}))
        return done

    def _open(self, step: PreparationStep) -> HostLacks:
        return HostLacks(
            "prepare-step-open",
            f"{self._spec.title} needs the step `{step.name}`, which the Studio cannot do: "
            f"{step.open or 'no way to do it is known.'}",
            hint="Do it with the upstream project's own program, and put the finished files into "
            f"the models folder as {self._spec.id}.",
        )

    async def _work(self, step: PreparationStep, script: Path | None, out: Path) -> tuple[str, ...]:
        """Write new files into `out`; return which files were read."""
        read: tuple[str, ...] = ()
        if script is not None and step.tensors:
            read = await self._tensors(step, script, out)
        elif script is not None:
            read = tuple(self._journal.state.files)
            size = step.disk_bytes or 0
            require_space(out, size, f"The step `{step.name}`")
            folders = {"folder": str(self._journal.folder), "out": str(out)}
            await self._script(step, script, [one.format(**folders) for one in step.arguments])
            self._require_outputs(step, out)
        changed = await in_thread(lambda: self._changed(step, out))
        return tuple(dict.fromkeys((*read, *changed)))

    async def _tensors(self, step: PreparationStep, script: Path, out: Path) -> tuple[str, ...]:
        """Run a script for each file that holds some of the step's tensors."""
        folder = self._journal.folder
        where = await in_thread(lambda: weight_map.where(folder))
        names = weight_map.matching(where, step.tensors)
        if not names:
            raise Damaged(
                "prepare-change",
                f"{self._spec.title} has no tensor {', '.join(step.tensors)}, which the step "
                f"`{step.name}` is about.",
                hint="The repository holds something else than the preset was written for.",
            )
        files = sorted({where[name] for name in names})
        for file in files:
            source = folder / file
            size = (await in_thread(source.stat)).st_size
            require_space(out, size, f"The step `{step.name}`")
            self._meter.begin(f"{step.what} ({file})", total=size, unit="bytes")
            mine = [name for name in names if where[name] == file]
            await self._script(step, script, [str(source), str(out / file), *mine])
        await in_thread(lambda: self._reindex(files, out))
        return tuple(files)

    def _reindex(self, files: list[str], out: Path) -> None:
        index = weight_map.read_index(self._journal.folder)
        if index is None:
            return
        before = weight_map.headers_of_files(self._journal.folder, files)
        made = weight_map.reindexed(index, before, weight_map.headers_of_files(out, files))
        write_atomic(out / weight_map.INDEX, steps.json_text(made).encode())

    async def _script(self, step: PreparationStep, script: Path, arguments: list[str]) -> None:
        if self._python is None:
            raise HostLacks(
                "runtime-not-installed",
                f"The step `{step.name}` of {self._spec.title} is run by a preset's runtime, and "
                "none is installed.",
                hint="Install it with `weir runtime install NAME`; `weir up` does both.",
            )
        result = await tools.run_tool(
            self._python, script, arguments, timeout_s=TIMEOUT_S, on_line=self._on_line
        )
        if result.exit_code != 0:
            raise self._failure(step, script, result)

    def _on_line(self, line: str) -> None:
        if found := _PROGRESS.match(line):
            self._meter.reach(int(found[1]), total=int(found[2]))

    def _failure(
        self, step: PreparationStep, script: Path, result: process.RunResult
    ) -> StudioError:
        evidence = result.tail[-_EVIDENCE_LINES:]
        if _FULL.search("\n".join(evidence)):
            return HostLacks(
                "disk-full",
                f"The disk that holds {self._journal.work.parent} is full.",
                hint="Free some space, or move the Studio's folder with WEIR_HOME, then run it "
                "again: the steps before this one are kept.",
                evidence=evidence,
            )
        if result.exit_code in _KILLED and not result.timed_out:
            return memory_short(step, evidence)
        ended = "after its time limit" if result.timed_out else f"with exit code {result.exit_code}"
        return HostLacks(
            "prepare-step-failed",
            f"The step `{step.name}` of {self._spec.title} failed: {script.name} ended {ended}.",
            hint="The lines below are the script's own. The steps before this one are kept.",
            evidence=evidence,
        )

    def _require_outputs(self, step: PreparationStep, out: Path) -> None:
        absent = [name for name in step.outputs if not (out / name).is_file()]
        if absent:
            raise HostLacks(
                "prepare-step-failed",
                f"The step `{step.name}` of {self._spec.title} did not write {', '.join(absent)}.",
                hint="Tell whoever wrote the preset: step and script do not belong together.",
            )

    def _changed(self, step: PreparationStep, out: Path) -> tuple[str, ...]:
        files = steps.changed_files(self._journal.folder, step.changes, out)
        for name, data in files.items():
            write_atomic(out / name, data)
        return tuple(files)

    def _made(self, out: Path) -> Mapping[str, Held]:
        return {path.name: hashed(path) for path in sorted(out.iterdir()) if path.is_file()}

    def _prove(self, step: PreparationStep) -> None:
        """Refuse a step that did not bring about what it is for; all of it is thrown away."""
        if step.done == DoneWhen() or steps.is_done(self._journal.folder, step.done):
            return
        self._journal.clear()
        raise Damaged(
            "prepare-step-failed",
            f"After the step `{step.name}`, {self._spec.title} does not hold what the step is for.",
            hint="Tell whoever wrote the preset: step and condition do not belong together.",
        )


def memory_short(step: PreparationStep, evidence: tuple[str, ...]) -> HostLacks:
    """Return the error of a script that the system ended."""
    size = step.memory_bytes
    needs = f" The step needs {bytes_text(size)} of memory." if size else ""
    more = (
        "Give WSL more memory (`memory=` in %UserProfile%\\.wslconfig, then `wsl --shutdown`)."
        if wsl.is_wsl(system_name.release())
        else "Close other programs, or add swap."
    )
    return HostLacks(
        "host-memory-short",
        f"The system ended the step `{step.name}`: memory of the host was short.{needs}",
        hint=f"{more} Then run it again: the steps before this one are kept.",
        evidence=evidence,
    )
