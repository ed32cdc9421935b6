"""Chat clients, joined with what they are pointed at: gateway, models and kept keys."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec

from studio.app.keys import Keys
from studio.clients import catalogue, files, places
from studio.clients.catalogue import ClientSpec, Filling
from studio.clients.places import Ground, Place
from studio.domain.clients import (
    ClientInfo,
    ClientList,
    ClientState,
    Connected,
    ConnectPlan,
    ConnectRequest,
    Labelled,
    Side,
    Snippet,
    TryGrant,
    Undone,
)
from studio.domain.control import KeyInfo, KeyRequest, NewKey
from studio.domain.errors import BadInput, NotFound, StudioError

_NEW = "new"
_MASK = "sk-weir-…"
"""Stands for a key wherever a plan is shown: plans are pasted into chats."""
_KEYS = re.compile(r"sk-weir-[A-Za-z0-9_-]+")
_OTHERS = 0o044
_TRY = "Try it"
_OUT_OF_REACH = (
    "Files of clients on the Windows side cannot be reached from here: no folder of a Windows user"
    " is on the PATH. Name a file with `--file`, or set the client up by the values shown."
)


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """What a client is to ask for."""

    name: str
    context: int | None = None


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What clients are pointed at, as plain functions."""

    base_url: Callable[[], Awaitable[str]]
    model: Callable[[str | None], Model]
    """Of a preset or a served name; of None what runs or ran last. Raises: NotFound."""
    certificate: Callable[[], Awaitable[str | None]]
    ground: Callable[[], Ground] = places.ground


