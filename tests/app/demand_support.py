"""A running Studio with two presets that requests may start, and a client that asks for them."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from studio.domain.control import KeyRequest
from studio.domain.demand import DemandChange
from studio.domain.keys import KeyLimits
from studio.domain.server import EngineState
from tests.app.running import Running, fake_paths, running
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import until_async

OTHER = "fake-other"
NAMES = {PRESET: "smollm2", OTHER: "other-model"}
CHAT = "/v1/chat/completions"
MESSAGES = [{"role": "user", "content": "Tell me a story."}]
LIMIT_S = 60.0
DRAIN_S = 0.5
"""How long answers under way may take when another model's turn has come."""


def add_other(catalogue: Path) -> None:
    """Write a second preset: the same engine and model under another name."""
    file = catalogue / "presets" / f"{PRESET}.toml"
    text = file.read_text(encoding="utf-8").replace("drain_s = 5.0", f"drain_s = {DRAIN_S}")
    file.write_text(text, encoding="utf-8")
    text = text.replace(f'id = "{PRESET}"', f'id = "{OTHER}"', 1)
    text = text.replace('served_name = "smollm2"', f'served_name = "{NAMES[OTHER]}"')
    (catalogue / "presets" / f"{OTHER}.toml").write_text(text, encoding="utf-8")


@dataclasses.dataclass(slots=True, kw_only=True)
class Client:
    """A chat client with a key."""

    base_url: str
    key: str

    def http(self) -> httpx.AsyncClient:
        """Return an HTTP client with the key."""
        return httpx.AsyncClient(
            base_url=self.base_url.removesuffix("/v1"),
            headers={"Authorization": f"Bearer {self.key}"},
            timeout=LIMIT_S,
            trust_env=False,
        )

    async def ask(self, model: str | None, **more: object) -> httpx.Response:
        """Ask a model for a story."""
        body: dict[str, object] = {"messages": MESSAGES, **more}
        if model is not None:
            body["model"] = model
        async with self.http() as http:
            return await http.post(CHAT, json=body)

    async def models(self) -> list[dict[str, object]]:
        """Return the list of models."""
        async with self.http() as http:
            data = (await http.get("/v1/models")).json()["data"]
        assert isinstance(data, list)
        return data


@dataclasses.dataclass(slots=True, kw_only=True)
class Demanding:
    """A Studio whose requests may start engines."""

    run: Running
    client: Client

    @property
    def state(self) -> EngineState:
        """Where the engine stands."""
        return self.run.studio.engine().state

    @property
    def preset(self) -> str | None:
        """What the engine serves, or would."""
        return self.run.studio.engine().preset

    async def change(self, **what: object) -> None:
        """Change what may be started."""
        await self.run.studio.on_demand.change(DemandChange(**what))

    async def waiting(self, count: int) -> None:
        """Wait until so many requests wait."""
        await until_async(
            lambda: self.run.studio.on_demand.queue().waiting == count, f"{count} that wait"
        )

    async def until(self, state: EngineState, preset: str | None = None) -> None:
        """Wait for a state of the engine."""
        await until_async(
            lambda: self.state is state and preset in (None, self.preset), f"{preset} {state.value}"
        )

    async def other_key(self, name: str, **limits: object) -> Client:
        """Return a client with a key of its own."""
        made = await self.run.studio.keys.create(KeyRequest(name=name, limits=KeyLimits(**limits)))
        return Client(base_url=self.client.base_url, key=made.key)

    def boots(self) -> int:
        """Return how many engines were started."""
        starts = 0
        before = None
        for event in self.run.heard:
            engine = getattr(event, "engine", None)
            if engine is None:
                continue
            is_new = engine.state is EngineState.STARTING and engine.started_at != before
            if is_new and engine.started_at is not None:
                starts += 1
                before = engine.started_at
        return starts


@contextlib.asynccontextmanager
async def demanding(folder: Path, **options: object) -> AsyncIterator[Demanding]:
    """Yield a Studio with both presets listed, an open gateway and nothing running."""
    with fake_paths(folder, **{"boot_s": 0.2, **options}) as paths:
        add_other(paths.catalogue)
        async with asyncio.timeout(LIMIT_S), running(paths) as run:
            key = await run.studio.keys.create(KeyRequest(name="client"))
            for preset in NAMES:
                await run.studio.on_demand.change(DemandChange(preset=preset))
            await until_async(lambda: run.studio.gateway().base_url is not None, "the gateway")
            base_url = run.studio.gateway().base_url
            assert base_url is not None
            yield Demanding(run=run, client=Client(base_url=base_url, key=key.key))
