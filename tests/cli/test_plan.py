"""`weir plan` and `weir presets make`: what goes to the service, and what is shown."""

import io
from pathlib import Path

import httpx
import msgspec
import pytest

from studio.cli.console import Console
from studio.cli.main import run
from studio.control.client import PREFIX, ControlClient
from studio.domain.errors import ErrorInfo, ServiceUnreachable
from studio.domain.plans import MadePreset, MakeRequest, Plan, PlanRequest
from tests.cli.plan_samples import FITS, FITS_NOT


class _Offline:
    """No service runs; this process answers."""

    def __init__(self, answer: msgspec.Struct, status: int = 200) -> None:
        self.asked: list[tuple[str, bytes]] = []
        self._answer = answer
        self._status = status

    async def connect(self, *, start: bool, hold: bool) -> ControlClient:
        assert not start
        assert not hold
        raise ServiceUnreachable("service-not-running", "No service runs.")

    def offline(self, host: str | None = None) -> ControlClient:
        assert host is None

        def answer(request: httpx.Request) -> httpx.Response:
            self.asked.append((request.url.path.removeprefix(PREFIX), request.content))
            return httpx.Response(self._status, content=msgspec.json.encode(self._answer))

        return ControlClient("http://here", "token", transport=httpx.MockTransport(answer))


def weir(connector: _Offline, *words: str) -> tuple[int, str, str]:
    """Run one command line."""
    out, err = io.StringIO(), io.StringIO()
    status = run(words, connector, Console(out, err, json="--json" in words, environ={}))
    return status, out.getvalue(), err.getvalue()


def test_a_plan_needs_no_service_and_is_an_answer_whatever_it_says() -> None:
    """Exit status 0: the question was answered; scripts read the verdict."""
    status, out, _ = weir(_Offline(FITS_NOT), "plan", "27b-dflash2")

    assert status == 0
    assert out.startswith("`27b-dflash2` does not fit: No NVIDIA driver")


def test_the_document_has_the_keys_that_programs_rely_on() -> None:
    """Stable within a schema version."""
    _, out, _ = weir(_Offline(FITS), "plan", "27b-dflash2", "--json")

    keys = set(msgspec.json.decode(out, type=dict[str, object]))
    assert {
        "verdict", "pool_tokens", "pool_tokens_error", "resident_requests", "ledger",
        "reductions", "reasons",
    } <= keys  # fmt: skip
    assert msgspec.json.decode(out, type=Plan) == FITS


def test_what_was_typed_goes_to_the_service_with_whole_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service runs elsewhere on the disk."""
    monkeypatch.chdir(tmp_path)
    connector = _Offline(FITS)

    weir(
        connector, "plan", "--model", "mödel", "--engine", "vllm-0.26.0", "--set", "tp=2",
        "--rate", "10", "--allow-spill",
    )  # fmt: skip

    ((path, body),) = connector.asked
    assert path == "/plan"
    assert msgspec.json.decode(body, type=PlanRequest) == PlanRequest(
        model=str(tmp_path / "mödel"),
        engine="vllm-0.26.0",
        overrides={"tp": "2"},
        allow_spill=True,
        download_bytes_per_s=10_000_000.0,
    )


def test_an_error_is_words_and_a_status() -> None:
    """As for every command."""
    error = ErrorInfo(code="preset-unknown", message="There is no preset `x`.", exit_status=3)

    status, _, err = weir(_Offline(error, 404), "plan", "x")

    assert status == 3
    assert "There is no preset `x`." in err


def test_a_made_preset_says_where_it_lies_and_how_it_starts(tmp_path: Path) -> None:
    """And what to know about the model."""
    made = MadePreset(id="mine", path="/p/mine.toml", plan=FITS, notes=("It has no tokenizer.",))
    connector = _Offline(made)

    status, out, _ = weir(connector, "presets", "make", str(tmp_path), "--id", "mine")

    assert status == 0
    assert "Start it with `weir up mine`." in out
    assert "  - It has no tokenizer." in out
    ((path, body),) = connector.asked
    assert path == "/presets/make"
    assert msgspec.json.decode(body, type=MakeRequest) == MakeRequest(
        folder=str(tmp_path), id="mine"
    )


def test_a_made_preset_as_a_document() -> None:
    """Programs get the id, the file and the plan."""
    made = MadePreset(id="mine", path="/p/mine.toml", plan=FITS)

    _, out, _ = weir(_Offline(made), "presets", "make", "/m", "--json")

    assert msgspec.json.decode(out, type=MadePreset) == made