class Clients:
    """What may be asked about chat clients. One writer at a time, also across processes."""

    def __init__(
        self, folder: Path, notes: Path, keys: Callable[[], Keys], around: Surroundings
    ) -> None:
        """`folder`: the catalogue's clients; `notes`: where it is kept what was written."""
        self._folder = folder
        self._notes = files.Notes(notes)
        self._keys = keys
        self._around = around
        self._turn = asyncio.Lock()

    async def all(self) -> ClientList:
        """Return all clients, those that were found first."""
        return await asyncio.to_thread(self._all)

    async def plan(self, client: str, request: ConnectRequest) -> ConnectPlan:
        """Return what `connect` would do; changes nothing.

        Raises: NotFound (`client-unknown`, `preset-unknown`, `client-model-unknown`), BadInput
        (`client-file-broken`, `client-file-odd`, `path-not-absolute`), HostLacks.
        """
        spec = await self._spec(client)
        return (await self._planned(spec, request, _MASK))[0]

    async def connect(self, client: str, request: ConnectRequest) -> Connected:
        """Give a client its key, and write its file where it has one.

        Raises: as `plan`, and BadInput (`client-file-changed`), Busy (`clients-busy`), NotFound
        (`key-unknown`, `key-not-stored`), HostLacks (`client-file-read-only`).
        """
        spec = await self._spec(client)
        async with self._turn:
            with self._notes.alone():
                # Whatever is wrong with the file is said before a key is made for it.
                _shown, seen, _data = await self._planned(spec, request, _MASK)
                if request.seen is not None and seen is not None and seen.digest != request.seen:
                    raise files.changed_meanwhile(seen.path)
                key, was_made = await self._key(spec, request.key)
                request = msgspec.structs.replace(request, key=key.info.name)
                plan, seen, data = await self._planned(spec, request, key.key, writes=True)
                note = None
                if seen is not None and data is not None and data != seen.data:
                    holder = (key.info.id, key.info.name) if _holds_key(spec) else None
                    note = await asyncio.to_thread(
                        files.write, self._notes, spec.id, seen, data, key=holder
                    )
        return Connected(
            plan=plan,
            path=plan.path,
            backup=note.backup if note is not None else None,
            has_changed=note is not None,
            key_id=key.info.id,
            key_was_made=was_made,
        )

    async def undo(self, client: str) -> Undone:
        """Put a client's file back as it was.

        Raises: NotFound (`client-unknown`, `client-not-connected`), BadInput
        (`client-file-changed`), Damaged (`client-backup-damaged`), HostLacks.
        """
        spec = await self._spec(client)
        async with self._turn:
            with self._notes.alone():
                note, was_removed = await asyncio.to_thread(
                    files.undo, self._notes, spec.id, spec.title
                )
        return Undone(
            client=spec.id, path=note.path, was_removed=was_removed, key_name=note.key_name
        )

    async def grant(self, model: str | None) -> TryGrant:
        """Lend what is needed to ask the gateway for one answer.

        Raises: NotFound (`client-model-unknown`, `preset-unknown`), HostLacks.
        """
        key, _made = await self._kept(_TRY)
        return TryGrant(
            base_url=await self._around.base_url(),
            model=self._around.model(model).name,
            key=key.key,
            certificate=await self._around.certificate(),
        )

    async def _spec(self, client: str) -> ClientSpec:
        return catalogue.named(await asyncio.to_thread(catalogue.read_all, self._folder), client)

    def _all(self) -> ClientList:
        ground = self._around.ground()
        infos = [self._info(spec, ground) for spec in catalogue.read_all(self._folder)]
        is_out_of_reach = ground.is_wsl and ground.profile is None
        notes = (_OUT_OF_REACH,) if is_out_of_reach else ()
        infos.sort(key=lambda one: (not one.is_found, one.title.casefold()))
        return ClientList(clients=tuple(infos), notes=notes)

    def _info(self, spec: ClientSpec, ground: Ground) -> ClientInfo:
        note = self._notes.get(spec.id)
        place = _place(spec, ground, None)
        if note is not None:  # named with `--file` then
            place = Place(Path(note.path), place.side if place is not None else Side.HERE)
        found_by = places.trace(spec, ground)
        state = ClientState.UNTOUCHED
        if place is not None:
            try:
                state = files.state(note, files.look(place.path))
            except StudioError:
                state = ClientState.CHANGED if note is not None else ClientState.UNTOUCHED
        return ClientInfo(
            id=spec.id,
            title=spec.title,
            summary=spec.summary,
            is_found=found_by is not None,
            found_by=found_by,
            can_write=spec.file is not None,
            path=str(place.path) if place is not None else None,
            side=place.side if place is not None else Side.HERE,
            state=state,
            documented=spec.documented,
            versions=spec.versions,
        )

    async def _planned(
        self, spec: ClientSpec, request: ConnectRequest, key: str, *, writes: bool = False
    ) -> tuple[ConnectPlan, files.Seen | None, bytes | None]:
        """Return the plan, the file as it is, and as it would be; `writes`: it is written now."""
        model = self._around.model(request.model)
        base_url = await self._around.base_url()
        name, exists = await self._key_name(spec, request.key)
        filling = Filling(base_url=base_url, key=key, model=model.name, context=model.context)
        ground = await asyncio.to_thread(self._around.ground)
        info = await asyncio.to_thread(self._info, spec, ground)
        place = _place(spec, ground, request.file, info.path)
        seen = data = None
        if spec.file is not None and place is not None:
            seen = await asyncio.to_thread(files.look, place.path)
            data = files.rewritten(seen, spec.file, filling)
            if key == _MASK and exists and _holds_key(spec):
                data = await self._as_it_would_be(seen, spec, filling, name, data)
        diff = files.diff(seen, data) if seen is not None and data is not None else ""
        diff = _KEYS.sub(_MASK, diff)
        plan = ConnectPlan(
            client=info,
            base_url=base_url,
            model=model.name,
            context=model.context,
            key_name=name,
            key_exists=exists,
            path=str(place.path) if place is not None else None,
            exists=seen is not None and seen.data is not None,
            digest=seen.digest if seen is not None else None,
            diff=diff,
            is_written=seen is not None and data == seen.data,
            steps=tuple(filling.text(step) for step in spec.steps),
            values=_values(spec, filling),
            snippets=tuple(
                Snippet(title=one.title, language=one.language, text=filling.text(one.text).strip())
                for one in spec.snippets
            ),
            notes=tuple(
                _notes(
                    spec,
                    place,
                    base_url,
                    name,
                    exists=exists,
                    is_written=seen is not None and (writes or data == seen.data),
                    is_open_to_others=seen is not None and bool(seen.mode & _OTHERS),
                )
            ),
        )
        return plan, seen, data

    async def _as_it_would_be(
        self, seen: files.Seen, spec: ClientSpec, filling: Filling, name: str, masked: bytes
    ) -> bytes:
        """Return the file as it is where it already holds the kept key, else with a mask."""
        assert spec.file is not None
        try:
            kept = await self._keys().reveal(await self._id_of(name))
        except StudioError:
            return masked
        real = files.rewritten(seen, spec.file, msgspec.structs.replace(filling, key=kept.key))
        return real if real == seen.data else masked

    async def _key_name(self, spec: ClientSpec, asked: str | None) -> tuple[str, bool]:
        """Return the name of the key, and whether it is here already."""
        infos = _working(await self._keys().all())
        if asked == _NEW:
            return _free_name(spec.title, {one.name for one in infos}), False
        name = asked or _own_name(spec.title, infos)
        exists = any(one.name == name for one in infos)
        if asked is not None and not exists:
            raise NotFound(
                "key-unknown",
                f"There is no key `{asked}` that works.",
                hint=f"Leave `--key` out: a key named {spec.title} is made. `weir keys list`"
                " shows those that there are.",
            )
        return name, exists

    async def _key(self, spec: ClientSpec, asked: str | None) -> tuple[NewKey, bool]:
        name, _exists = await self._key_name(spec, asked)
        return await self._kept(name)

    async def _kept(self, name: str) -> tuple[NewKey, bool]:
        """Return a key by its name, made now if there is none, and whether it was made."""
        keys = self._keys()
        found = [one for one in _working(await keys.all()) if one.name == name]
        if not found:
            return await keys.create(KeyRequest(name=name, store=True)), True
        kept = next((one for one in found if one.stored is not None), None)
        if kept is None:
            raise BadInput(
                "key-not-stored",
                f"Of the key `{name}` only a hash is kept, so it cannot be put into a file.",
                hint="`--key new` makes another one for this client; the old one goes on working.",
            )
        return await keys.reveal(kept.id), False

    async def _id_of(self, name: str) -> str:
        infos = _working(await self._keys().all())
        return next((one.id for one in infos if one.name == name and one.stored), "")


