"""Packages by the real uv, from wheel folders made here; no network is used."""

import functools
import http.server
import os
import sys
import threading
import tomllib
from pathlib import Path

import pytest

from studio.domain.errors import Damaged, HostLacks, NetworkFailure
from studio.domain.network import NetworkSettings
from studio.host import process, uv
from studio.host.network import policy_of
from studio.host.pip_config import read_sources
from studio.host.uv_config import UvFile
from tests.fakes import hostile
from tests.fakes.wheels import make_wheel

CASES = tomllib.loads((Path(__file__).parents[1] / "data/uv/failures.toml").read_text("utf-8"))
PYTHON = Path(sys.executable)


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep this machine's own package sources out, and every index out of reach."""
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


def request(tmp_path: Path, *lines: str, **changes: object) -> uv.PackageRequest:
    """Return a request to install the requirement lines into a folder."""
    requirements = tmp_path / "wanted.txt"
    requirements.write_text("\n".join(lines) + "\n")
    given = {
        "python": PYTHON,
        "requirements": requirements,
        "cache": tmp_path / "cache",
        "target": tmp_path / "out",
        "compile_bytecode": False,
        "what": "The packages of Tiny",
    }
    return uv.PackageRequest(**{**given, **changes})


@pytest.mark.parametrize("case", CASES["case"], ids=lambda case: case["name"])
def test_uvs_failures_become_ours(tmp_path: Path, case: dict[str, str]) -> None:
    """The person gets one sentence and what to do; uv's own words are kept as evidence."""
    tail = tuple(case["output"].strip().splitlines())

    error = uv.explain(process.RunResult(exit_code=2, tail=tail), request(tmp_path))

    assert error.code == case["code"]
    assert case["says"] in error.message
    assert error.hint
    assert error.evidence == tail[-16:]


async def test_wheels_in_a_folder_need_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed site; blanks, commas and foreign letters in the folder's name included."""
    folder = tmp_path / "räder, 轮子"
    line = make_wheel(folder, "weirtiny", {"weirtiny/__init__.py": b"X = 1\n"})
    monkeypatch.setenv("PIP_FIND_LINKS", folder.as_uri())

    await uv.install(request(tmp_path, line, compile_bytecode=True))

    assert (tmp_path / "out" / "weirtiny" / "__init__.py").read_bytes() == b"X = 1\n"
    assert list((tmp_path / "out" / "weirtiny" / "__pycache__").glob("*.pyc"))


