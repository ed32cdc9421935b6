"""Whose token it is, as its hub says: a mistyped one is found when it is given, not at night.

Hugging Face: `GET /api/whoami-v2` (huggingface_hub, hf_api.py). ModelScope: `POST /api/v1/login`
(modelscope, hub/api.py), which makes a session that is not used further.
"""

import msgspec

from studio.domain.downloads import HubName
from studio.domain.errors import BadInput, NetworkFailure
from studio.hub.access import TITLES, Access, Token
from studio.hub.asking import opened

_WITHIN_S = 10.0
_REFUSED = (400, 401, 403)


class _Access(msgspec.Struct):
    role: str | None = None


class _Auth(msgspec.Struct, rename="camel"):
    access_token: _Access | None = None


class _Person(msgspec.Struct):
    name: str
    auth: _Auth | None = None


class _Data(msgspec.Struct):
    Username: str


class _Session(msgspec.Struct):
    Data: _Data


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What a hub says of a token."""

    name: str | None = None
    role: str | None = None
    """What the token may do, such as `read` or `write`."""
    note: str | None = None
    """Why nothing is known, in a sentence; None: it is known."""


async def account(access: Access, hub: HubName, token: Token) -> Account:
    """Return whose token it is; a hub that cannot be asked proves nothing, either way.

    Raises: BadInput (`hub-token-refused`) where the hub does not know it.
    """
    title = TITLES[hub]
    try:
        async with opened(access, hub, token=token) as asking:
            url, document = _question(asking.endpoint, hub, token)
            status, body = await asking.said(url, document, _WITHIN_S)
    except NetworkFailure as error:
        return Account(note=f"It is not proven: {error.message}")
    if status in _REFUSED:
        raise BadInput(
            "hub-token-refused",
            f"{title} at {access.endpoint(hub)} does not know the token of {token.source}.",
            hint="Copy it whole from the hub's page of access tokens; one that has expired, or was "
            "revoked, is made anew there.",
        )
    found = _read(hub, body) if status is not None and status < 300 else None
    if found is None:
        why = "does not answer" if status is None else f"answers {status}"
        return Account(note=f"It is not proven: {access.endpoint(hub)} {why}.")
    return found


def _question(endpoint: str, hub: HubName, token: Token) -> tuple[str, bytes | None]:
    if hub is HubName.MODEL_SCOPE:
        return f"{endpoint}/api/v1/login", msgspec.json.encode({"AccessToken": token.text})
    return f"{endpoint}/api/whoami-v2", None


def _read(hub: HubName, body: bytes) -> Account | None:
    try:
        if hub is HubName.MODEL_SCOPE:
            return Account(name=msgspec.json.decode(body, type=_Session).Data.Username)
        person = msgspec.json.decode(body, type=_Person)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    held = person.auth.access_token if person.auth is not None else None
    return Account(name=person.name, role=held.role if held is not None else None)
