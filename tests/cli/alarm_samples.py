"""Alarms as a service sends them."""

import httpx
import msgspec

from studio.domain.alarms import Alarm, AlarmList, Mute, MuteRequest, Severity
from studio.domain.remedies import Remedy, RemedyKind

LOWER = Remedy(
    kind=RemedyKind.RESTART_WITH,
    text="Lower the KV pin to 3.32 GiB and restart.",
    settings={"kv_cache_memory_bytes": "3569457484"},
)
SPILL = Alarm(
    code="spill-wddm",
    severity=Severity.HARM,
    title="1.68 GiB of the card's memory in system memory",
    cause="Windows moved 1.68 GiB of what the engine holds into the machine's memory.",
    evidence=("card 0: 99 % used, its memory 2 %", "evil\x1b[31m line"),
    remedies=(LOWER,),
    since=1_790_000_000.0,
    raised_at=1_790_000_003.0,
    where="NVIDIA GeForce RTX 4090",
)
WAITING = Alarm(
    code="requests-waiting",
    severity=Severity.NOTICE,
    title="Three requests waiting",
    cause="Three requests waiting without a break: all 4 seats are taken.",
    remedies=(Remedy(kind=RemedyKind.COMMAND, text="Look.", command="weir requests"),),
    since=1_790_000_100.0,
    raised_at=1_790_000_130.0,
    is_muted=True,
)
OVER = Alarm(
    code="disk-nearly-full",
    severity=Severity.WARNING,
    title="Only 1.0 MiB left for models",
    cause="The disk is full.",
    since=1_790_000_000.0,
    raised_at=1_790_000_000.0,
    ended_at=1_790_000_065.0,
)
ALARMS = AlarmList(
    active=(SPILL, WAITING),
    ended=(OVER,),
    mutes=(
        Mute(code="requests-waiting"),
        Mute(code="card-lost", until=1_790_010_000.0),
        Mute(code="spill-swap", is_once=True),
    ),
    is_watched=True,
)

Mutes = list[tuple[str, MuteRequest | None]]


def about_alarms(path: str, request: httpx.Request, mutes: Mutes) -> httpx.Response:
    """Answer a call about alarms; keeps what is muted, and None for what is unmuted."""
    parts = path.strip("/").split("/")
    if request.method == "POST":
        is_mute = parts[2] == "mute"
        asked = msgspec.json.decode(request.content, type=MuteRequest) if is_mute else None
        mutes.append((parts[1], asked))
    return httpx.Response(200, content=msgspec.json.encode(ALARMS))
