"""Asks an engine for the load, part by part, and keeps what was measured as it goes.

What was measured lies in `parts` whenever it is ended: by cancelling, by its time, by the engine.
"""

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence

from studio.benchmark import figures, texts
from studio.benchmark.answer import Answer, Engine
from studio.benchmark.load import Load, Room, Sizes, Step, label, steps
from studio.benchmark.texts import Message
from studio.domain.bench import BenchKind, BenchPart, BenchRequest
from studio.domain.errors import BadInput
from studio.domain.metrics import EngineSample

_WARM_TOKENS = 16
_FIT_ROUNDS = 3
_FIT_SHARE = 0.005
"""How near a prompt comes to its length, where the engine counts."""
_PREFILL_WARM_TOKENS = 8_192
"""Prompts up to this are read once before they are measured: by then an engine has seen the largest
chunk that it takes, and a longer prompt is only more of them."""
_LOOK_S = 0.1
_SLOWER = 1.3
"""Room for what a part may take longer than those before it make expect."""

Fit = Callable[[int], list[Message]]
"""Number of words to a prompt."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the app knows of the engine."""

    engine: Engine
    room: Room
    sample: Callable[[], Awaitable[EngineSample | None]]
    """Reads the engine's counters."""
    others: Callable[[], bool]
    """Whether a client's request is under way."""


