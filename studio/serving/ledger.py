"""The line of JSON that a patched engine prints at boot → facts. Pure.

`WEIR_LEDGER {…}`, see docs/user/patches.md. What the engine does not know is null there and missing
here. A newer engine may say more; what is not known here is passed over.
"""

from collections.abc import Mapping

import msgspec

PREFIX = "WEIR_LEDGER "


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """What the line says of the whole engine; sizes in bytes, sums over its workers."""

    schema_version: int
    engine_version: str | None = None
    max_model_len: int | None = None
    pool_tokens: int | None = None
    max_concurrency: float | None = None
    blocks: int | None = None
    block_tokens: int | None = None
    weights_bytes: int | None = None
    activation_peak_bytes: int | None = None
    non_torch_bytes: int | None = None
    graph_pool_bytes: int | None = None
    kv_bytes: int | None = None


def facts(message: str) -> Mapping[str, int | float | str] | None:
    """Return the facts in a log message, or None when it is no ledger."""
    if not message.startswith(PREFIX):
        return None
    try:
        ledger = msgspec.json.decode(message[len(PREFIX) :], type=Ledger)
    except (msgspec.DecodeError, RecursionError):
        return None
    if ledger.schema_version != 1:
        return None
    known: dict[str, int | float | str | None] = msgspec.structs.asdict(ledger)
    del known["schema_version"]
    return {name: value for name, value in known.items() if value is not None}
