"""One sentence about a boot under way: what happens, how long yet, whether it is usual. Pure."""

import dataclasses

from studio.domain.server import BootPhase
from studio.domain.units import bytes_text, duration_text, percent_text
from studio.serving.forecast import Left

DOING: dict[BootPhase, str] = {
    BootPhase.INTERPRETER: "loading Python",
    BootPhase.CONFIG: "reading the configuration",
    BootPhase.ENGINE: "starting the engine core",
    BootPhase.WEIGHTS: "loading weights",
    BootPhase.COMPILE: "compiling",
    BootPhase.PROFILE: "measuring memory",
    BootPhase.KV_CACHE: "making the KV pool",
    BootPhase.GRAPHS: "capturing graphs",
    BootPhase.WARM_UP: "warming up",
    BootPhase.SERVER: "opening the server",
    BootPhase.FIRST_TOKEN: "waiting for the first token",
}
_LOADING = (
    "the disk or the processor may be busy, or files are read for the first time since the machine "
    "started"
)
_READING = (
    "the disk may be slow or busy, or the files lie on a network or Windows drive, or are read for "
    "the first time since the machine started"
)
_COMPUTING = "other programs may keep the processor busy"
MAY_MEAN: dict[BootPhase, str] = {
    BootPhase.INTERPRETER: _LOADING,
    BootPhase.CONFIG: _COMPUTING,
    BootPhase.ENGINE: _LOADING,
    BootPhase.WEIGHTS: _READING,
    BootPhase.COMPILE: (
        "settings or versions that changed are compiled anew, and other programs may keep the "
        "processor busy"
    ),
    BootPhase.PROFILE: "kernels may be compiled for this card for the first time",
    BootPhase.KV_CACHE: "the card or the memory may be nearly full",
    BootPhase.GRAPHS: (
        "kernels may be compiled at their first use; no progress for five minutes on several "
        "cards means that they cannot reach each other"
    ),
    BootPhase.WARM_UP: "kernels may be compiled at their first use",
    BootPhase.SERVER: _COMPUTING,
    BootPhase.FIRST_TOKEN: "the first request compiles what no warm-up did",
}
"""What a phase that takes longer than usual may mean. Sources: HyperQwen, gotchas 5, 15, 45 and its
WSL2 page (loading from a Windows mount); 1Cat-vLLM, issue 430 (capture that never ends)."""
_FEW = "a few seconds"
_CAN_BE_COLD = (BootPhase.COMPILE, BootPhase.PROFILE, BootPhase.GRAPHS, BootPhase.WARM_UP)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What is known of the boot at this moment."""

    phase: BootPhase
    spent_s: float
    left: Left
    is_cold: bool | None = None
    share: float | None = None
    loaded_bytes: int | None = None
    to_load_bytes: int | None = None


def note(scene: Scene) -> str:
    """Return the sentence, without a full stop: it stands in lines with other things."""
    doing = _doing(scene)
    left = scene.left
    if left.is_late and left.usual_s is not None:
        return (
            f"longer than usual: {spoken(scene.spent_s)} instead of {spoken(left.usual_s)} in "
            f"{doing}; {MAY_MEAN[scene.phase]}"
        )
    if left.is_late:
        return f"longer than published: {doing}"
    if left.remaining_s is None:
        return doing
    rest = spoken(left.remaining_s)
    return f"{rest if rest == _FEW else f'about {rest}'} left: {doing}"


def _doing(scene: Scene) -> str:
    words = DOING[scene.phase]
    if scene.phase is BootPhase.WEIGHTS and scene.loaded_bytes is not None:
        words += f", {bytes_text(scene.loaded_bytes)}"
        if scene.to_load_bytes is not None:
            words += f" of {bytes_text(scene.to_load_bytes)}"
            words += f" ({percent_text(scene.loaded_bytes / max(1, scene.to_load_bytes))})"
    elif scene.share is not None:
        words += f", {percent_text(scene.share)}"
    if scene.phase in _CAN_BE_COLD and scene.is_cold is not None:
        words += ", cold cache (normal)" if scene.is_cold else ", warm cache"
    return words


def spoken(seconds: float) -> str:
    """Return a span as exact as a forecast deserves: `3 min 40 s`, `25 s`, `a few seconds`."""
    if seconds < 5:
        return _FEW
    step = 5 if seconds < 120 else 10
    rounded = max(step, round(seconds / step) * step)
    return f"{rounded:.0f} s" if rounded < 60 else duration_text(rounded).replace(" 00 s", "")


def temperature(*, is_cold: bool | None, is_certain: bool) -> str | None:
    """Return what a boot is called."""
    if is_cold is None:
        return None
    word = "cold" if is_cold else "warm"
    return word if is_certain else f"{word} (a guess)"
