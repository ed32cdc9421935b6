"""Fixtures that several folders share."""

import asyncio
import dataclasses
import gc
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import settings

from studio.domain.events import StageProgress
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from tests.fakes.weir import Weir, fake_weir, weir_home

INSTALL_LIMIT_S = 1200.0
REAL_RUNTIME = "cpu-vllm-0.32.0"

settings.register_profile("weir", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("weir")


@pytest.fixture
def weir(tmp_path: Path) -> Iterator[Weir]:
    """Return a `weir` over the fake engine, in a home with a blank and an accent in its name."""
    with fake_weir(tmp_path) as made:
        yield made


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The real engine behind the real service, as `weir up` left it."""

    weir: Weir
    base_url: str
    api_key: str
    result: dict[str, object]


@pytest.fixture(scope="session")
def real_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weir]:
    """Return a `weir` with the shipped catalogue; downloads are cached outside the clone."""
    folder = tmp_path_factory.mktemp("real") / "wéir home"
    person = tmp_path_factory.mktemp("person")
    with weir_home(folder, None, person) as made:
        cache = Path(os.environ.get("WEIR_TEST_CACHE", "~/.cache/weir-studio-tests")).expanduser()
        (cache / "uv").mkdir(parents=True, exist_ok=True)
        made.paths.cache.mkdir(parents=True)
        (made.paths.cache / "uv").symlink_to(cache / "uv")
        yield made
    written = [str(path) for path in person.rglob("*")]
    assert written == [], "after install, boots, kills and the end, $HOME is as empty as before"


def pytest_collection_finish() -> None:
    """Leave thousands of collected tests out of every later look for garbage."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for the real engine is a test of it, whatever is written above it."""
    for item in items:
        if isinstance(item, pytest.Function) and "real_home" in item.fixturenames:
            item.add_marker(pytest.mark.real)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RealRuntime:
    """The shipped runtime for the processor, as it was installed, and what was said meanwhile."""

    weir: Weir
    recipe: RuntimeRecipe
    record: InstalledRuntime
    reports: list[StageProgress]


@pytest.fixture(scope="session")
def real_runtime(real_home: Weir) -> RealRuntime:
    """Return the runtime of `real_home`: the one installation that all share."""
    recipe = Catalog(real_home.paths).recipe(REAL_RUNTIME)
    reports: list[StageProgress] = []
    with mock.patch.dict(os.environ, real_home.environment, clear=True):
        record = asyncio.run(install(recipe, real_home.paths, reports.append))
    return RealRuntime(weir=real_home, recipe=recipe, record=record, reports=reports)


@pytest.fixture(scope="session")
def serving(real_runtime: RealRuntime) -> Iterator[Serving]:
    """Return the demo preset, served by the real engine: installed, booted, one key made."""
    real_home = real_runtime.weir
    result = real_home.json("up", "cpu-demo", "--detach", limit_s=INSTALL_LIMIT_S)
    yield Serving(
        weir=real_home,
        base_url=result["base_url"],
        api_key=result["api_key"],
        result=result,
    )
    real_home.run("down")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RealEngine:
    """The real engine itself, behind no gateway."""

    socket: str
    key: str
    served_name: str


@pytest.fixture(scope="module")
def real_engine(serving: Serving) -> RealEngine:
    """Return the real engine of now; modules whose tests end it ask `engine_of` each time."""
    return engine_of(serving)


def engine_of(serving: Serving) -> RealEngine:
    """Return the socket and the key of the engine of now, read from its own environment."""
    engine = next(row for row in serving.weir.json("ps") if row["role"] == "engine")
    folder = Path(f"/proc/{engine['pid']}")
    argv = folder.joinpath("cmdline").read_bytes().split(b"\0")
    settings = folder.joinpath("environ").read_bytes().split(b"\0")
    key = next(part for part in settings if part.startswith(b"VLLM_API_KEY=")).split(b"=", 1)[1]
    return RealEngine(
        socket=argv[argv.index(b"--uds") + 1].decode(),
        key=key.decode(),
        served_name=str(serving.result["served_name"]),
    )
