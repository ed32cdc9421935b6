"""What an engine was told to keep beside its cards, by its command line."""

import pytest

from studio.domain.readings import Intent
from studio.domain.units import GIB
from studio.monitor.alarm_file import load
from studio.monitor.intended import intent_of
from tests.monitor.scenes import FILE

PATTERNS = load(FILE).intended


@pytest.mark.parametrize(
    ("command", "intent"),
    [
        ("cpu-vllm-0.32.0 vllm serve m", Intent()),
        ("vllm serve m --kv-offloading-size 12", Intent(cpu_kv_bytes=12 * GIB)),
        ("vllm serve m --kv-offloading-size=0.5", Intent(cpu_kv_bytes=GIB // 2)),
        ("vllm serve m --kv-offloading-size 0", Intent()),
        (
            'sm70-1cat-1.5.2 vllm serve m --kernel-config {"qsa_host_kv":true}',
            Intent(has_host_kv=True, has_ple_disk=True, has_sm70_paths=True),
        ),
        (
            'sm70-1cat-1.5.2 vllm serve m --kernel-config {"ple_disk_only": true}',
            Intent(has_ple_disk=True, has_sm70_paths=True),
        ),
        (
            "sm70-1cat-1.5.2 vllm serve /m/deepseek-v4.1-flash-iq2xxs",
            Intent(has_expert_ring=True, has_sm70_paths=True),
        ),
    ],
)
def test_the_command_line_says_what_was_meant(command: str, intent: Intent) -> None:
    """What was asked for is no spill."""
    assert intent_of(command, PATTERNS, uses_cards=False) == intent
