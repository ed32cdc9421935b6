"""The fake service's log files, failure and boots: plugged in by `FakeRecords(service)`."""

import msgspec

from studio.domain.boots import BootHistory, BootOutcome, BootRecord
from studio.domain.diagnosis import (
    DiagnoseRequest,
    Diagnosis,
    Fixed,
    FixRequest,
    Match,
    Offered,
    RemedyList,
)
from studio.domain.errors import ErrorInfo
from studio.domain.logs import LogPage
from studio.domain.remedies import Remedy, RemedyKind
from tests.ui.fake_service import BOOT_FAILED, FakeService, line, up_result

RESTART = Remedy(
    kind=RemedyKind.RESTART_WITH,
    text="Start it again with a context of 1,024 tokens; long talks are cut.",
    settings={"max_model_len": "1024"},
)
COMMAND = Remedy(kind=RemedyKind.COMMAND, text="Close other programs.", command="weir gpus")
MATCH = Match(
    code=BOOT_FAILED.code,
    cause=BOOT_FAILED.message,
    evidence=BOOT_FAILED.evidence,
    remedy=RESTART.text,
    remedies=(RESTART, COMMAND),
)
OFFERED = (
    Offered(number=1, about=MATCH.code, remedy=RESTART),
    Offered(number=None, about=MATCH.code, remedy=COMMAND),
)


def boot(hour: int, **fields: object) -> BootRecord:
    """Return a boot of one morning."""
    base = BootRecord(
        at=f"2026-11-29T{hour:02}:12:00+00:00",
        preset="cpu-demo",
        runtime="cpu-vllm-0.32.0",
        runtime_id="9f3c2ab1d0e4",
        cards="cpu",
        outcome=BootOutcome.SERVED,
        is_cold=False,
        is_cold_certain=True,
        phases_s={"interpreter": 9.1, "weights": 5.7, "compile": 0.0, "first-token": 1.4},
        boot_s=49.8,
        pool_tokens=68_605,
    )
    return msgspec.structs.replace(base, **fields)


BOOTS = BootHistory(
    boots=(
        boot(8, is_cold=True, boot_s=131.0),
        boot(9, outcome=BootOutcome.FAILED, error="engine-out-of-memory", boot_s=None,
             pool_tokens=None, is_cold=None),
        boot(10, is_cold_certain=False),
    )
)  # fmt: skip


class FakeRecords:
    """Two pages of the engine's files, one failure, three boots."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.failure: Match | None = MATCH
        self.diagnosis: Diagnosis | ErrorInfo = Diagnosis(
            matches=(MATCH,), source="/tmp/their.log", lines=1_204
        )
        self.asked: list[tuple[str, object]] = []
        service.areas.append(self.answer)

    def answer(self, method: str, route: str, body: bytes) -> object:
        """Return what is asked of logs, failures and boots; None: it is something else."""
        if route == "/logs/page":
            self.asked.append((route, None))
            pages = sum(one[0] == route for one in self.asked)
            lines = tuple(line(seq, f"page {pages} line {seq}") for seq in range(50))
            return LogPage(lines=lines, before="p" if pages == 1 else None, after="q")
        if route == "/boots":
            return BOOTS
        if route == "/diagnose":
            self.asked.append((route, msgspec.json.decode(body, type=DiagnoseRequest)))
            return self.diagnosis
        if route != "/remedies":
            return None
        if method == "GET":
            return RemedyList(failure=self.failure, offered=OFFERED if self.failure else ())
        self.asked.append((route, msgspec.json.decode(body, type=FixRequest)))
        self.failure = None
        return Fixed(taken=OFFERED[0], result=up_result())
