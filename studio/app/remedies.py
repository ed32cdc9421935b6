"""`weir fix`: what can be done about what failed last, and doing it."""

import asyncio
import itertools
import shlex
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from studio.app.diagnosis import match_of
from studio.app.last_failure import LastFailure
from studio.app.runtimes import Runtimes
from studio.domain.alarms import Alarm
from studio.domain.control import Status, UpRequest, UpResult
from studio.domain.diagnosis import Fixed, FixRequest, Offered, RemedyList
from studio.domain.errors import BadInput, Busy, NotFound
from studio.domain.manifests import ModelSpec
from studio.domain.remedies import Remedy, RemedyKind
from studio.domain.server import EngineSnapshot, EngineState
from studio.host.paths import Paths
from studio.models import library, places
from studio.presets import choose
from studio.presets.store import PresetStore

_NOTHING_FAILED = frozenset({EngineState.READY, EngineState.DRAINING, EngineState.ADOPTED})
_RETURNING = frozenset({EngineState.BACKING_OFF, EngineState.PREPARING, EngineState.STARTING})
"""With an error, in these: the Studio starts what died again by itself."""
_BY_ITSELF = Remedy(kind=RemedyKind.ADVICE, text="Wait: the Studio is starting it again by itself.")


class Serving(Protocol):
    """What of the facade is needed here."""

    async def up(self, request: UpRequest) -> UpResult:
        """Serve."""

    async def stop(self) -> Status:
        """Stop serving."""


class Remedies:
    """Offers the remedies of one service, and takes them."""

    def __init__(
        self,
        *,
        paths: Paths,
        presets: PresetStore,
        failed: LastFailure,
        engine: Callable[[], EngineSnapshot],
        runtimes: Runtimes,
        serving: Serving,
        alarms: Callable[[], Sequence[Alarm]] = tuple,
    ) -> None:
        self._paths = paths
        self._presets = presets
        self._failed = failed
        self._engine = engine
        self._runtimes = runtimes
        self._serving = serving
        self._alarms = alarms
        self._repairs: dict[str, Callable[[str], Awaitable[list[str]]]] = {
            "model": self._repair_models,
            "runtime": self._repair_runtime,
        }

    async def offered(self) -> RemedyList:
        """Return the remedies of what failed last, of slow paths and of alarms, numbered."""
        return await asyncio.to_thread(self._offered)

    def _offered(self) -> RemedyList:
        engine = self._engine()
        preset, overrides, error = engine.preset, dict(engine.overrides), engine.error
        if error is None and engine.state not in _NOTHING_FAILED:
            kept = self._failed.read()
            if kept is not None:
                preset, overrides, error = kept.preset, kept.overrides, kept.error
        found: list[tuple[str, Remedy]] = []
        if error is not None:
            remedies = error.remedies
            if engine.error is not None and engine.state in _RETURNING:
                others = [one for one in remedies if one.kind is not RemedyKind.RESTART]
                remedies = (_BY_ITSELF, *others)
            found += [(error.code, one) for one in remedies]
        found += [(badge.code, one) for badge in engine.badges for one in badge.remedies]
        heard = [alarm for alarm in self._alarms() if not alarm.is_muted]
        found += [(alarm.code, one) for alarm in heard for one in alarm.remedies]
        return RemedyList(
            preset=preset,
            failure=match_of(error) if error is not None else None,
            offered=tuple(_numbered(found, preset, overrides)),
        )

    async def fix(self, request: FixRequest) -> Fixed:
        """Take a remedy; returns when the engine serves again.

        Raises: NotFound (`nothing-to-fix`, `remedy-unknown`), Busy (`remedy-changed`), BadInput
        (`remedy-by-hand`), and whatever the repair or the start raises.
        """
        now = await self.offered()
        taken = _chosen(now, request)
        preset = now.preset
        if not taken.remedy.can_apply or preset is None:
            raise BadInput(
                "remedy-by-hand",
                f"Only you can do this: {taken.remedy.text}",
                hint=f"Run this: `{taken.command}`." if taken.command else None,
            )
        wanted = self._wanted(preset, taken.remedy, consent=request.consent)
        repaired: list[str] = []
        if taken.remedy.kind is RemedyKind.REPAIR:
            await self._serving.stop()
            repaired = await self._repairs[taken.remedy.part or "runtime"](preset)
        await self._serving.stop()
        result = await self._serving.up(wanted)
        return Fixed(taken=taken, repaired=tuple(repaired), result=result)

    def _wanted(self, preset: str, remedy: Remedy, *, consent: bool) -> UpRequest:
        """Return the start to try: all that was asked for before, and the remedy on top."""
        kept, engine = self._failed.read(), self._engine()
        overrides: dict[str, str] = {}
        if engine.preset == preset:
            overrides = dict(engine.overrides)
        elif kept is not None:
            overrides = kept.overrides
        is_same = kept is not None and kept.preset == preset
        return UpRequest(
            preset=preset,
            overrides={**overrides, **remedy.settings},
            gpus=kept.gpus if kept is not None and is_same else None,
            allow_spill=kept.allow_spill if kept is not None and is_same else False,
            consent=consent,
        )

    async def _repair_runtime(self, preset_id: str) -> list[str]:
        """Mend the preset's runtime; one that is not installed is installed by the start."""
        name = choose.runtime_of(self._presets.get(preset_id), self._engine().overrides)
        try:
            await self._runtimes.repair(name)
        except NotFound as error:
            if error.code != "runtime-not-installed":
                raise
        return [name]

    async def _repair_models(self, preset_id: str) -> list[str]:
        """Let the Studio's own models be made anew; name what only a person can put back.

        Raises: what `library.check` raises about a folder that is not whole.
        """
        mended: list[str] = []
        for spec in self._presets.get(preset_id).models:
            folder = library.model_folder(self._paths, spec)
            await asyncio.to_thread(self._require_own, spec, folder)
            if spec.wheel is None and not (folder / library.PREPARED_FILE).is_file():
                await asyncio.to_thread(library.check, folder, spec)
                raise BadInput(
                    "model-by-hand",
                    f"The files of {spec.title} in {folder} have the right names and sizes, and "
                    "the Studio cannot fetch them again.",
                    hint=library.how_to_get(self._paths, spec),
                )
            await asyncio.to_thread(library.disown, folder)
            mended.append(spec.title)
        return mended

    def _require_own(self, spec: ModelSpec, folder: Path) -> None:
        """Raise BadInput (`model-by-hand`) for one that is served where a person keeps it."""
        found = library.find(self._paths, spec)
        if found in (None, folder) or places.is_plain(spec):
            return
        assert found is not None
        raise BadInput(
            "model-by-hand",
            f"{spec.title} is served from {found}, where the Studio changes nothing.",
            hint=f"`weir models rm` takes {found.name} out of the library; `weir up` then makes"
            " the model anew.",
        )


