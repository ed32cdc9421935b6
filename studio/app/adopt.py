"""Serving clients from a vLLM that others run: adopt it, keep it in mind, let go of it.

Its key is kept in a file that only its owner reads, not in the system's keyring: the service starts
before anybody has unlocked one.
"""

import asyncio
import dataclasses
import logging
import ssl
from collections.abc import Awaitable, Callable

import msgspec

from studio.domain.adopt import AdoptRequest, AdoptResult, Forgotten
from studio.domain.control import GatewayInfo, KeyRequest, NewKey
from studio.domain.errors import BadInput, Busy, Damaged, NotFound, StudioError
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.host import addresses, network, network_client
from studio.host.documents import read_json, write_json
from studio.host.paths import Paths
from studio.monitor import prometheus
from studio.serving.adopted import Adopted, Found, Place, read_place

logger = logging.getLogger(__name__)

_IDLE = (EngineState.STOPPED, EngineState.FAILED)
_NAME_LIMIT = 64
_PORT_AGAIN_S = 15.0
"""Between two tries to open the gateway at the service's start, when its port is taken."""


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """`adopted.json` (mode 0600)."""

    url: str
    name: str
    key: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What adopting needs of the rest of the service, as plain functions."""

    own: Callable[[], EngineState]
    """The state of the engine that is ours."""
    gateway: Callable[[], GatewayInfo]
    open_gateway: Callable[[int | None], Awaitable[str]]
    first_key: Callable[[KeyRequest], Awaitable[NewKey | None]]
    publish: Callable[[EngineSnapshot], None]


class Adopting:
    """The adopted vLLM of one home, if there is one."""

    def __init__(self, paths: Paths, around: Surroundings) -> None:
        self.current: Adopted | None = None
        self._paths = paths
        self._file = paths.home / "adopted.json"
        self._around = around
        self._changed = asyncio.Event()
        self._lock = asyncio.Lock()

    async def adopt(self, request: AdoptRequest) -> AdoptResult:
        """Serve clients from the vLLM at an address, now and after each start of the service.

        Raises: BadInput (`adopt-address`, `adopt-key-invalid`, `adopt-name`, `adopt-itself`,
        `adopt-key-refused`, `adopt-not-vllm`), EngineNotReady (`adopt-unreachable`), Busy
        (`engine-busy`, `engine-adopted`), PortTaken, HostLacks.
        """
        async with self._lock:
            place, name = read_place(request.url), _name(request.name)
            key = _key(request.key)
            self._require_room()
            self._require_other(place)
            made = self._make(place, name or place.name, key)
            try:
                found = await made.probe()
                base_url = await self._around.open_gateway(request.port)
                kept = _Kept(url=place.url, name=made.name, key=key)
                self._require_room()  # nothing may have been started meanwhile
                write_json(self._file, kept, mode=0o600)
            except BaseException:
                made.close()
                raise
            self._replace(made)
            new = await self._around.first_key(KeyRequest(name="default"))
            snapshot = made.snapshot()
            assert snapshot.adopted is not None
            logger.info("adopted the vLLM %s at %s", found.version or "-", place.url)
            return AdoptResult(
                base_url=base_url,
                api_key=new.key if new is not None else None,
                served_name=found.models[0],
                max_model_len=found.max_model_len,
                pool_tokens=found.pool_tokens,
                adopted=snapshot.adopted,
                notes=tuple(_notes(place, key, found)),
            )

    async def forget(self) -> Forgotten:
        """Let go of it; the vLLM itself runs on. Nothing adopted is no error."""
        async with self._lock:
            name = self.current.name if self.current is not None else None
            try:
                kept = self._read()
                name = name or (kept.name if kept is not None else None)
            except Damaged:
                name = name or "-"
            self._file.unlink(missing_ok=True)
            self._replace(None)
            return Forgotten(was_adopted=name is not None, name=name)

    def info(self) -> AdoptedInfo:
        """Return what is adopted. Raises: NotFound (`nothing-adopted`), Damaged."""
        adopted = self.current.snapshot().adopted if self.current is not None else None
        if adopted is not None:
            return adopted
        kept = self._read()
        if kept is None:
            raise NotFound(
                "nothing-adopted",
                "No vLLM is adopted.",
                hint="`weir adopt URL` serves clients from one that already runs.",
            )
        return AdoptedInfo(name=kept.name, url=kept.url)

    def refuse(self, why: str) -> None:
        """Refuse what cannot be done to an engine that is not ours, or beside it.

        Raises: Busy (`engine-adopted`).
        """
        adopted = self.current.snapshot().adopted if self.current is not None else None
        if adopted is None:
            return
        raise Busy(
            "engine-adopted",
            f"The vLLM `{adopted.name}` at {adopted.url} is adopted: {why}.",
            hint="`weir adopt --forget` lets go of it (it runs on); `weir up` then serves an "
            "engine of the Studio's own.",
        )

    async def run(self) -> None:
        """Watch what is adopted, beginning with what an earlier service adopted."""
        try:
            kept = self._read()
            if kept is not None and self.current is None:
                self._replace(self._make(read_place(kept.url), kept.name, kept.key))
        except StudioError as error:
            logger.warning("what was adopted cannot be taken up: %s", error)
        try:
            await self._watch()
        finally:
            if self.current is not None:
                self.current.close()

    async def _watch(self) -> None:
        """Watch whatever is adopted at the time."""
        while True:
            self._changed.clear()
            adopted = self.current
            async with asyncio.TaskGroup() as tasks:
                running = []
                if adopted is not None:
                    running = [
                        tasks.create_task(adopted.watch()),
                        tasks.create_task(self._keep_gateway()),
                    ]
                await self._changed.wait()
                for task in running:
                    task.cancel()

    async def _keep_gateway(self) -> None:
        """Open the gateway if it is closed, as it is after a start of the service."""
        while self._around.gateway().base_url is None:
            try:
                await self._around.open_gateway(None)
            except StudioError as error:
                logger.warning("the gateway is closed: %s", error)
                await asyncio.sleep(_PORT_AGAIN_S)

    def _make(self, place: Place, name: str, key: str | None) -> Adopted:
        return Adopted(
            place,
            name=name,
            key=key,
            tls=self._trust() if place.is_tls else None,
            read_pool=_pool_tokens,
            publish=self._announce,
        )

    def _announce(self, snapshot: EngineSnapshot) -> None:
        current = self.current
        if current is not None and snapshot.adopted == current.snapshot().adopted:
            self._around.publish(snapshot)

    def _replace(self, adopted: Adopted | None) -> None:
        before, self.current = self.current, adopted
        if before is not None:
            before.close()
        self._changed.set()
        self._around.publish(adopted.snapshot() if adopted is not None else EngineSnapshot())

    def _trust(self) -> ssl.SSLContext:
        """Return whom to trust: the machine's authorities and those of `weir network`."""
        return network_client.trust(network.in_force(self._paths))

    def _require_room(self) -> None:
        state = self._around.own()
        if state not in _IDLE:
            raise Busy(
                "engine-busy",
                f"The Studio's own engine is {state.value}.",
                hint="End it with `weir stop`, then adopt the other one.",
            )

    def _require_other(self, place: Place) -> None:
        """Refuse our own gateway, which would pass each request to itself for ever."""
        gateway = self._around.gateway()
        ours = (gateway.address, *addresses.own_addresses(), *addresses.own_names())
        is_here = place.is_here or place.host in ours
        if is_here and place.port is not None and place.port == gateway.port:
            raise BadInput(
                "adopt-itself",
                f"{place.url} is the gateway of this Studio itself.",
                hint="Give the address of the vLLM server behind it.",
            )

    def _read(self) -> _Kept | None:
        try:
            return read_json(self._file, _Kept)
        except Damaged as error:
            raise Damaged(
                "adopted-damaged",
                error.message,
                hint="`weir adopt --forget` removes it; then adopt the vLLM again.",
            ) from error


