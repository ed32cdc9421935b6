"""The ledger of a patched engine; its line is the real one's, but for the process id."""

import pytest

from studio.serving import ledger

LINE = (
    'WEIR_LEDGER {"schema_version":1,"engine_version":"0.32.0","device":"cpu","max_model_len":2048,'
    '"pool_tokens":23296,"max_concurrency":11.375,"blocks":182,"block_tokens":128,'
    '"weights_bytes":538060032,"activation_peak_bytes":null,"non_torch_bytes":null,'
    '"graph_pool_bytes":null,"kv_bytes":1073479680,"groups":[{"kind":"full_attention","layers":30,'
    '"block_tokens":128,"page_bytes":196608}],"workers":[{"rank":0}]}'
)


def test_what_the_engine_knows_becomes_facts_and_null_does_not() -> None:
    """An unknown is missing, never zero."""
    assert ledger.facts(LINE) == {
        "engine_version": "0.32.0",
        "max_model_len": 2048,
        "pool_tokens": 23_296,
        "max_concurrency": 11.375,
        "blocks": 182,
        "block_tokens": 128,
        "weights_bytes": 538_060_032,
        "kv_bytes": 1_073_479_680,
    }


def test_a_newer_engine_may_say_more() -> None:
    """A figure that is not known here must not take the known ones away."""
    found = ledger.facts('WEIR_LEDGER {"schema_version":1,"pool_tokens":5,"new":{"deep":[1]}}')

    assert found == {"pool_tokens": 5}


@pytest.mark.parametrize(
    "message",
    [
        "WEIR_LEDGER",
        "WEIR_LEDGER ",
        "WEIR_LEDGER nonsense",
        'WEIR_LEDGER {"schema_version":1',
        'WEIR_LEDGER {"schema_version":2,"pool_tokens":5}',
        'WEIR_LEDGER {"pool_tokens":5}',
        'WEIR_LEDGER {"schema_version":1,"pool_tokens":"many"}',
        'WEIR_LEDGER {"schema_version":1,"groups":' + "[" * 20_000,
        'said WEIR_LEDGER {"schema_version":1,"pool_tokens":5}',
        "Application startup complete.",
    ],
)
def test_anything_else_is_no_ledger(message: str) -> None:
    """A line that was cut, or that somebody made up, changes nothing."""
    assert ledger.facts(message) is None
