"""What a server's answer to a request for (a part of) a file says; decided from its head alone."""

import email.utils
import re

import httpx
import msgspec

from studio.host.network import redacted
from studio.host.transfer.faults import Fault, Kind, RangesUseless, of_status
from studio.host.transfer.spans import Span

OK = 200
_PARTIAL = 206
_RANGE_WRONG = 416
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
_NO_RANGE = re.compile(r"bytes \*/(\d{1,18})")
_RATE_LIMIT = re.compile(r"r\s*=\s*0\s*;\s*t\s*=\s*(\d{1,9})")
_TOO_MANY = 429
_LEAST_PART = 64 << 10
"""A server may send less than was asked for, but not a byte at a time."""
_PAGES = ("text/html", "application/xhtml")
_PAGE_NAMES = (".html", ".htm", ".xhtml")
_PACKED_NAMES = (".gz", ".tgz")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A body is about to come."""

    start: int
    end: int | None
    """Where it ends; None: with the stream."""
    total: int | None
    """Size of the whole file; None: not said."""
    is_whole: bool
    """The whole file, from its beginning."""
    decode: bool = False
    """Compressed for the way only: it has to be unpacked to be the file."""
    validator: str | None = None


class Empty(msgspec.Struct, frozen=True, kw_only=True):
    """There is no such range: the file has `total` bytes, where the server says so."""

    total: int | None


def judge(
    response: httpx.Response, asked: Span | None, name: str, expected: int | None
) -> Answer | Empty:
    """Return what comes. `asked` is the range that was asked for, `expected` the known size.

    Raises: Fault, RangesUseless.
    """
    status = response.status_code
    if status == _RANGE_WRONG and asked is not None:
        found = _NO_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        return Empty(total=int(found[1]) if found else None)
    if status not in (OK, _PARTIAL):
        raise of_status(status, wait_s(response))
    _refuse_page(response, name)
    if status == _PARTIAL:
        return _part(response, asked)
    return _whole(response, name, expected)


def validator_of(response: httpx.Response) -> str | None:
    """Return what tells versions of the file apart: its ETag, else its time of change."""
    return response.headers.get("ETag") or response.headers.get("Last-Modified") or None


def may_be_conditional(validator: str) -> bool:
    """Return whether a range may be asked for on condition of it (RFC 9110, 13.1.5)."""
    return not validator.startswith("W/")


def _part(response: httpx.Response, asked: Span | None) -> Answer:
    if asked is None:
        raise Fault("it sends a part where the whole was asked for")
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if found is None or _encoding(response):
        raise RangesUseless
    start, last, total = (int(text) for text in found.groups())
    end = min(asked[1], total)
    is_crumb = last + 1 < end and last + 1 - start < _LEAST_PART
    if start != asked[0] or not start <= last < end or is_crumb:
        raise RangesUseless
    return Answer(
        start=start, end=last + 1, total=total, is_whole=False, validator=validator_of(response)
    )


def _whole(response: httpx.Response, name: str, expected: int | None) -> Answer:
    length = _length(response)
    decode = _is_packed_for_the_way(response, name, expected, length)
    return Answer(
        start=0,
        end=None if decode else length,
        total=None if decode else length,
        is_whole=True,
        decode=decode,
        validator=None if decode else validator_of(response),
    )


def _is_packed_for_the_way(
    response: httpx.Response, name: str, expected: int | None, length: int | None
) -> bool:
    """Tell a body that was compressed against our wish from a packed file with a wrong label.

    Servers label `.tar.gz` files as a compression of the way, with the file's own size.
    """
    if not _encoding(response):
        return False
    if expected is not None and length is not None:
        return length != expected
    return not name.lower().endswith(_PACKED_NAMES)


def _encoding(response: httpx.Response) -> str:
    found: str = response.headers.get("Content-Encoding", "").strip().lower()
    return "" if found == "identity" else found


def _length(response: httpx.Response) -> int | None:
    if "chunked" in response.headers.get("Transfer-Encoding", "").lower():
        return None
    text = response.headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _refuse_page(response: httpx.Response, name: str) -> None:
    kind = response.headers.get("Content-Type", "").strip().lower()
    if kind.startswith(_PAGES) and not name.lower().endswith(_PAGE_NAMES):
        raise Fault(
            "a login page answered in place of the file, or another page for people "
            f"({redacted(str(response.url))})",
            kind=Kind.LOGIN,
        )


def wait_s(response: httpx.Response) -> float | None:
    """Return how long the server asks to wait (RFC 9110, 10.2.3).

    A moment is compared with the server's own clock: this machine's may be wrong or jump. Hugging
    Face says it in another header (draft-ietf-httpapi-ratelimit-headers-09, as huggingface_hub).
    """
    limit = _RATE_LIMIT.search(response.headers.get("RateLimit", ""))
    if limit is not None and response.status_code == _TOO_MANY:
        return float(limit[1])
    text = response.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        until = email.utils.parsedate_to_datetime(text)
        now = email.utils.parsedate_to_datetime(response.headers.get("Date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        return None
