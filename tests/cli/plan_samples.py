"""Plans as the service would answer them."""

import msgspec

from studio.domain.plans import (
    HeadroomOutcome,
    HeadroomRung,
    LedgerItem,
    LedgerPlace,
    Plan,
    PlannedCard,
    PlanVerdict,
    Reduction,
)
from studio.domain.units import GIB, MIB

LEDGER = (
    LedgerItem(
        name="weights", title="Weights", bytes=14 * GIB, error_bytes=50 * MIB, source="headers"
    ),
    LedgerItem(name="graphs", title="Captured graphs", bytes=GIB, source="another's measurement"),
    LedgerItem(name="kv-pool", title="KV pool", bytes=5 * GIB, error_bytes=0, source="pinned"),
    LedgerItem(name="not-ours", title="Driver, other programs", bytes=MIB, source="the driver"),
    LedgerItem(name="free", title="Left over", bytes=4 * GIB, source="the rest"),
    LedgerItem(
        name="files", title="Runtime and model", place=LedgerPlace.DISK, bytes=35 * GIB, source="x"
    ),
)
FITS = Plan(
    preset="27b-dflash2",
    title="Chat, fast",
    model="Qwen3.8-27B",
    drafter="DFlash2",
    runtime="cu13-hyperqwen-0.31.0",
    engine="cu13-hyperqwen-0.31.0",
    host="NVIDIA GeForce RTX 3090; Ubuntu",
    gpus=(0,),
    cards=(PlannedCard(index=0, name="NVIDIA GeForce RTX 3090"),),
    verdict=PlanVerdict.FITS,
    pool_tokens=68_605,
    pool_tokens_error=0,
    blocks=380,
    block_size=448,
    blocks_per_request=363,
    max_model_len=65_536,
    longest_context=69_440,
    seats=8,
    resident_requests=68_605 / 65_536,
    headroom_bytes=800 * MIB,
    headroom_error_bytes=150 * MIB,
    headroom=(
        HeadroomRung(
            bytes=436 * MIB, outcome=HeadroomOutcome.RUNS, case="a burst of 8", source="x"
        ),
        HeadroomRung(
            bytes=396 * MIB, outcome=HeadroomOutcome.DIES, case="a burst of 8", source="x"
        ),
    ),
    boot_cold_s=252.0,
    boot_warm_s=86.0,
    boot_source="HyperQwen, 3090",
    download_bytes=24 * GIB,
    ledger=LEDGER,
    warnings=("A display is drawn by card 0.",),
    assumptions=("Kernels are compiled already.",),
)
REDUCTION = Reduction(
    knob="max_model_len",
    value="49152",
    title="Shorter context: 49,152 tokens",
    costs="Longer requests are refused.",
    is_enough=True,
)
FITS_IF = msgspec.structs.replace(
    FITS,
    verdict=PlanVerdict.FITS_IF,
    reductions=(REDUCTION,),
    reasons=("One request takes 605 blocks; the pool has 380.",),
)
FITS_NOT = msgspec.structs.replace(
    FITS,
    verdict=PlanVerdict.DOES_NOT_FIT,
    reductions=(msgspec.structs.replace(REDUCTION, is_enough=False),),
    reasons=("No NVIDIA driver was found on this machine.",),
)
UNKNOWN = msgspec.structs.replace(
    FITS, verdict=PlanVerdict.UNKNOWN, reasons=("The size of the weights is not known.",)
)
