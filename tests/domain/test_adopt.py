"""A request that holds somebody else's key."""

from studio.domain.adopt import AdoptRequest


def test_the_key_does_not_show_when_the_request_does() -> None:
    """Records are printed by logs and by failed assertions."""
    request = AdoptRequest(url="http://h:1", key="s3cret", name="n")

    assert "s3cret" not in repr(request)
    assert "s3cret" not in f"{request}"
    assert "http://h:1" in repr(request)