def _numbered(
    found: Sequence[tuple[str, Remedy]], preset: str | None, overrides: dict[str, str]
) -> Iterator[Offered]:
    """Yield what is offered; a number is a promise, so mere advice has none."""
    numbers = itertools.count(1)
    for about, remedy in found:
        is_advice = remedy.kind is RemedyKind.ADVICE
        yield Offered(
            number=None if is_advice else next(numbers),
            about=about,
            remedy=remedy,
            command=_command(remedy, preset, overrides),
        )


def _chosen(now: RemedyList, request: FixRequest) -> Offered:
    if not now.offered:
        raise NotFound(
            "nothing-to-fix", "Nothing has failed, and nothing runs slower than it could."
        )
    for one in now.offered:
        if one.number == request.number:
            if request.about not in (None, one.about):
                raise Busy(
                    "remedy-changed",
                    f"Remedy {one.number} is now about `{one.about}`, not `{request.about}`.",
                    hint="Look at the list again: `weir fix`.",
                )
            return one
    last = max((one.number or 0 for one in now.offered), default=0)
    there_is = f"the last one is {last}" if last else "what is known is advice"
    raise NotFound(
        "remedy-unknown",
        f"There is no remedy {request.number}; {there_is}.",
        hint="`weir fix` lists them.",
    )


def _command(remedy: Remedy, preset: str | None, overrides: dict[str, str]) -> str | None:
    """Return what to type for the same, where it is one command."""
    if remedy.kind is not RemedyKind.RESTART_WITH or preset is None:
        return remedy.command
    return " ".join(["weir up", preset, *_typed({**overrides, **remedy.settings})])


def _typed(settings: dict[str, str]) -> Iterator[str]:
    for name, value in settings.items():
        yield f"--set {shlex.quote(f'{name}={value}')}"
