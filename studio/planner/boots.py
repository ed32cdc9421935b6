"""How long a boot takes: this machine's own boots first, then those of others. Pure."""

from studio.domain.manifests import Document
from studio.planner.calibration import BootTimes


class Row(Document, frozen=True, kw_only=True):
    """One entry of `presets/planner/boots.toml`."""

    runtime: str
    """A part of the runtime's name."""
    profiles: tuple[str, ...] = ()
    """Ids of presets; empty: any."""
    wsl: bool = False
    """Whether it speaks of WSL2."""
    cold_s: float | None = None
    warm_s: float | None = None
    source: str


class Boots(Document, frozen=True, kw_only=True):
    """`presets/planner/boots.toml`."""

    schema_version: int
    rows: tuple[Row, ...]


class Forecast(Document, frozen=True, kw_only=True):
    """How long a boot should take, and who says so."""

    cold_s: float | None = None
    warm_s: float | None = None
    source: str | None = None


def forecast(
    seen: BootTimes,
    rows: tuple[Row, ...],
    *,
    runtime: str | None,
    profiles: tuple[str, ...],
    is_wsl: bool,
) -> Forecast:
    """Return the boot times to expect; what was seen here goes before what others saw."""
    if seen.cold_s is not None or seen.warm_s is not None:
        return Forecast(cold_s=seen.cold_s, warm_s=seen.warm_s, source="seen on this machine")
    for row in rows:
        is_meant = not row.profiles or not set(row.profiles).isdisjoint(profiles)
        if runtime is not None and row.runtime in runtime and is_meant and row.wsl == is_wsl:
            return Forecast(cold_s=row.cold_s, warm_s=row.warm_s, source=row.source)
    return Forecast()
