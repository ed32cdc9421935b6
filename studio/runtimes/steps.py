"""Build steps: what a recipe has made on this machine after the packages are in place.

    <runtime>/built.json       what became of each step; a step in it is not run again
    <runtime>/steps/<name>.log what its commands said

Placeholders: `{python}` `{runtime}` `{site}` `{cache}` `{uv}` `{jobs}`; a tool's name for where it
was found; `{source}`: a copy of the step's folder of the series' repository; `{out}`: an empty
folder, whose wheels are installed when the commands are done. They run with the environment of the
recipe's engine, in a HOME of their own. A step that cannot be done falls back as the recipe says,
and its cost is kept and shown.
"""

import functools
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import Damaged, HostLacks
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import RuntimeRecipe
from studio.domain.runtimes import BuildStep, Built, BuiltStep, StepState
from studio.host import probe, process, uv
from studio.host.documents import read_json, write_json
from studio.host.meter import Meter
from studio.host.paths import Paths
from studio.host.threads import in_thread
from studio.runtimes import toolchain
from studio.runtimes.packages import site_packages
from studio.runtimes.step_work import FOLDER, StepFailed, Workshop

BUILT_FILE = "built.json"
_EVIDENCE_LINES = 16
_INSTALL_TIMEOUT_S = 600.0
_ODD = re.compile(r"[^\w.-]")


async def build(
    recipe: RuntimeRecipe,
    paths: Paths,
    folder: Path,
    python: Path,
    meter: Meter,
    *,
    host: HostSnapshot | None = None,
    environ: Mapping[str, str] = os.environ,
) -> tuple[BuiltStep, ...]:
    """Do every step that is asked for and that `built.json` does not hold; return all of them.

    Raises: HostLacks (`build-tool-missing`), Damaged (`build-step-failed`), both only for steps
    without a fall-back.
    """
    wanted = [step for step in recipe.steps if step.default]
    if not wanted:
        return ()
    runner = _Runner(recipe, paths, folder, python, meter, environ)
    if host is None:
        host = await in_thread(functools.partial(probe.snapshot, paths.home))
    await in_thread(runner.workshop.put_back)
    done = {one.name: one for one in read(folder)}
    result: list[BuiltStep] = []
    for step in wanted:
        before = done.get(step.name)
        if before is None or before.definition != _definition(step):
            before = await runner.run(step, host)
        result.append(before)
        write_json(folder / BUILT_FILE, Built(steps=tuple(result)))
    await in_thread(runner.workshop.clear)
    return tuple(result)


def read(folder: Path) -> tuple[BuiltStep, ...]:
    """Return what became of a runtime's steps; nothing when it had none or nobody can tell."""
    try:
        built = read_json(folder / BUILT_FILE, Built)
    except Damaged:
        return ()
    return built.steps if built is not None else ()


def badges(folder: Path) -> tuple[str, ...]:
    """Return in words what a runtime does without, with the cost."""
    return tuple(
        f"{one.title}: {one.fallback}{f' ({one.cost})' if one.cost else ''}"
        for one in read(folder)
        if one.state is StepState.FELL_BACK
    )


def said(words: str, folder: Path) -> str:
    """Return `words` of a runtime, and after them what it does without."""
    return "; without ".join([words, *badges(folder)])


def forget(folder: Path) -> None:
    """Forget what was built: the folder is laid anew."""
    (folder / BUILT_FILE).unlink(missing_ok=True)
    shutil.rmtree(folder / FOLDER, ignore_errors=True)