def _pool_tokens(metrics: bytes) -> int | None:
    return prometheus.parse(metrics.decode("utf-8", "replace")).pool_tokens


def _key(text: str | None) -> str | None:
    """Return a key that can be sent. Raises: BadInput (`adopt-key-invalid`)."""
    key = (text or "").strip()
    if not key:
        return None
    if not all("!" <= one <= "~" for one in key):
        raise BadInput(
            "adopt-key-invalid",
            "The key holds blanks, line breaks or characters that a header cannot carry.",
            hint="The file should hold the key alone, on one line.",
        )
    return key


def _name(text: str | None) -> str | None:
    name = text.strip() if text is not None else None
    if name is not None and not (0 < len(name) <= _NAME_LIMIT and name.isprintable()):
        raise BadInput(
            "adopt-name",
            f"A name has 1 to {_NAME_LIMIT} visible characters, found {len(name)}.",
            hint="Choose another one with `--name`, or leave it out.",
        )
    return name


def _notes(place: Place, key: str | None, found: Found) -> list[str]:
    notes = []
    if not found.has_metrics:
        notes.append("It gives no /metrics: pool and tok/s stay unknown.")
    if key is not None and not place.is_tls and not place.is_here:
        notes.append("Key and conversations travel to it unencrypted: its address is http.")
    if key is None:
        notes.append("It asks for no key: whoever reaches its address can use it.")
    if len(found.models) > 1:
        notes.append(
            f"It serves {len(found.models)} models; a request that names none goes to "
            f"{found.models[0]}."
        )
    return notes
