"""The network policy as text: nothing left out, nothing broken that is to be copied."""

import msgspec
import pytest

from studio.cli.network_text import report_text
from tests.cli.network_samples import REPORT


@pytest.mark.parametrize("width", [40, 80, 200])
def test_all_of_it_is_said(width: int) -> None:
    """Also on a narrow terminal."""
    text = " ".join(report_text(REPORT, width).split())

    for said in (
        "http://proxy.test:3128 (with a password), by pip", "a.test, 10.0.0.0/8",
        "/etc/company.pem, by SSL_CERT_FILE", "not used, it does not exist", "/me.pem",
        "https://b.test/ before https://a.test/", "https://index.test/simple",
        "https://more.test/simple", "/mnt/wheels", "4 parts", "10.0 s", "30.0 s", "5 tries",
        "/home/me/network.json", "/home/me/cache/downloads", "A note.",
    ):  # fmt: skip
        assert said in text


def test_lines_keep_to_the_width() -> None:
    """Only what has no blank may be longer."""
    long = [line for line in report_text(REPORT, 60).splitlines() if len(line) > 60]

    assert long == []


def test_nothing_set_is_said_too() -> None:
    """An empty line would leave open whether it was looked at."""
    empty = msgspec.structs.replace(
        REPORT, proxies=(), mirrors=(), package_index=None, offline=True, offline_source="X"
    )

    text = " ".join(report_text(empty).split())

    assert "switched off by X" in text
    assert "none: everything is reached directly" in text
    assert "the installer's own index" in text
