"""Questions to a hub's API: patient as downloads are, with refusals in their own words.

Not through huggingface_hub's client: that one reads proxies and certificates by itself, and blocks
a thread that cannot be ended. One network policy holds for all (docs/decisions/0031-hubs.md).
"""

import asyncio
import contextlib
import ssl
import urllib.parse
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TypeVar

import httpx
import msgspec

from studio.domain.downloads import HubName
from studio.domain.errors import HostLacks, NetworkFailure, NotFound, StudioError
from studio.host import network_client
from studio.host.network import redacted
from studio.host.transfer.answers import wait_s
from studio.host.transfer.faults import HINTS, Fault, Kind, of_error, of_status
from studio.hub.access import TITLES, Access, Token
from studio.hub.repository import strange

T = TypeVar("T")
_MOST_BYTES = 64 << 20
_MOST_REDIRECTS = 5
_PAGE = "text/html"
_FIRST_BYTE = {"Range": "bytes=0-0"}


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about, for refusals."""

    repository: str
    revision: str
    file: str | None = None


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, whole."""

    headers: Mapping[str, str]
    body: bytes

    def decoded(self, kind: type[T]) -> T:
        """Return what it says. Raises: Damaged (`hub-answer`)."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise strange(f"is not as its API has it ({error})") from error


class Asking:
    """One hub at one address."""

    def __init__(
        self,
        access: Access,
        hub: HubName,
        client: httpx.AsyncClient,
        trusted: ssl.SSLContext,
        token: Token | None,
        on_note: Callable[[str], None] = lambda _note: None,
    ) -> None:
        """Use `opened`."""
        self.hub = hub
        self.endpoint = access.endpoint(hub)
        self.token = token
        self._policy = access.policy
        self.client = client
        """What is sent with it gets no token by itself."""
        self._trusted = trusted
        self._on_note = on_note

    @property
    def headers(self) -> dict[str, str]:
        """Return what the hub's own host is told beside an address; nobody else may be."""
        if self.token is None:
            return {}
        found = {"Authorization": f"Bearer {self.token.text}"}
        if self.hub is HubName.MODEL_SCOPE:
            found["Cookie"] = f"m_session_id={self.token.text}"
        return found

    def another_client(self) -> httpx.AsyncClient:
        """Return a client for files, with connections of its own; `async with` closes it."""
        return network_client.client(self._policy, trusted=self._trusted)

    def is_own(self, url: str) -> bool:
        """Return whether an address is of the hub's own host."""
        ours, theirs = urllib.parse.urlsplit(self.endpoint), urllib.parse.urlsplit(url)
        return (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc)

    async def get(self, url: str, subject: Subject) -> Answered:
        """Return an answer, after as many tries as the policy allows.

        Raises: NotFound (`model-unknown`, `revision-unknown`, `model-file-unknown`), HostLacks
        (`model-gated`, `hub-login`), NetworkFailure (`hub-refused`, `hub-unreachable`, …), Damaged.
        """
        return await self._patiently(url, subject, headers={})

    async def said(
        self, url: str, document: bytes | None, within_s: float
    ) -> tuple[int | None, bytes]:
        """Ask the hub's own host once; return the status and what it says, None: nothing in time.

        With a document it is posted.
        """
        method = "GET" if document is None else "POST"
        kind = {} if document is None else {"Content-Type": "application/json"}
        try:
            async with asyncio.timeout(within_s):
                headers = {**self.headers, **kind}
                request = self.client.build_request(method, url, headers=headers, content=document)
                response = await self.client.send(request, stream=True)
                try:
                    return response.status_code, await _read(response)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.TransportError, httpx.InvalidURL, httpx.DecodingError):
            return None, b""

    async def may_fetch(self, url: str, subject: Subject) -> None:
        """Ask for a byte of a file, to hear a refusal in the hub's words. Raises: as `get`."""
        await self._patiently(url, subject, headers=dict(_FIRST_BYTE), only_head=True)

    async def hear_refusal(self, url: str, subject: Subject) -> None:
        """Ask for a byte once, when a file has ceased to come; silence is no refusal.

        Raises: as `get`, where the hub says no.
        """
        with contextlib.suppress(Fault):
            await self._once(url, subject, headers=dict(_FIRST_BYTE), only_head=True)

    async def _patiently(
        self, url: str, subject: Subject, *, headers: dict[str, str], only_head: bool = False
    ) -> Answered:
        failures = 0
        while True:
            try:
                return await self._once(url, subject, headers, only_head=only_head)
            except Fault as fault:
                failures += 1
                is_over = (fault.wait_s or 0) > self._policy.wait_most_s
                if not fault.again or failures >= self._policy.tries or is_over:
                    raise self._failed(url, fault) from fault
                doubled = self._policy.back_off_s * 2.0**failures
                pause = max(min(self._policy.back_off_most_s, doubled), fault.wait_s or 0.0)
                self._on_note(f"{fault.reason}; asking again in {pause:.0f} s")
                await asyncio.sleep(pause)

    async def _once(
        self, url: str, subject: Subject, headers: dict[str, str], *, only_head: bool
    ) -> Answered:
        try:
            async with asyncio.timeout(self._policy.connect_s + 2 * self._policy.stall_s):
                return await self._asked(url, subject, headers, only_head=only_head)
        except TimeoutError as error:
            raise Fault("it did not answer in time", again=True) from error
        except (httpx.TransportError, httpx.InvalidURL, httpx.DecodingError) as error:
            raise of_error(error, url, self._policy) from error

    async def _asked(
        self, url: str, subject: Subject, headers: dict[str, str], *, only_head: bool
    ) -> Answered:
        for _ in range(_MOST_REDIRECTS):
            own = self.headers if self.is_own(url) else {}
            request = self.client.build_request("GET", url, headers={**own, **headers})
            response = await self.client.send(request, stream=True)
            try:
                if response.has_redirect_location and response.next_request is not None:
                    following = response.next_request.url
                    await network_client.drop(response)
                    if only_head and not self.is_own(str(following)):
                        return Answered(headers=dict(response.headers), body=b"")
                    if response.url.scheme == "https" and following.scheme != "https":
                        raise Fault("it redirects from a protected connection to an open one")
                    url = str(following)
                    continue
                if not response.is_success:
                    raise self._refused(response, subject, await _read(response))
                if only_head:
                    await network_client.drop(response)
                    return Answered(headers=dict(response.headers), body=b"")
                self._refuse_page(response)
                return Answered(headers=dict(response.headers), body=await _read(response))
            finally:
                await response.aclose()
        raise Fault("it redirects without end")

    def _refuse_page(self, response: httpx.Response) -> None:
        if response.headers.get("Content-Type", "").lower().startswith(_PAGE):
            raise Fault("a page for people answered in place of the hub", kind=Kind.LOGIN)

    def _refused(
        self, response: httpx.Response, subject: Subject, body: bytes
    ) -> StudioError | Fault:
        """Return what a refusal means (huggingface_hub, utils/_http.py: `X-Error-Code`)."""
        status = response.status_code
        fault = of_status(status, wait_s(response))
        if fault.again or status in (407, 511):
            return fault
        code = response.headers.get("X-Error-Code", "")
        said = (response.headers.get("X-Error-Message", "") or _message(body))[:300].strip()
        evidence = (said,) if said else ()
        title = TITLES[self.hub]
        if code == "GatedRepo":
            return self._gated(subject, evidence)
        if code == "RevisionNotFound":
            return NotFound(
                "revision-unknown",
                f"{subject.repository} has no revision `{subject.revision}` on {title}.",
                hint="A revision is a branch, a tag or a commit; leave it out for the main branch.",
                evidence=evidence,
            )
        if code == "EntryNotFound" or (status == 404 and subject.file and code != "RepoNotFound"):
            return NotFound(
                "model-file-unknown",
                f"{subject.repository} has no file `{subject.file or subject.revision}` at "
                f"`{subject.revision}`.",
                hint="Look at the hub's page of the repository for its files.",
                evidence=evidence,
            )
        if code == "RepoNotFound" or status == 404:
            return self._unknown(subject, evidence)
        # ModelScope says 403 to no token and to one that it does not know (hub/errors.py).
        if status == 401 or (status == 403 and self.hub is HubName.MODEL_SCOPE):
            return self._login(subject, evidence)
        return NetworkFailure(
            "hub-refused",
            f"{title} refuses {subject.repository} to this machine: it answered {status}.",
            hint=self._elsewhere(),
            evidence=evidence,
        )

    def _elsewhere(self) -> str:
        where = (
            "`--hub huggingface`"
            if self.hub is HubName.MODEL_SCOPE
            else "`--hub modelscope`, or a mirror with HF_ENDPOINT"
        )
        return (
            f"The hub may not serve this region or network. Try another one: {where}; "
            "`weir network` shows the proxy."
        )

    def _gated(self, subject: Subject, evidence: tuple[str, ...]) -> HostLacks:
        page = f"{self.endpoint}/{subject.repository}"
        who = "The token in use" if self.token is not None else "A machine without a token"
        return HostLacks(
            "model-gated",
            f"{subject.repository} is only for those who have accepted its licence. "
            f"{who} may not fetch it.",
            hint=f"Accept the licence at {page}, then `weir models login` with a token of that "
            "account.",
            evidence=evidence,
            data={"url": page},
        )

    def _unknown(self, subject: Subject, evidence: tuple[str, ...]) -> NotFound:
        return NotFound(
            "model-unknown",
            f"{TITLES[self.hub]} has no {subject.repository}, or it is private.",
            hint=f"Check the name. If it is private, `{self._login_words}` with a token that may "
            "read it.",
            evidence=evidence,
        )

    @property
    def _login_words(self) -> str:
        is_first = self.hub is HubName.HUGGING_FACE
        return "weir models login" if is_first else f"weir models login --hub {self.hub}"

    def _login(self, subject: Subject, evidence: tuple[str, ...]) -> HostLacks:
        named = f"The token of {self.token.source}" if self.token else "No token"
        return HostLacks(
            "hub-login",
            f"{TITLES[self.hub]} wants a valid token for {subject.repository}. {named} is in use.",
            hint=f"`{self._login_words}` keeps another one; a token that has expired is made anew "
            "on the hub's page of access tokens.",
            evidence=evidence,
        )

    def _failed(self, url: str, fault: Fault) -> NetworkFailure:
        is_plain = fault.kind is Kind.FAILED
        other = (
            " Or use the other hub: `--hub modelscope`, or a mirror: HF_ENDPOINT=https://…."
            if self.hub is HubName.HUGGING_FACE
            else " Or use the other hub: `--hub huggingface`."
        )
        return NetworkFailure(
            "hub-unreachable" if is_plain else fault.kind.value,
            f"{TITLES[self.hub]} cannot be asked at {redacted(url)}: {fault.reason}.",
            hint=HINTS[fault.kind] + other,
        )


