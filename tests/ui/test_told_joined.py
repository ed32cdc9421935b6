"""Sentences that code joins from parts, in Chinese from their first word to their last.

Each piece may be in the catalogue while the whole is not: so wholes are made here as they are made
for a person.
"""

import itertools
import re
import ssl
from pathlib import Path

import httpx
import pytest

from studio.domain.errors import ErrorInfo
from studio.domain.metrics import EngineSample
from studio.domain.speed import PROCESSOR, SpeedFigure, SpeedMeasured, SpeedSteps
from studio.domain.units import GIB, MIB
from studio.host.network import NetworkPolicy, Proxy
from studio.host.transfer.faults import of_error, of_status
from studio.host.transfer.wanted import Failure, Wanted, unreachable
from studio.monitor.verdict import verdict
from studio.serving import deaths
from studio.serving.liveness import Liveness
from studio.serving.pool_change import why
from studio.ui import told
from studio.ui.told import Told
from tests.serving.boot_samples import record

PROXIED = NetworkPolicy(proxies={"https": Proxy(url="http://127.0.0.1:1", source="TEST")})
ADDRESS = "https://files.test/a"
NAMES = re.compile(
    r"`[^`]*`|https?://\S+|tok/s|sha256|token|max|min|[Mm]iB|GiB|Studio|Python|PyTorch|CUDA|WSL|KV|auto|true|[A-Z]{2,}_[A-Z_]+"
)


@pytest.fixture(scope="module")
def chinese() -> Told:
    """Return the shipped sentences."""
    return told.read(Path(__file__).resolve().parents[2] / "assets/locale/zh_CN")


def english(text: str) -> list[str]:
    """Return the English words of a text, names and units left out."""
    return re.findall(r"[A-Za-z]{3,}", NAMES.sub("", text))


def untrusted() -> ssl.SSLCertVerificationError:
    """Return what a certificate that nobody knows makes."""
    error = ssl.SSLCertVerificationError()
    error.verify_message = ""
    return error


FIGURES = [
    SpeedFigure(
        decode_tokens_per_s=100.0,
        tokens_per_step=tokens,
        step_s=None if tokens is None else tokens / 100.0,
        steps_of=steps_of,
        before_tokens_per_s=before,
        is_published=is_published,
        card=card,
        power_w=power_w,
        source="test",
    )
    for tokens, steps_of, before, is_published, card, power_w in itertools.product(
        (None, 3.0), SpeedSteps, (None, 90.0), (True, False), ("RTX 3090", PROCESSOR), (None, 250.0)
    )
]


@pytest.mark.parametrize("decode", [50.0, 99.0, 150.0])
@pytest.mark.parametrize("tokens", [None, 1.5, 3.0])
@pytest.mark.parametrize("step_s", [None, 0.02, 0.05])
def test_what_a_speed_is_worth(
    decode: float, tokens: float | None, step_s: float | None, chinese: Told
) -> None:
    """It stands beside the speed, on the first page."""
    measured = SpeedMeasured(
        seconds=60.0,
        requests=1,
        decode_tokens_per_s=decode,
        tokens_per_step=tokens,
        step_s=step_s,
        context_tokens=1_000,
    )

    said = {verdict(measured, one, drafts).sentence for one in FIGURES for drafts in (None, 7)}

    assert {one: chinese.say(one) for one in said if english(chinese.say(one))} == {}


@pytest.mark.parametrize(
    "measured",
    [
        SpeedMeasured(),
        SpeedMeasured(seconds=20.0, requests=3, decode_tokens_per_s=9.0),
        SpeedMeasured(seconds=20.0, requests=3, decode_tokens_per_s=9.0, context_tokens=50_000),
    ],
)
@pytest.mark.parametrize("figure", [None, FIGURES[0]])
def test_why_a_speed_is_not_judged(
    measured: SpeedMeasured, figure: SpeedFigure | None, chinese: Told
) -> None:
    """One condition, or several behind each other."""
    assert english(chinese.say(verdict(measured, figure).sentence)) == []


