"""Which hub is asked where nobody said: Hugging Face, or none before a person has chosen another.

Hugging Face cannot be reached from some countries. The other hub is asked beside it only when the
first has been silent for a moment: who can reach Hugging Face tells nobody else what they fetch.
Nothing is switched by itself: a repository of the same name may hold other files elsewhere.
"""

import asyncio

from studio.domain.downloads import GetRequest, HubName
from studio.domain.errors import NetworkFailure
from studio.host.tasks import first_of
from studio.hub.access import TITLES, Access
from studio.hub.asking import opened
from studio.hub.repository import require_name

_HEAD_START_S = 1.5
_WITHIN_S = 6.0
"""A hub that needs longer for a few bytes is taken for one that cannot be reached."""
_FOUND = 200


async def chosen(
    request: GetRequest,
    access: Access,
    *,
    head_start_s: float = _HEAD_START_S,
    within_s: float = _WITHIN_S,
) -> HubName:
    """Return the hub to ask; nothing is asked where the person, or a variable, says which.

    Where neither answers, it is Hugging Face, which is then asked as patiently as ever.

    Raises: NetworkFailure (`hub-other`) where only the other hub answers; BadInput (`model-name`,
    `hub-endpoint`, `hub-token`), HostLacks.
    """
    hub = request.hub or HubName.HUGGING_FACE
    if request.hub is not None or access.is_named(hub) or access.policy.offline:
        return hub
    name = require_name(request.repository)
    try:
        there = await _only_there(name, access, head_start_s, within_s)
    except ExceptionGroup as failed:
        error = first_of(failed)
    else:
        if there is None:
            return hub
        raise _offer(name, access, has_it=there == _FOUND)
    raise error


async def _only_there(
    name: str, access: Access, head_start_s: float, within_s: float
) -> int | None:
    """Return what the other hub answers, or None where the first one answers or none does."""
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(_status(access, HubName.HUGGING_FACE, name, within_s))
        await asyncio.wait({first}, timeout=head_start_s)
        if first.done() and not first.cancelled() and first.result() is not None:
            return None
        second = tasks.create_task(_status(access, HubName.MODEL_SCOPE, name, within_s))
        if await first is None:
            return await second
        second.cancel()
    return None


async def _status(access: Access, hub: HubName, name: str, within_s: float) -> int | None:
    path = "api/v1/models" if hub is HubName.MODEL_SCOPE else "api/models"
    async with opened(access, hub) as asking:
        status, _body = await asking.said(f"{asking.endpoint}/{path}/{name}", None, within_s)
    return status


def _offer(name: str, access: Access, *, has_it: bool) -> NetworkFailure:
    silent, other = TITLES[HubName.HUGGING_FACE], TITLES[HubName.MODEL_SCOPE]
    found = f"and has {name}" if has_it else f"but has no {name} under this name"
    mirror = (
        f"Fetch it there with `--hub modelscope`, or use a mirror of {silent}"
        if has_it
        else f"Use a mirror of {silent}"
    )
    return NetworkFailure(
        "hub-other",
        f"{silent} does not answer at {access.endpoint(HubName.HUGGING_FACE)}; "
        f"{other} does, {found}.",
        hint=f"{mirror} with HF_ENDPOINT=https://…. `--hub huggingface` waits for {silent}; "
        "`weir network` shows the proxy.",
        data={"hub": HubName.MODEL_SCOPE.value if has_it else None},
    )
