"""What is offered once a boot is over. Pure."""

from studio.app.boot_about import About
from studio.domain.boots import BootRecord
from studio.domain.remedies import Remedy, RemedyKind
from studio.domain.units import bytes_text, tokens_text


def pin_offer(about: About, boot: BootRecord) -> Remedy | None:
    """Return the offer to pin the pool, after a warm boot that left its size to the engine.

    A cold boot's pool is smaller than what the card can give: compiling takes memory while the
    engine measures (HyperQwen, gotcha 2: up to 0.92 GiB).
    """
    if not about.can_pin or boot.is_cold is not False or boot.kv_bytes is None:
        return None
    command = f"weir presets pin {about.place.preset}"
    return Remedy(
        kind=RemedyKind.COMMAND,
        text=(
            f"`{command}` keeps this pool: {bytes_text(boot.kv_bytes)} a card, "
            f"{tokens_text(boot.pool_tokens)}, exactly the same at every boot. It no longer grows "
            "when the card has more room, and a start is refused when the card has less."
        ),
        command=command,
    )


def pinned_bytes(boot: BootRecord) -> int | None:
    """Return the bytes to pin for the pool that a boot had; where its log rounds, the lower end."""
    if boot.kv_bytes is None:
        return None
    return boot.kv_bytes - (boot.kv_error_bytes or 0)