@pytest.mark.parametrize("sign", [1, -1])
def test_why_the_pool_is_another_one(sign: int, chinese: Told) -> None:
    """Every part of the sum, in both directions."""
    was = record(
        pool_tokens=500_000,
        is_cold=sign < 0,
        kv_bytes=32 * GIB,
        weights_bytes=50 * GIB,
        activation_peak_bytes=9 * GIB,
        non_torch_bytes=9 * GIB,
        graph_pool_bytes=9 * GIB,
        held_bytes=9 * GIB,
        driver="580.1",
        settings={"dtype": "auto"},
        without_graph_estimate=sign < 0,
    )
    now = record(
        pool_tokens=500_000 - sign * 811,
        is_cold=sign > 0,
        kv_bytes=(32 - sign) * GIB,
        weights_bytes=(50 + sign) * GIB,
        activation_peak_bytes=(9 + sign) * GIB,
        non_torch_bytes=(9 + sign) * GIB,
        graph_pool_bytes=9 * GIB + sign * 700 * MIB,
        held_bytes=(9 + sign) * GIB,
        driver="590.2",
        settings={"enforce_eager": True},
        without_graph_estimate=sign > 0,
    )

    said = why(was, now)

    assert len(said) == 11
    assert {one: chinese.say(one) for one in said if english(chinese.say(one))} == {}


def test_nothing_that_explains_the_pool_is_said_too(chinese: Told) -> None:
    """The engine said too little."""
    said = why(record(pool_tokens=500_000), record(pool_tokens=400_000))

    assert [english(chinese.say(one)) for one in said] == [[], []]


@pytest.mark.parametrize("running", [0.0, 1.0, 3.0])
def test_an_engine_that_stands_still(running: float, chinese: Told) -> None:
    """The error, and the note before it becomes one."""
    seen = Liveness(30.0)
    for second in range(100):
        seen.read(float(second), EngineSample(running=running) if running else None, 0)

    error = deaths.standstill("cpu-demo", seen)

    assert english(chinese.say(error.message)) == []
    assert english(chinese.say(error.hint or "")) == []


def test_an_engine_that_died_too_often(chinese: Told) -> None:
    """With the cause of its last death inside."""
    last = ErrorInfo(code="engine-died", message="The engine ended and left no word.")

    assert english(chinese.say(deaths.brake(last).message)) == []


@pytest.mark.parametrize("status", [401, 403, 404, 407, 410, 418, 451, 503, 511])
@pytest.mark.parametrize("wait_s", [None, 30.0])
def test_what_a_server_refuses(status: int, wait_s: float | None, chinese: Told) -> None:
    """It is the reason inside the sentence about the file."""
    reason = of_status(status, wait_s).reason

    assert english(chinese.say(reason)) == []


@pytest.mark.parametrize("policy", [NetworkPolicy(), PROXIED])
@pytest.mark.parametrize(
    "error",
    [
        untrusted(),
        httpx.ConnectTimeout(""),
        httpx.ReadTimeout(""),
        httpx.ConnectError("!"),
        httpx.DecodingError(""),
        httpx.ReadError("!"),
        httpx.ProxyError("!"),
    ],
)
@pytest.mark.parametrize("sources", [1, 2, 3])
def test_a_file_that_cannot_be_had(
    error: Exception, policy: NetworkPolicy, sources: int, chinese: Told, tmp_path: Path
) -> None:
    """Cause, proxy, other sources, and what to bring by hand."""
    failure = Failure(shown=ADDRESS, fault=of_error(error, ADDRESS, policy))

    found = unreachable(Wanted(url=ADDRESS, bytes=5), Path("/srv/m"), [failure] * sources)

    assert english(chinese.say(found.message)) == []
    assert english(chinese.say(found.hint or "").replace("srv", "")) == []
