"""What `weir status` says about caches and kept prompts."""

import msgspec

from studio.cli.traffic_text import traffic_pairs
from studio.domain.control import GatewayInfo, ServiceInfo, Status
from studio.domain.keys import PromptLogState
from studio.domain.server import EngineSnapshot

STATUS = Status(
    service=ServiceInfo(version="1", pid=1, started_at=0.0, home="/h"),
    engine=EngineSnapshot(),
    gateway=GatewayInfo(),
)


def test_it_says_nothing_where_there_is_nothing_to_say() -> None:
    """Most people never see these lines."""
    assert traffic_pairs(STATUS) == []


def test_kept_prompts_and_findings_are_lines_of_their_own() -> None:
    """With the time at which it ends."""
    status = msgspec.structs.replace(
        STATUS,
        cache_findings=2,
        prompt_logs=(PromptLogState(key_id="k", key="laptop", until="2026-11-30T12:30:00+01:00"),),
    )

    assert traffic_pairs(status) == [
        ("Cache", "2 clients have their prompts read anew each turn: `weir cache`"),
        ("Prompts", "● those of the key `laptop` are kept till 2026-11-30 12:30"),
    ]
