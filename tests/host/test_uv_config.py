"""uv's own file: only what the Studio's downloads need, and never a reason to fail."""

from pathlib import Path

import pytest

from studio.host.uv_config import UvFile, read


def test_the_persons_file_wins_over_the_machines(tmp_path: Path) -> None:
    """As uv reads them."""
    for name, proxy in (("config", "http://mine:1"), ("shared", "http://shared:1")):
        (tmp_path / name / "uv").mkdir(parents=True)
        (tmp_path / name / "uv" / "uv.toml").write_text(f'https-proxy = "{proxy}"\noffline = true')
    environ = {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CONFIG_DIRS": str(tmp_path / "shared"),
    }

    found = read(environ)

    assert found.https_proxy == "http://mine:1"
    assert found.offline is True
    assert read({**environ, "XDG_CONFIG_HOME": "/none"}).https_proxy == "http://shared:1"
    assert read({**environ, "UV_NO_CONFIG": "1"}) == UvFile()


def test_exceptions_may_be_a_list(tmp_path: Path) -> None:
    """uv takes both forms."""
    file = tmp_path / "mine.toml"
    file.write_text('no-proxy = ["a", "b"]\n[pip]\nindex-url = "x"\n')

    assert read({"UV_CONFIG_FILE": str(file)}).no_proxy == "a,b"


@pytest.mark.parametrize("text", ["not toml", "offline = 3", b"\xff\xfe"])
def test_a_file_that_cannot_be_read_says_nothing(tmp_path: Path, text: str | bytes) -> None:
    """uv itself will complain about it, in its own words."""
    file = tmp_path / "uv.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)

    assert read({"UV_CONFIG_FILE": str(file)}) == UvFile()
