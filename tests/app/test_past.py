"""The history, as the facade sees it."""

import time
from pathlib import Path

import msgspec
import pytest

from studio.app.past import Past
from studio.domain.alarms import Alarm, Severity
from studio.domain.errors import BadInput
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot, EngineState
from studio.monitor.recorder import Recorder


@pytest.fixture
def past(tmp_path: Path) -> Past:
    """Return a history that is empty."""
    return Past(Recorder(tmp_path / "history.db"))


async def kinds(past: Past) -> list[tuple[str, str]]:
    """Return what happened."""
    answer = await past.series([], 0, time.time() + 1_000)
    return [(one.kind.value, one.name) for one in answer.events]


async def test_the_service_the_engine_and_alarms_leave_events(past: Past) -> None:
    """In the order in which they happened; an alarm that holds is told once."""
    await past.open()
    past.hear_engine(EngineSnapshot(state=EngineState.READY, preset="27b-mtp"))
    now = time.time()
    alarm = Alarm(
        code="spill-swap",
        severity=Severity.HARM,
        title="1.8 GiB in swap",
        cause="Too much.",
        since=now,
        raised_at=now,
    )
    over = msgspec.structs.replace(alarm, ended_at=now + 9)
    for told in (alarm, alarm, over, over):
        past.hear_alarm(told)

    assert await kinds(past) == [
        ("service-started", "service"),
        ("boot", "27b-mtp"),
        ("alarm", "spill-swap"),
        ("alarm-ended", "spill-swap"),
    ]
    await past.close()


async def test_words_and_names_are_understood_and_mistakes_are_told(past: Past) -> None:
    """With what was probably meant."""
    await past.open()
    now = time.time()
    for second in range(5):
        past.hear_tick(Tick(at=now - 10 + second, pool_used_tokens=5, decode_tokens_per_s=1.0))

    answer = await past.series(["pool", "decode_tokens_per_s"], now - 60, now)
    assert [one.name for one in answer.series] == ["pool_used_tokens", "decode_tokens_per_s"]
    assert [one.name for one in (await past.series(["power"], now - 60, now)).series] == []
    with pytest.raises(BadInput, match="decode_token") as error:
        await past.series(["decode_token"], now - 60, now)
    assert error.value.hint == "Did you mean `decode_tokens_per_s`?"
    with pytest.raises(BadInput) as error:
        await past.rows(["xyzzy"], 0, now, None)
    assert error.value.code == "series-unknown"
    await past.close()


@pytest.mark.parametrize("span", [(5.0, 5.0), (9.0, 5.0), (-1.0, 5.0), (0.0, 1e300)])
async def test_a_span_that_makes_no_sense_is_refused(past: Past, span: tuple[float, float]) -> None:
    """Backwards, empty, before 1970."""
    with pytest.raises(BadInput):
        await past.series([], *span)
    with pytest.raises(BadInput):
        await past.rows([], *span, None)
    with pytest.raises(BadInput):
        await past.series(["x"] * 99, 0, 1)
    await past.close()


async def test_without_a_service_it_is_only_read(past: Past, tmp_path: Path) -> None:
    """`weir history` beside nothing that runs."""
    answer = await past.series([], 0, time.time())
    state = await past.state()
    await past.close()

    assert answer.series == answer.known == ()
    assert state.bytes is None
    assert _names(tmp_path) == []


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())