@contextlib.asynccontextmanager
async def opened(
    access: Access,
    hub: HubName,
    on_note: Callable[[str], None] = lambda _note: None,
    *,
    token: Token | None = None,
) -> AsyncIterator[Asking]:
    """Yield one who asks, with the token in force unless another is given.

    Raises: NetworkFailure (`offline`), HostLacks, BadInput."""
    if access.policy.offline:
        raise NetworkFailure(
            "offline",
            f"{TITLES[hub]} is not asked: the network is switched off by "
            f"{access.policy.offline_source}.",
            hint=access.policy.switch_on,
        )
    if token is None:
        token = await asyncio.to_thread(access.token, hub)
    trusted = await asyncio.to_thread(network_client.trust, access.policy)
    client = network_client.client(access.policy, trusted=trusted)
    try:
        yield Asking(access, hub, client, trusted, token, on_note)
    finally:
        await client.aclose()


async def _read(response: httpx.Response) -> bytes:
    found = bytearray()
    async for chunk in response.aiter_bytes():
        found += chunk
        if len(found) > _MOST_BYTES:
            raise strange("does not end")
    return bytes(found)


class _Said(msgspec.Struct):
    """The two hubs' ways to say what is wrong."""

    error: str = ""
    Message: str = ""


def _message(body: bytes) -> str:
    try:
        said = msgspec.json.decode(body, type=_Said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return said.error or said.Message