def _place(
    spec: ClientSpec, ground: Ground, asked: str | None, noted: str | None = None
) -> Place | None:
    """Return the file that counts.

    Raises: BadInput (`path-not-absolute`, `client-has-no-file`).
    """
    if asked is not None:
        if spec.file is None:
            raise BadInput(
                "client-has-no-file",
                f"{spec.title} keeps its settings where no other program can write them.",
                hint=f"Leave `--file` out: `weir connect {spec.id}` shows the values to enter.",
            )
        return places.given(asked)
    if spec.file is None:
        return None
    found = places.chosen(ground.places(spec.file))
    if noted is not None:
        return Place(Path(noted), found.side if found is not None else Side.HERE)
    return found


def _working(infos: list[KeyInfo]) -> list[KeyInfo]:
    return [one for one in infos if one.revoked_at is None and not one.has_expired]


def _own_name(title: str, infos: list[KeyInfo]) -> str:
    """Return the newest key that was made for a client and can be put into a file."""
    own = re.compile(rf"{re.escape(title)}(?: \d+)?")
    found = [one.name for one in infos if one.stored is not None and own.fullmatch(one.name)]
    return found[-1] if found else title


def _free_name(title: str, taken: set[str]) -> str:
    names = (title if number == 1 else f"{title} {number}" for number in range(1, 10_000))
    return next(name for name in names if name not in taken)


def _holds_key(spec: ClientSpec) -> bool:
    return spec.file is not None and spec.file.holds_key


def _values(spec: ClientSpec, filling: Filling) -> tuple[Labelled, ...]:
    return tuple(
        Labelled(label=one.label, value=filling.text(one.value), is_secret=one.is_secret)
        for one in spec.values
    )


def _notes(
    spec: ClientSpec,
    place: Place | None,
    base_url: str,
    key_name: str,
    *,
    exists: bool,
    is_written: bool,
    is_open_to_others: bool,
) -> Iterator[str]:
    if place is not None and _holds_key(spec) and is_written:
        yield f"The file holds the key `{key_name}`: whoever reads it can use it."
    elif place is not None and _holds_key(spec):
        made = "" if exists else " It is made when the file is written."
        yield f"The file will hold the key `{key_name}`: whoever reads it can use it.{made}"
    elif not exists:
        yield f"The key `{key_name}` is made when you say so, and kept to be shown again."
    if place is not None and place.side is Side.WINDOWS:
        yield "This file lies on the Windows side."
    if is_open_to_others and _holds_key(spec):
        yield "Others on this machine may read this file: `chmod 600` keeps it to yourself."
    if base_url.startswith("https:"):
        yield "The gateway is encrypted: the client has to trust its certificate."
    if spec.file is not None:
        yield f"By hand it is undone like this: {spec.undo}"
