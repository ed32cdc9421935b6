"""The library inside the service."""

from pathlib import Path

import pytest

from studio.app.library_wiring import hub_cache
from studio.host.paths import Paths
from tests.app.running import fake_paths, running


@pytest.mark.parametrize(
    ("environ", "cache"),
    [
        ({"HF_HUB_CACHE": "/a/hub", "HF_HOME": "/b"}, "/a/hub"),
        ({"HF_HOME": "/b"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/c", "HOME": "/d"}, "/c/huggingface/hub"),
        ({"HOME": "/d"}, "/d/.cache/huggingface/hub"),
    ],
)
def test_the_cache_is_where_huggingface_hub_has_it(environ: dict[str, str], cache: str) -> None:
    """What other programs fetched is found, and what is fetched here is found by them."""
    paths = Paths(home=Path("/home"), catalogue=Path("/catalogue"))

    assert hub_cache(paths, environ) == Path(cache)


async def test_the_model_that_an_engine_serves_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its preset is named, and so is the engine."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with running(paths) as made:
            from studio.domain.control import UpRequest

            (before,) = (await made.studio.library.all()).models
            await made.studio.up(UpRequest(preset="fake-demo", consent=True))
            (after,) = (await made.studio.library.all()).models

    assert (before.name, before.uses, before.in_use_by) == ("fake-model", ("fake-demo",), None)
    assert "the engine (fake-demo" in (after.in_use_by or "")
