"""What is said about downloads: strict where people write it, silent about tokens."""

import msgspec
import pytest

from studio.domain.downloads import (
    DownloadInfo,
    DownloadKind,
    DownloadState,
    GetRequest,
    HubName,
    LimitRequest,
    LoginRequest,
)

SECRET = "hf_a_token_that_nobody_else_may_see"


def test_a_login_never_shows_its_token() -> None:
    """Requests are written into logs and tracebacks."""
    request = LoginRequest(hub=HubName.MODEL_SCOPE, token=SECRET)

    assert SECRET not in f"{request!r} {request} {[request]}"
    assert "modelscope" in repr(request)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (GetRequest, b'{"repository": "a/b", "includes": ["*"]}'),
        (GetRequest, b'{"repository": "a/b", "hub": "github"}'),
        (GetRequest, b'{"repository": null}'),
        (GetRequest, b"{}"),
        (LimitRequest, b'{"bytes_per_s": "fast"}'),
        (LimitRequest, b'{"limit": 5}'),
        (LoginRequest, b'{"hub": "github"}'),
        (LoginRequest, b'{"tokens": "x"}'),
    ],
)
def test_a_wish_with_a_slip_is_refused(kind: type, text: bytes) -> None:
    """A misspelt `include` would fetch 130 GB."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=kind)


def test_what_is_not_known_is_not_zero() -> None:
    """A bar at 0 of 0 bytes reads as finished or broken."""
    info = DownloadInfo(id="1", kind=DownloadKind.MODEL, title="a/b", state=DownloadState.QUEUED)

    unknown = (info.done_bytes, info.total_bytes, info.rate, info.left_s, info.error)
    assert set(unknown) == {None}


def test_the_same_wish_is_equal_after_a_journey() -> None:
    """The queue joins equal wishes; one read from its file has to be equal too."""
    request = GetRequest(repository="a/b", include=("*.json", "naïve/"), into="/tmp/ünser Mappe")

    again = msgspec.json.decode(msgspec.json.encode(request), type=GetRequest)

    assert again == request
    assert again.update is False
