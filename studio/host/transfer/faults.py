"""What went wrong with one source of a file, in words, and whether it is worth another try."""

import enum
import errno
import socket
import ssl

import httpx

from studio.host.network import NetworkPolicy, redacted


class Kind(enum.StrEnum):
    """What a person can do about a fault; the value is the error's code."""

    FAILED = "download-failed"
    CERTIFICATE = "certificate-untrusted"
    PROXY = "proxy-refused"
    LOGIN = "login-page"
    WRONG = "download-hash"


HINTS: dict[Kind, str] = {
    Kind.FAILED: "Check the network; `weir network` shows the proxy and the mirrors in force.",
    Kind.CERTIFICATE: "If a company's proxy stands between, name its certificate: "
    "`weir network --set ca=FILE.pem`, or SSL_CERT_FILE. Check the machine's date too.",
    Kind.PROXY: "`weir network` shows which proxy is used and who named it. Renew its user name "
    "and password there, or go out directly with `weir network --set proxy=direct`.",
    Kind.LOGIN: "This network wants a login first (as in hotels), or a proxy shows its own page: "
    "open any page in a browser, log in, and run it again.",
    Kind.WRONG: "Run it again; if it repeats, a proxy or mirror replaces the file: choose another "
    "one.",
}


class Fault(Exception):
    """One try failed."""

    def __init__(
        self,
        reason: str,
        *,
        kind: Kind = Kind.FAILED,
        again: bool = False,
        wait_s: float | None = None,
        crowded: bool = False,
        refusal: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind
        self.again = again
        """Whether the same source is worth another try."""
        self.wait_s = wait_s
        """How long the server asks to wait."""
        self.crowded = crowded
        """Whether fewer connections at a time may help."""
        self.refusal = refusal
        """Whether it says no: for good at first, for a moment in the midst of a file."""


class RangesUseless(Exception):
    """The source ignores ranges, or answers with other ones: one stream is all that it can do."""


class FileChanged(Exception):
    """The source has another version of the file than the one that the parts are of."""


_NO_NETWORK = frozenset((errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN))
_STATUS = {
    401: "it wants a user name and a password",
    403: "it refuses the file to this machine",
    404: "it has no such file",
    407: "the proxy wants a user name and a password",
    410: "it has the file no more",
    451: "it may not give the file out here",
    511: "this network wants a login first",
}
_AGAIN = frozenset((408, 421, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524))
"""Statuses that pass; those from 520 on are of a large delivery network."""
_CROWDED = frozenset((403, 429, 503))
_REFUSALS = frozenset((401, 403, 404, 410))


def of_status(status: int, wait_s: float | None) -> Fault:
    """Return what a status that is no answer means."""
    said = _STATUS.get(status)
    if wait_s:
        said = f"{said or 'not now'}, it asks to wait for {wait_s:.0f} s"
    kind = {407: Kind.PROXY, 511: Kind.LOGIN}.get(status, Kind.FAILED)
    return Fault(
        f"the server answered {status}" + (f" ({said})" if said else ""),
        kind=kind,
        again=status in _AGAIN,
        wait_s=wait_s,
        crowded=status in _CROWDED,
        refusal=status in _REFUSALS,
    )


def of_error(error: Exception, url: str, policy: NetworkPolicy) -> Fault:
    """Return what an error of the client means."""
    proxy = policy.proxy_for(url)
    through = f" through the proxy {redacted(proxy.url)}" if proxy is not None else ""
    causes = _causes(error)
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            said = cause.verify_message or "it does not verify"
            return Fault(f"its certificate is not trusted: {said}{through}", kind=Kind.CERTIFICATE)
    match error:
        case httpx.ProxyError():
            return Fault(f"the connection is refused: {error}{through}", kind=Kind.PROXY)
        case httpx.ConnectTimeout():
            words = f"no answer within {policy.connect_s:.0f} s{through}"
            return Fault(words, again=True, crowded=True)
        case httpx.ReadTimeout() | httpx.WriteTimeout():
            return Fault(f"nothing came for {policy.stall_s:.0f} s{through}", again=True)
        case httpx.ConnectError():
            return _unconnected(error, causes, through)
        case httpx.InvalidURL() | httpx.UnsupportedProtocol() | httpx.LocalProtocolError():
            return Fault(str(error))
        case httpx.DecodingError():
            return Fault("what it sends is compressed and broken", again=True)
        case _:
            said = str(error) or type(error).__name__
            return Fault(f"the transfer broke off ({said}){through}", again=True)


def _unconnected(error: Exception, causes: list[BaseException], through: str) -> Fault:
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return Fault(f"its name is not known here ({cause.strerror}){through}", refusal=True)
        if isinstance(cause, OSError) and cause.errno in _NO_NETWORK:
            return Fault(f"there is no way to it ({cause.strerror}){through}", refusal=True)
        if isinstance(cause, ssl.SSLError):
            return Fault(f"no secure connection ({cause.reason or cause}){through}")
    return Fault(f"no connection ({error}){through}", again=True, crowded=True)


def _causes(error: BaseException) -> list[BaseException]:
    """Return the error and all that lie under it."""
    found: list[BaseException] = []
    inner: BaseException | None = error
    while inner is not None and inner not in found:
        found.append(inner)
        if isinstance(inner, BaseExceptionGroup):
            found += [one for one in inner.exceptions if one not in found]
        inner = inner.__cause__ or inner.__context__
    return found