async def test_bytecode_is_written_whatever_the_person_has_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With PYTHONDONTWRITEBYTECODE in a profile every boot would take twice as long."""
    line = make_wheel(tmp_path / "w", "weirtiny", {"weirtiny/__init__.py": b"X = 1\n"})
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "w"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    await uv.install(request(tmp_path, line, compile_bytecode=True))

    assert list((tmp_path / "out" / "weirtiny" / "__pycache__").glob("*.pyc"))


async def test_the_cache_alone_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after the downloads, gone on without network: nothing is missing."""
    page = tmp_path / "site" / "simple" / "weirtiny"
    line = make_wheel(page, "weirtiny", {"weirtiny/__init__.py": b""})
    (page / "index.html").write_text('<a href="weirtiny-1.0-py3-none-any.whl">weirtiny</a>')
    handler = functools.partial(Quiet, directory=str(tmp_path / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
        await uv.install(request(tmp_path, line))
        server.shutdown()

    await uv.install(request(tmp_path, line, target=tmp_path / "second"))

    assert (tmp_path / "second" / "weirtiny" / "__init__.py").exists()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without talking about it."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


async def test_without_network_the_hint_says_what_to_bring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Precisely which files, and where to put them."""
    line = make_wheel(tmp_path / "w", "weirtiny", {"weirtiny/__init__.py": b""})
    (tmp_path / "w" / "weirtiny-1.0-py3-none-any.whl").unlink()
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "w"))
    wanted = request(tmp_path, line, extra_indexes=("http://127.0.0.1:1/more",))

    with pytest.raises(NetworkFailure) as caught:
        await uv.install(wanted)

    hint = caught.value.hint or ""
    assert caught.value.code == "packages-unreachable"
    assert "pip download --no-deps" in hint
    assert f"--require-hashes -r {wanted.requirements}" in hint
    assert "--extra-index-url http://127.0.0.1:1/more" in hint
    assert "PIP_FIND_LINKS" in hint


async def test_uv_goes_out_as_the_policy_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy that was set for the Studio holds for packages too, and so does no network."""
    line = make_wheel(tmp_path / "w", "weirtiny", {"weirtiny/__init__.py": b""})
    wheel = tmp_path / "w" / "weirtiny-1.0-py3-none-any.whl"
    page = f'<a href="/{wheel.name}">{wheel.name}</a>'.encode()
    monkeypatch.setenv("PIP_INDEX_URL", "http://files.test/simple")
    files = {"/simple/weirtiny/": page, f"/{wheel.name}": wheel.read_bytes()}
    with hostile.serving(files) as far, hostile.serving({}) as proxy:
        far.headers["Content-Type"] = "text/html"
        proxy.always = hostile.proxy_to(far)
        settings = NetworkSettings(proxy=proxy.url(""))
        sources = read_sources()
        out = policy_of(settings, {}, sources, UvFile())
        off = policy_of(NetworkSettings(offline=True), {}, sources, UvFile())

        with pytest.raises(NetworkFailure, match="switched off by the Studio's settings"):
            await uv.install(request(tmp_path, line, policy=off))
        assert proxy.requests == []
        await uv.install(request(tmp_path, line, policy=out))

    assert (tmp_path / "out" / "weirtiny" / "__init__.py").exists()
    assert [one.target for one in proxy.requests][:1] == ["http://files.test/simple/weirtiny/"]


async def test_a_changed_wheel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that does not hold the bytes is no lock."""
    line = make_wheel(tmp_path / "w", "weirtiny", {"weirtiny/__init__.py": b"GOOD = 1\n"})
    make_wheel(tmp_path / "w", "weirtiny", {"weirtiny/__init__.py": b"EVIL = 1\n"})
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "w"))

    with pytest.raises(Damaged) as caught:
        await uv.install(request(tmp_path, line))

    assert caught.value.code == "package-hash"
    assert not (tmp_path / "out" / "weirtiny").exists()


async def test_half_a_wheel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that was interrupted, on a stick or a share."""
    line = make_wheel(tmp_path / "w", "weirtiny", {"weirtiny/data": bytes(50_000)})
    wheel = tmp_path / "w" / "weirtiny-1.0-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes()[:20_000])
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "w"))

    with pytest.raises(Damaged) as caught:
        await uv.install(request(tmp_path, line))

    assert caught.value.code == "package-hash"


def test_a_folder_is_searched_as_pip_names_wheels(tmp_path: Path) -> None:
    """Names come with dashes, dots and capitals; local versions with a plus."""
    for name in ("Torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl", "zope.x-1-py3-none-any.whl"):
        (tmp_path / name).touch()
    lock = tmp_path / "lock"

    assert uv.holds_wheel([tmp_path], "torch")
    assert uv.holds_wheel([tmp_path], "zope-x")
    assert not uv.holds_wheel([tmp_path], "torchvision")
    lock.write_text(
        "# all\ntorch==2.13.0+cpu \\\n    --hash=sha256:0\nzope-x==1 ; python_version > '3'\n"
    )
    assert uv.holds_all([tmp_path], lock)
    lock.write_text("torch==2.13.0 --hash=sha256:0\n")
    assert not uv.holds_all([tmp_path], lock)
    lock.write_text("")
    assert not uv.holds_all([tmp_path], lock)


async def test_an_environment_runs_where_it_was_made(tmp_path: Path) -> None:
    """Homes have blanks and foreign letters in their names."""
    folder = tmp_path / "my python ü"

    await uv.make_venv(PYTHON, folder, cache=tmp_path / "cache")

    result = await process.run(
        [str(folder / "bin" / "python3"), "-I", "-c", "import sys; print(sys.prefix)"],
        env=process.helper_environment(),
        timeout_s=30,
    )
    assert result.tail == (str(folder),)


async def test_a_program_that_is_no_python_is_named(tmp_path: Path) -> None:
    """A broken interpreter must not be reported as a broken network."""
    with pytest.raises(HostLacks) as caught:
        await uv.make_venv(Path("/bin/true"), tmp_path / "python", cache=tmp_path / "cache")

    assert caught.value.code == "venv-failed"
    assert "/bin/true" in caught.value.message
