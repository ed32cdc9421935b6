"""What the service announces must arrive as what it was."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from studio.domain.alarms import Alarm, Severity
from studio.domain.cache import CacheFinding, ChangeKind, Place
from studio.domain.control import (
    GatewayInfo,
    KeyInfo,
    NewKey,
    ServiceInfo,
    Status,
    UpRequest,
)
from studio.domain.demand import NextStep, PresetQueue, Queue, QueuedRequest, Reason
from studio.domain.downloads import DownloadList
from studio.domain.errors import ErrorInfo
from studio.domain.events import (
    AlarmChanged,
    CacheFound,
    DownloadsChanged,
    EngineChanged,
    Event,
    GatewayChanged,
    KeysChanged,
    LogAppended,
    ModelsChanged,
    PoolChanged,
    QueueChanged,
    ServiceStopping,
    Stage,
    StageProgress,
    StageState,
    Ticked,
    UpFinished,
)
from studio.domain.library import CheckInfo, CheckState
from studio.domain.metrics import LogLine, Tick
from studio.domain.pool import PoolReport, Room
from studio.domain.server import BootPhase, EngineSnapshot, EngineState, PhaseTime

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "control-api.md"
ENGINE = EngineSnapshot(
    state=EngineState.STARTING,
    preset="cpu-demo",
    phase=BootPhase.KV_CACHE,
    phases=(PhaseTime(phase=BootPhase.INTERPRETER, started_s=0.0, ended_s=1.5),),
    overrides={"max_model_len": "2k"},
)
QUEUE = Queue(
    presets=(
        PresetQueue(
            preset="cpu-demo",
            served_name="smollm2",
            requests=(
                QueuedRequest(since=1.5, key="làptop\n", route="/v1/messages", is_stream=True),
            ),
        ),
    ),
    waiting=1,
    next=NextStep(preset="cpu-demo", reason=Reason.RESIDENCE, at=3.0),
)
EVENTS = [
    StageProgress(stage=Stage.MODEL, state=StageState.RUNNING, title="Modell", done=1.5),
    EngineChanged(engine=ENGINE),
    Ticked(tick=Tick(at=1.0, pool_tokens=0)),
    LogAppended(
        lines=(LogLine(seq=1, at=0.0, source="engine", level="none", text="a\u0000\u2028é"),),
        dropped=3,
    ),
    GatewayChanged(),
    UpFinished(preset="x", error=ErrorInfo(code="a-b", message="No.", exit_status=4)),
    KeysChanged(),
    CacheFound(
        finding=CacheFinding(
            id="f1",
            key_id="k1",
            key="läptop",
            agent=None,
            model="m",
            route="/v1/messages",
            place=Place(kind=ChangeKind.SYSTEM, line=1),
            changed=3,
            compared=4,
            first_seen=1.0,
            last_seen=2.0,
        )
    ),
    PoolChanged(pool=PoolReport(at=1.0, room=Room(sentence="Room."))),
    PoolChanged(pool=PoolReport(at=1.0, room=Room(sentence="Nothing fits."))),
    QueueChanged(queue=QUEUE),
    DownloadsChanged(downloads=DownloadList()),
    ModelsChanged(
        models=2,
        size_bytes=5,
        checks=(CheckInfo(model="o/n", path="/m", state=CheckState.WAITING, done_bytes=1),),
    ),
    AlarmChanged(
        alarm=Alarm(
            code="a-b", severity=Severity.HARM, title="T", cause="C.", since=1.0, raised_at=2.0
        )
    ),
    ServiceStopping(reason="weir down"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_wire_on_one_line(event: Event) -> None:
    """A line break inside would cut the event stream's frame in two."""
    sent = msgspec.json.encode(event)

    assert b"\n" not in sent
    assert b"\r" not in sent
    assert msgspec.json.decode(sent, type=Event) == event


def test_no_event_is_forgotten_here() -> None:
    """A new event belongs into the list above, and into the document."""
    assert {type(event) for event in EVENTS} == set(get_args(Event))


def test_the_document_names_every_event() -> None:
    """Other programs are written from the document."""
    tags = {kind.__struct_config__.tag for kind in get_args(Event)}

    named = set(re.findall(r"`([a-z-]+)`", DOCUMENT.read_text(encoding="utf-8")))

    assert len(tags) == len(get_args(Event))
    assert tags <= named


def test_an_unknown_event_is_refused() -> None:
    """It must not be taken for another one."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"event":"engine-exploded"}', type=Event)


def test_a_field_that_a_newer_service_sends_is_ignored() -> None:
    """Client and service are updated at different times."""
    raw = b'{"event":"gateway-changed","base_url":"there","colour":"red"}'

    assert msgspec.json.decode(raw, type=Event) == GatewayChanged(base_url="there")


def test_a_misspelt_field_of_a_request_is_refused() -> None:
    """`{"presett": "x"}` must not start the default preset."""
    with pytest.raises(msgspec.ValidationError, match="presett"):
        msgspec.json.decode(b'{"presett":"x"}', type=UpRequest)


def test_a_status_survives_the_wire() -> None:
    """The window draws from it before the first event."""
    status = Status(
        service=ServiceInfo(version="1", pid=1, started_at=0.0, home="/höme with blanks"),
        engine=ENGINE,
        gateway=GatewayInfo(),
    )

    assert msgspec.json.decode(msgspec.json.encode(status), type=Status) == status


def test_a_keys_list_cannot_hold_the_key() -> None:
    """The key can be read once; whatever lists keys has no field for it."""
    assert "key" not in KeyInfo.__struct_fields__
    assert NewKey.__struct_fields__ == ("info", "key")
