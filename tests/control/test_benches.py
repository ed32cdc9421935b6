"""The calls about the bench, over the router."""

import json
from pathlib import Path
from typing import Any

import pytest

from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.benchmark.shelf import Shelf
from studio.control.router import Router
from studio.control.transport import PREFIX
from studio.host.paths import Paths, bundled_root
from tests.benchmark.samples import part, result


async def _down() -> None:
    return


@pytest.fixture
def home(tmp_path: Path) -> Paths:
    """Return a home with two runs."""
    paths = Paths(home=tmp_path / "höme", catalogue=bundled_root())
    shelf = Shelf(paths.bench)
    shelf.put(result(part(), id="20261129-100000"))
    shelf.put(result(part(decode_tokens_per_s=60.0), id="20261129-110000", at="2026-11-29T11:00"))
    return paths


async def ask(
    home: Paths, method: str, path: str, query: str = "", body: bytes = b""
) -> tuple[int, Any]:
    """Return status and document of one call."""
    router = Router(Studio(Parts(home)), down=_down)
    status, answer = await router.answer(method, PREFIX + path, query, body)
    return status, json.loads(answer)


async def test_runs_are_listed_shown_compared_and_removed(home: Paths) -> None:
    """All that a window needs, too."""
    status, listed = await ask(home, "GET", "/bench/runs")
    assert status == 200
    assert [one["id"] for one in listed["runs"]] == ["20261129-100000", "20261129-110000"]
    assert (await ask(home, "GET", "/bench/runs", "preset=none"))[1]["runs"] == []

    _, shown = await ask(home, "GET", "/bench/runs/last")
    assert shown["result"]["id"] == "20261129-110000"
    kinds = [one["against"] for one in shown["comparisons"]]
    assert kinds[0] == "earlier"
    assert "published" in kinds

    _, compared = await ask(
        home, "GET", "/bench/runs/20261129-100000/compare", "other=20261129-110000"
    )
    assert compared["differences"][0]["verdict"] == "better"

    assert (await ask(home, "POST", "/bench/runs/last/remove"))[1] == {"ids": ["20261129-110000"]}
    assert (await ask(home, "GET", "/bench/runs/20261129-110000"))[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/bench", b"{}", 409, "bench-engine-not-serving"),
        ("POST", "/bench", b'{"fast": true}', 400, "request-invalid"),
        ("POST", "/bench", b'{"only": ["all"]}', 400, "request-invalid"),
        ("GET", "/bench/runs/20261129-100000/compare", b"", 400, "request-invalid"),
        ("GET", "/bench/runs/nothing", b"", 404, "bench-unknown"),
        ("GET", "/bench/runs/2026", b"", 400, "bench-ambiguous"),
        ("PUT", "/bench/runs/last", b"", 400, "method-not-allowed"),
    ],
)
async def test_what_cannot_be_done_is_said(
    home: Paths, method: str, path: str, body: bytes, status: int, code: str
) -> None:
    """With the code that programs rely on."""
    found, document = await ask(home, method, path, body=body)

    assert document["code"] == code
    assert found in (status, 405)


async def test_a_bench_that_does_not_run_says_so(home: Paths) -> None:
    """Asking and stopping are no errors."""
    assert (await ask(home, "GET", "/bench"))[1] == {"progress": None}
    assert (await ask(home, "POST", "/bench/stop"))[1] == {"was_running": False}
