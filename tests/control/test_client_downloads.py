"""Where calls about downloads and tokens go."""

from studio.domain.downloads import (
    DownloadDeed,
    GetRequest,
    HubName,
    LimitRequest,
    LoginRequest,
)
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """A repository's name travels as one part of a path; a token never in an address."""
    scope = HubName.MODEL_SCOPE
    await check(
        [
            (lambda c: c.get_model(GetRequest(repository="a/b")), "POST", "/models/get", ""),
            (lambda c: c.downloads(), "GET", "/downloads", ""),
            (lambda c: c.change_download("a/b", DownloadDeed.PAUSE), "POST",
             "/downloads/a%2Fb/pause", ""),
            (lambda c: c.limit_downloads(LimitRequest()), "POST", "/downloads/limit", ""),
            (lambda c: c.hub_login(scope), "GET", "/hubs/login", "hub=modelscope"),
            (lambda c: c.log_in(LoginRequest(token="x")), "POST", "/hubs/login", ""),
        ]
    )  # fmt: skip
