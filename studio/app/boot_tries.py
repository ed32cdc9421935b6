"""The boots of one start: a refusal for KV memory by a boot that compiled is tried again.

While kernels are compiled, the engine's trial run sees memory taken that a warm boot has back:
0.9 GiB and more (HyperQwen, gotcha 2 and 6.3). So a refusal of a cold boot is tried once with what
was compiled, and then once without the memory set aside for CUDA graphs; never more. Not when it is
certain that no warm boot fits either: its pool is pinned, or the plan says so.
"""

import asyncio
import dataclasses
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path, PurePath

from studio.app.boot_about import ESTIMATE, OFF, About, about
from studio.app.boot_watch import BootWatch
from studio.app.stages import Stages
from studio.app.up import Choice
from studio.domain.boots import BootTry
from studio.domain.errors import StudioError
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.plans import LedgerItem, Plan
from studio.domain.server import EngineSnapshot
from studio.domain.units import GIB
from studio.serving import phases
from studio.serving.command import Launch

logger = logging.getLogger(__name__)

COLD_REFUSALS = frozenset({"kv-cache-too-small", "kv-cache-no-room"})
"""Codes of runtimes/failures.toml: the engine found too little memory for its KV cache."""
_WARM = (
    "The engine refused its KV memory while it compiled. It is started again with what was "
    "compiled, which leaves more."
)
_NO_ESTIMATE = (
    "The warm boot was refused too. It is started once more without setting memory aside for CUDA "
    f"graphs before they are captured ({ESTIMATE}={OFF}); this compiles again."
)
_AS_LAST_TIME = (
    "No memory is set aside for CUDA graphs before they are captured: the last boot with these "
    f"settings was refused with it ({ESTIMATE}={OFF})."
)

Facts = Mapping[str, int | float | str]


class Tries:
    """Starts the engine, and again where that may help."""

    def __init__(
        self,
        *,
        ensure_ready: Callable[[Launch], Awaitable[EngineSnapshot]],
        watch: BootWatch,
        stages: Stages,
        facts: Callable[[], Facts],
        cache: Path,
    ) -> None:
        """`facts` tells what the last boot said; `cache` is where engines keep things."""
        self._ensure_ready = ensure_ready
        self._watch = watch
        self._stages = stages
        self._facts = facts
        self._cache = cache
        self._plan: Plan | None = None

    def expect(self, plan: Plan | None) -> None:
        """Say what was planned for the next start."""
        self._plan = plan

    async def ensure_ready(
        self, launch: Launch, choice: Choice, models: Sequence[Path]
    ) -> EngineSnapshot:
        """Return the engine when it generated a token.

        Raises: what the last of at most three boots ended with.
        """
        plan, self._plan = self._plan, None
        start = await asyncio.to_thread(about, launch, choice, models, plan, self._cache)
        await self._watch.begin(start, BootTry.FIRST)
        if self._watch.needs_no_estimate() and _sets_aside(launch, start):
            start = dataclasses.replace(start, without_graph_estimate=True)
            await self._watch.begin(start, BootTry.FIRST, (_AS_LAST_TIME,))
            return await self._ensure_ready(_without_estimate(launch))
        try:
            return await self._ensure_ready(launch)
        except StudioError as error:
            if not self._may_help(error, start):
                raise
        try:
            return await self._again(launch, start, BootTry.WARM, (_WARM,))
        except StudioError as error:
            if error.code not in COLD_REFUSALS or not _sets_aside(launch, start):
                raise
        start = dataclasses.replace(start, without_graph_estimate=True)
        said = (_WARM, _NO_ESTIMATE)
        attempt = BootTry.WITHOUT_GRAPH_ESTIMATE
        return await self._again(_without_estimate(launch), start, attempt, said)

    def _may_help(self, error: StudioError, start: About) -> bool:
        if error.code not in COLD_REFUSALS or phases.is_cold(self._facts()) is not True:
            return False
        if is_certain(error, start):
            logger.info("%s is not started again: no warm boot fits either", start.place.preset)
            return False
        return True

    async def _again(
        self, launch: Launch, start: About, attempt: BootTry, tries: tuple[str, ...]
    ) -> EngineSnapshot:
        logger.warning("%s: %s", start.place.preset, tries[-1])
        self._stages.report(
            StageProgress(
                stage=Stage.BOOT,
                state=StageState.RUNNING,
                title=self._stages.title_of(Stage.BOOT),
                note=tries[-1],
            )
        )
        await self._watch.begin(start, attempt, tries)
        socket = PurePath(launch.socket)
        fresh = socket.with_name(f"engine-{secrets.token_hex(4)}.sock")
        return await self._ensure_ready(launch.at_socket(str(fresh)))


def is_certain(error: StudioError, start: About) -> bool:
    """Tell whether a warm boot would be refused too.

    With its bytes pinned the pool is the same at every boot; else the plan knows what a warm boot
    leaves, with an error bar.
    """
    if start.is_pinned:
        return True
    most = _most_kv_bytes(start.plan)
    if most is None:
        return False
    needed = error.data.get("needed_gib")
    return most < (needed * GIB if isinstance(needed, int | float) else 1)


def _most_kv_bytes(plan: Plan | None) -> float | None:
    """Return the upper end of what a warm boot leaves for the KV cache of a card."""
    if plan is None or plan.kv_bytes is None:
        return None
    pools: list[LedgerItem] = [item for item in plan.ledger if item.name == "kv-pool"]
    errors = [item.error_bytes for item in pools]
    if not errors or None in errors:
        return None
    return plan.kv_bytes + max(one for one in errors if one is not None)


def _sets_aside(launch: Launch, start: About) -> bool:
    """Tell whether the engine sets memory aside for CUDA graphs: the default since vLLM 0.21."""
    is_eager = bool(start.settings.get("enforce_eager"))
    return start.uses_cards and not is_eager and launch.environment.get(ESTIMATE) != OFF


def _without_estimate(launch: Launch) -> Launch:
    return dataclasses.replace(launch, environment={**launch.environment, ESTIMATE: OFF})