class _Runner:
    """The steps of one runtime folder."""

    def __init__(
        self,
        recipe: RuntimeRecipe,
        paths: Paths,
        folder: Path,
        python: Path,
        meter: Meter,
        environ: Mapping[str, str],
    ) -> None:
        self._recipe = recipe
        self._paths = paths
        self._folder = folder
        self._python = python
        self._meter = meter
        self._environ = environ
        self.workshop = Workshop(recipe, paths, folder, python, environ)

    async def run(self, step: BuildStep, host: HostSnapshot) -> BuiltStep:
        """Do one step, or say why it is not done."""
        self._meter.begin(f"Building: {step.title}")
        if not _is_for(step, host):
            cards = ", ".join(step.compute_capabilities)
            reason = f"It is for cards of compute capability {cards}."
            return _record(step, StepState.NOT_NEEDED, reason=reason)
        tools = [tool for tool in self._recipe.tools if tool.name in step.tools]
        site = site_packages(self._python)
        where = toolchain.Where(python=self._python, site=site, environ=self._environ)
        found = await toolchain.look(tools, where)
        problems = [f"{one.name}: {one.problem}" for one in found.values() if one.problem]
        problems += [
            f"{name}: the recipe does not say what that is"
            for name in step.tools
            if name not in found
        ]
        if problems:
            return self._without_tools(step, found, problems)
        if step.at_start:
            return _record(step, StepState.AT_START, tools=found)
        started = time.monotonic()
        log = f"{FOLDER}/{_ODD.sub('_', step.name)}.log"
        try:
            await self._do(step, found, self._folder / log)
        except StepFailed as failure:
            await in_thread(self.workshop.put_back)
            if step.fallback is None:
                raise Damaged(
                    "build-step-failed",
                    f"`{step.title}` of {self._recipe.title} could not be built: {failure}.",
                    hint=f"What was said is in {self._folder / log}. "
                    f"`weir runtime pin {self._recipe.name} --without {step.name}` leaves it out.",
                    evidence=_tail(self._folder / log),
                ) from failure
            return _record(step, StepState.FELL_BACK, reason=f"{failure}.", tools=found, log=log)
        seconds = time.monotonic() - started
        return _record(step, StepState.BUILT, tools=found, log=log, seconds=seconds)

    def _without_tools(
        self, step: BuildStep, found: Mapping[str, toolchain.FoundTool], problems: list[str]
    ) -> BuiltStep:
        reason = "; ".join(problems)
        if step.fallback is not None:
            return _record(step, StepState.FELL_BACK, reason=f"{reason}.", tools=found)
        raise HostLacks(
            "build-tool-missing",
            f"`{step.title}` of {self._recipe.title} cannot be built: {reason}.",
            hint="Install what is missing and run it again; what was fetched is kept.",
            evidence=tuple(problems),
        )

    async def _do(
        self, step: BuildStep, found: Mapping[str, toolchain.FoundTool], log: Path
    ) -> None:
        if not step.commands:
            raise StepFailed("no source says how it is built")
        await in_thread(functools.partial(self.workshop.prepare, step))
        env = self.workshop.environment(step, found)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as file:
            for command in step.commands:
                argv = [self.workshop.fill(part, found) for part in command]
                file.write(f"$ {' '.join(argv)}\n")
                await self._command(argv, env, step.timeout_s, file.write)
            wheels = self.workshop.wheels()
            if wheels:
                await self._install([str(path) for path in wheels], file.write)
        await in_thread(functools.partial(self.workshop.finish, step, found))

    async def _command(
        self,
        argv: list[str],
        env: Mapping[str, str],
        timeout_s: float,
        write: Callable[[str], object],
    ) -> None:
        def on_line(line: str) -> None:
            write(f"{line}\n")
            self._meter.note(line[:120])

        try:
            result = await process.run(
                argv, env=env, timeout_s=timeout_s, cwd=self.workshop.work, on_line=on_line
            )
        except HostLacks as error:
            raise StepFailed(error.message.rstrip(".")) from error
        if result.timed_out:
            raise StepFailed(f"`{Path(argv[0]).name}` took longer than {timeout_s:.0f} s")
        if result.exit_code != 0:
            last = f": {result.tail[-1]}" if result.tail else ""
            raise StepFailed(f"`{Path(argv[0]).name}` ended with {result.exit_code}{last}")

    async def _install(self, wheels: list[str], write: Callable[[str], object]) -> None:
        """Put what was built in the place of what the lock brought."""
        argv = [uv.binary(), "pip", "install", "--python", str(self._python), "--no-deps"]
        argv += ["--no-index", "--offline", "--reinstall", "--compile-bytecode", *wheels]
        env = process.helper_environment({"UV_CACHE_DIR": str(self._paths.cache / "uv")})
        await self._command(argv, env, _INSTALL_TIMEOUT_S, write)


def _is_for(step: BuildStep, host: HostSnapshot) -> bool:
    """Tell whether a step is for this machine's cards; one whose capability is unknown counts."""
    if not step.compute_capabilities:
        return True
    found = [card.compute_capability for card in host.gpus]
    return any(one is None or one in step.compute_capabilities for one in found)


def _record(
    step: BuildStep,
    state: StepState,
    *,
    reason: str | None = None,
    tools: Mapping[str, toolchain.FoundTool] | None = None,
    log: str | None = None,
    seconds: float | None = None,
) -> BuiltStep:
    is_without = state is StepState.FELL_BACK
    return BuiltStep(
        name=step.name,
        title=step.title,
        state=state,
        reason=reason,
        fallback=step.fallback if is_without else None,
        cost=step.fallback_cost if is_without else None,
        tools={n: one.words for n, one in (tools or {}).items() if one.problem is None},
        log=log,
        seconds=seconds,
        definition=_definition(step),
    )


def _definition(step: BuildStep) -> str:
    return hashlib.sha256(msgspec.json.encode(step)).hexdigest()


def _tail(log: Path) -> tuple[str, ...]:
    try:
        return tuple(log.read_text("utf-8", "replace").splitlines()[-_EVIDENCE_LINES:])
    except OSError:
        return ()
