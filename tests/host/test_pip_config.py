"""pip's settings as uv is told them: the machine's own sources must be honoured."""

import os
from pathlib import Path

import pytest

from studio.domain.errors import BadInput
from studio.host import pip_config
from studio.host.pip_config import PackageSources, read_sources, uv_settings

BASE = ["--index-strategy", "unsafe-best-match"]


def config(path: Path, text: str) -> Path:
    """Write a configuration file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_places_are_separated_by_blanks_or_lines(tmp_path: Path) -> None:
    """pip splits at both; a place that is lost makes an installation fail on a closed network."""
    file = config(
        tmp_path / "pip.conf",
        "[global]\nextra-index-url = http://a/simple http://b/simple\nfind-links =\n  /x\n  /y\n",
    )

    sources = read_sources({}, files=[file])

    assert sources.extra_index_urls == ("http://a/simple", "http://b/simple")
    assert sources.find_links == ("/x", "/y")


def test_the_stronger_place_wins(tmp_path: Path) -> None:
    """Global, then user, then `[install]`, then the environment: pip's own order."""
    first = config(tmp_path / "a", "[global]\nindex-url = http://one\ncert = /one\nproxy = one:1\n")
    second = config(
        tmp_path / "b", "[install]\nindex_url = http://three\n[global]\nindex-url = http://two\n"
    )

    sources = read_sources({"PIP_CERT": "/four"}, files=[first, second])

    assert (sources.index_url, sources.cert, sources.proxy) == ("http://three", "/four", "one:1")


def test_all_of_pips_files_are_known(tmp_path: Path) -> None:
    """A company puts its index into the global file, a person into the user's."""
    environ = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_DIRS": f"{tmp_path}/strong:{tmp_path}/weak",
        "PIP_CONFIG_FILE": str(tmp_path / "named.conf"),
    }

    files = pip_config.config_files(environ)

    assert files[0] == tmp_path / "weak" / "pip" / "pip.conf"
    assert files[1] == tmp_path / "strong" / "pip" / "pip.conf"
    assert tmp_path / ".pip" / "pip.conf" in files
    assert tmp_path / ".config" / "pip" / "pip.conf" in files
    assert files[-1] == tmp_path / "named.conf"


def test_no_file_is_read_when_pip_is_told_so() -> None:
    """`PIP_CONFIG_FILE=/dev/null` is pip's own way to say: none."""
    assert pip_config.config_files({"PIP_CONFIG_FILE": os.devnull}) == ()


def test_a_file_that_is_no_configuration_is_named(tmp_path: Path) -> None:
    """pip stops at such a file too; a silent skip would ask the wrong index."""
    file = config(tmp_path / "pip.conf", "find-links = /x\n")

    with pytest.raises(BadInput) as caught:
        read_sources({}, files=[file])

    assert caught.value.code == "pip-config-invalid"
    assert str(file) in caught.value.message


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("TRUE", True), ("no", False)])
def test_no_index_is_read_as_pip_reads_it(value: str, *, expected: bool) -> None:
    """A machine without network says so with this setting."""
    assert read_sources({"PIP_NO_INDEX": value}, files=()).no_index is expected


def test_folders_that_do_not_exist_are_left_out(tmp_path: Path) -> None:
    """pip passes them over; uv would stop at the first one."""
    here = tmp_path / "räder, alle"
    here.mkdir()
    sources = PackageSources(find_links=(str(here), str(tmp_path / "gone"), here.as_uri()))

    arguments, _variables = uv_settings(sources, {})

    assert arguments == [*BASE, "--find-links", here.as_uri(), "--find-links", here.as_uri()]
    assert "," not in here.as_uri()


def test_addresses_stay_off_the_command_line(tmp_path: Path) -> None:
    """They may hold a password, and every local user can read a command line."""
    sources = PackageSources(
        index_url="https://me:secret@mirror/simple",
        extra_index_urls=("https://me:secret@more/simple", (tmp_path / "gone").as_uri()),
        find_links=("https://me:secret@pages/",),
    )

    arguments, variables = uv_settings(sources, {})

    assert "secret" not in " ".join(arguments)
    assert variables["UV_DEFAULT_INDEX"] == "https://me:secret@mirror/simple"
    assert variables["UV_EXTRA_INDEX_URL"] == "https://me:secret@more/simple"
    assert variables["UV_FIND_LINKS"] == "https://me:secret@pages/"


def test_uvs_own_variables_win(tmp_path: Path) -> None:
    """Who has set up uv has done so on purpose."""
    sources = PackageSources(
        index_url="http://pip/simple",
        extra_index_urls=("http://pip-extra/simple",),
        find_links=(str(tmp_path),),
        trusted_hosts=("pip",),
    )
    environ = {
        "UV_DEFAULT_INDEX": "http://uv/simple",
        "UV_EXTRA_INDEX_URL": "http://uv-extra/simple",
        "UV_FIND_LINKS": "/uv",
        "UV_INSECURE_HOST": "uv",
    }

    arguments, variables = uv_settings(sources, environ, extra_indexes=("http://ours",))

    assert arguments == BASE
    assert variables["UV_DEFAULT_INDEX"] == "http://uv/simple"
    assert variables["UV_EXTRA_INDEX_URL"] == "http://uv-extra/simple http://ours"


def test_settings_that_change_what_is_installed_are_dropped() -> None:
    """A lock is exact: an override or a lax hash rule of the person's would break it."""
    environ = {
        "UV_OVERRIDE": "/o",
        "UV_CONSTRAINT": "/c",
        "UV_NO_VERIFY_HASHES": "1",
        "UV_PYTHON": "3.9",
        "UV_CACHE_DIR": "/theirs",
        "UV_HTTP_TIMEOUT": "90",
        "UV_INDEX_WORK_PASSWORD": "secret",
    }

    _arguments, variables = uv_settings(PackageSources(), environ)

    assert variables == {
        "UV_HTTP_TIMEOUT": "90",
        "UV_INDEX_WORK_PASSWORD": "secret",
    }


def test_trusted_hosts_are_handed_over() -> None:
    """A person's own mirror, known to pip as one without a certificate."""
    arguments, _variables = uv_settings(PackageSources(trusted_hosts=("box", "box2")), {})

    assert arguments == [*BASE, "--allow-insecure-host", "box", "--allow-insecure-host", "box2"]
