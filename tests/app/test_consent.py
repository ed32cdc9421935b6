"""When a download wants a yes."""

import pytest

from studio.app.consent import ASK_ABOVE_BYTES, ask
from studio.domain.errors import NeedsConsent


def test_a_large_download_wants_a_yes_and_says_its_sizes() -> None:
    """A terminal asks with them, a program reads them."""
    with pytest.raises(NeedsConsent) as caught:
        ask("It", ASK_ABOVE_BYTES + 1, 7, consent=False)

    assert caught.value.code == "large-download"
    assert caught.value.data == {
        "what": "It",
        "download_bytes": ASK_ABOVE_BYTES + 1,
        "disk_bytes": 7,
    }


def test_small_and_agreed_ones_go_on() -> None:
    """A question that is always answered with yes is no question."""
    ask("It", ASK_ABOVE_BYTES, None, consent=False)
    ask("It", ASK_ABOVE_BYTES * 9, None, consent=True)