class Runner:
    """One run. `run` once; everything else may be read meanwhile."""

    def __init__(
        self,
        ground: Ground,
        load: Load,
        request: BenchRequest,
        *,
        salt: str,
        on_part: Callable[[], Awaitable[None]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_part` is told after each part that was measured."""
        self.parts: list[BenchPart] = []
        self.left_out: list[str] = []
        self.now = "warm-up"
        """What is measured, in words."""
        self.done = 0
        self._ground = ground
        self._engine = ground.engine
        self._load = load
        self.salt = salt
        self._on_part = on_part
        self._clock = clock
        self._began_s = clock()
        self.sizes: Sizes = load.sizes(is_quick=request.quick)
        self.steps, out = steps(self.sizes, ground.room, request.only)
        self.left_out += out
        self._words_per_token = texts.WORDS_PER_TOKEN
        self._salted = 0
        self._decode_s: float | None = None
        """Seconds a token, of one stream."""
        self._prefill_s: float | None = None
        """Seconds a prompt token."""

    @property
    def elapsed_s(self) -> float:
        """Return how long it has run."""
        return self._clock() - self._began_s

    @property
    def left_s(self) -> float:
        """Return how long it may still run."""
        return max(0.0, self.sizes.limit_s - self.elapsed_s)

    async def run(self) -> None:
        """Measure until all is done or the time is over.

        Raises: BadInput (`bench-no-room`), where nothing of the load has room; what
        `Engine.ask` raises when the engine goes away.
        """
        if not self.steps:
            raise BadInput(
                "bench-no-room",
                "The engine that serves has no room for any part of the load.",
                evidence=tuple(self.left_out),
                hint="Serve it with a larger `max_model_len`, or measure other parts: `--only`.",
            )
        if not await self._within(self._warm_up()):
            self._leave_out(self.steps, "the engine was too slow to warm up in time")
            return
        for number, step in enumerate(self.steps):
            self.now = label(step.name)
            expected_s = self._expected_s(step)
            if expected_s is not None and expected_s > self.left_s:
                reason = (
                    f"it would have taken about {expected_s:.0f} s, {self.left_s:.0f} s were left"
                )
                self._leave_out([step], reason)
            elif not await self._within(self._tried(step)):
                reason = f"it was not over after {self.sizes.limit_s:.0f} s, when the run ends"
                self._leave_out(self.steps[number:], reason)
                return
            self.done += 1

    async def _within(self, work: Awaitable[None]) -> bool:
        """Return whether `work` was over before the run's end."""
        try:
            async with asyncio.timeout(self.left_s):
                await work
        except TimeoutError:
            return False
        return True

    def _leave_out(self, out: Sequence[Step], reason: str) -> None:
        self.left_out += [f"{label(step.name)}: {reason}." for step in out]

    # -- the parts -------------------------------------------------------------------------

    async def _warm_up(self) -> None:
        """Let the engine compile what its first requests compile, and learn how it counts."""
        words = 200
        prompt = texts.reading(self._load.texts, words)
        answer = await self._ask(prompt, _WARM_TOKENS)
        if answer.prompt_tokens:
            self._words_per_token = words / answer.prompt_tokens
        widest = max(step.streams for step in self.steps)
        await self._together([texts.task(self._load.texts, n) for n in range(widest)], _WARM_TOKENS)

    async def _tried(self, step: Step) -> None:
        """Measure a part; one that the engine will not take is left out."""
        try:
            await self._measured(step)
        except BadInput as error:
            self._leave_out([step], error.message.rstrip("."))

    async def _measured(self, step: Step) -> None:
        match step.kind:
            case BenchKind.DECODE:
                rounds = [
                    [texts.task(self._load.texts, lap + n) for n in range(step.streams)]
                    for lap in range(step.rounds)
                ]
                await self._warm(rounds[0])
                await self._part(step, rounds)
            case BenchKind.PREFILL:
                prompt = await self._fitted(step, lambda n: texts.reading(self._load.texts, n))
                if step.document_tokens <= _PREFILL_WARM_TOKENS:
                    await self._ask(prompt, 1)
                await self._part(step, [[prompt]])
            case BenchKind.COPY:
                prompt = await self._fitted(step, lambda n: texts.copying(self._load.texts, n))
                await self._part(step, [[prompt]])
            case BenchKind.TURNS:
                await self._turns(step)

    async def _warm(self, prompts: Sequence[list[Message]]) -> None:
        """Let what is made for this many streams be made before it is measured."""
        if len(prompts) > 1:
            await self._together(prompts, _WARM_TOKENS // 2)

    async def _turns(self, step: Step) -> None:
        words = round(self.sizes.turns_document_tokens * self._words_per_token)
        salt = self._next_salt()
        prompts = [texts.turn(self._load.texts, words, number) for number in range(step.rounds)]
        await self._part(step, [[prompts[0]]], name="turns-first", salt=salt)
        await self._part(step, [[one] for one in prompts[1:]], name="turns-later", salt=salt)

    async def _part(
        self,
        step: Step,
        rounds: Sequence[Sequence[list[Message]]],
        *,
        name: str | None = None,
        salt: str | None = None,
    ) -> None:
        """Measure rounds, one after the other, of prompts that are asked at once."""
        before = await self._ground.sample()
        began_s = self._clock()
        answers: list[Answer] = []
        try:
            async with asyncio.TaskGroup() as tasks:
                with self._watched(tasks) as seen:
                    for prompts in rounds:
                        answers += await self._together(prompts, step.answer_tokens, salt)
        except ExceptionGroup as errors:
            raise _first(errors) from None
        took_s = self._clock() - began_s
        after = await self._settled(before, answers)
        part = figures.part(
            step,
            answers,
            name=name or step.name,
            took_s=took_s,
            before=before,
            after=after,
            is_disturbed=bool(seen),
        )
        self._learn(part)
        self.parts.append(part)
        if self._on_part is not None:
            await self._on_part()

    async def _settled(
        self, before: EngineSample | None, answers: Sequence[Answer]
    ) -> EngineSample | None:
        """Return the counters once they hold the last step: they follow the answer a little."""
        own = sum(answer.generated_tokens or 0 for answer in answers)
        sample = await self._ground.sample()
        for _ in range(10):
            counted = figures.generated(before, sample)
            if counted is None or counted >= own:
                break
            await asyncio.sleep(_LOOK_S / 2)
            sample = await self._ground.sample()
        return sample

    @contextlib.contextmanager
    def _watched(self, tasks: asyncio.TaskGroup) -> Iterator[list[bool]]:
        """Yield a list that is not empty once a client's request was under way."""
        seen: list[bool] = []

        async def look() -> None:
            while True:
                if self._ground.others():
                    seen.append(True)
                    return
                await asyncio.sleep(_LOOK_S)

        task = tasks.create_task(look())
        try:
            yield seen
        finally:
            task.cancel()

    def _learn(self, part: BenchPart) -> None:
        if part.decode_tokens_per_s and (self._decode_s is None or part.streams == 1):
            self._decode_s = 1 / part.decode_tokens_per_s
        if part.prefill_tokens_per_s and part.kind is BenchKind.PREFILL:
            self._prefill_s = 1 / part.prefill_tokens_per_s

    def _expected_s(self, step: Step) -> float | None:
        """Return how long a part takes by what was measured so far, with some room."""
        if step.kind is BenchKind.PREFILL:
            return None if self._prefill_s is None else step.tokens * self._prefill_s * _SLOWER
        if self._decode_s is None:
            return None
        return step.answer_tokens * step.rounds * self._decode_s * _SLOWER

    # -- asking ----------------------------------------------------------------------------

    async def _together(
        self, prompts: Sequence[list[Message]], tokens: int, salt: str | None = None
    ) -> list[Answer]:
        try:
            async with asyncio.TaskGroup() as tasks:
                asked = [tasks.create_task(self._ask(one, tokens, salt)) for one in prompts]
        except ExceptionGroup as errors:
            raise _first(errors) from None
        return [task.result() for task in asked]

    async def _ask(self, prompt: list[Message], tokens: int, salt: str | None = None) -> Answer:
        return await self._engine.ask(prompt, tokens=tokens, salt=salt or self._next_salt())

    def _next_salt(self) -> str:
        self._salted += 1
        return f"{self.salt}-{self._salted}"

    async def _fitted(self, step: Step, make: Fit) -> list[Message]:
        """Return a prompt of the step's length by the engine's own count, else by the usual one."""
        words = round(step.document_tokens * self._words_per_token)
        for _ in range(_FIT_ROUNDS):
            counted = await self._engine.count(make(words))
            if not counted:
                break
            off = step.document_tokens - counted
            if abs(off) <= step.document_tokens * _FIT_SHARE:
                break
            words = max(1, words + round(off * words / counted))
        return make(words)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
