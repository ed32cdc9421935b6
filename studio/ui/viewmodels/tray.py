"""The sign in the tray, its words and its menu. Pure."""

import msgspec

from studio.domain.metrics import Tick
from studio.domain.units import bytes_text, percent_text
from studio.ui.language import t
from studio.ui.state import Known, Link, is_busy
from studio.ui.viewmodels.frame import FrameView
from studio.ui.viewmodels.words import PRODUCT, ButtonView, Role, Shape

_STEPS = 10
"""The water moves in so many steps: a sign of 22 pixels shows no more, and rests meanwhile."""


class TraySign(msgspec.Struct, frozen=True, kw_only=True):
    """What is painted: the weir in small."""

    level: float | None = None
    """Share of the pool in use, in steps; None: nothing serves."""
    spills: bool = False
    shape: Shape = Shape.RING
    role: Role = Role.QUIET


class TrayView(msgspec.Struct, frozen=True, kw_only=True):
    """The sign, what it says on hover, and what can be done from it."""

    sign: TraySign
    tooltip: str
    state: str
    """The first line of the menu; nothing happens there."""
    open: str
    start: ButtonView
    stop: ButtonView
    copy: ButtonView
    address: str
    quit: str


def tray_view(known: Known, frame: FrameView) -> TrayView:
    """Return the tray as it stands; `frame` is the strip of any page but home."""
    tick = known.tick if known.link is Link.LIVE and known.engine.is_serving else None
    state = f"{frame.title} · {frame.state.text}" if known.engine.is_serving else frame.state.text
    lines = [f"{PRODUCT} · {known.place}" if known.place else PRODUCT, state, *_figures(tick)]
    return TrayView(
        sign=TraySign(
            level=_level(tick),
            spills=_spills(tick),
            shape=frame.state.shape,
            role=frame.state.role,
        ),
        tooltip="\n".join(lines),
        state=state,
        open=t("Open the window"),
        start=_action(frame.start, known, stops=False),
        stop=_action(frame.stop, known, stops=True),
        copy=ButtonView(text=t("Copy the address"), visible=True, enabled=frame.can_copy_address),
        address=frame.address.text if frame.can_copy_address else "",
        quit=t("Quit; what is served goes on"),
    )


def _action(button: ButtonView, known: Known, *, stops: bool) -> ButtonView:
    """Return the menu's entry: there for what can be done next, at rest otherwise."""
    live = known.link is Link.LIVE
    text = button.text
    if not stops and live:
        text = t("Start")
    return ButtonView(
        text=text,
        visible=stops is _is_up(known),
        enabled=live and button.visible and button.enabled,
    )


def _is_up(known: Known) -> bool:
    """Tell whether there is something to stop rather than to start."""
    return known.engine.is_serving or is_busy(known)


def _level(tick: Tick | None) -> float | None:
    share = tick.pool_used_share if tick is not None else None
    return None if share is None else round(min(1.0, max(0.0, share)) * _STEPS) / _STEPS


def _spills(tick: Tick | None) -> bool:
    return tick is not None and bool(tick.spill_bytes)


def _figures(tick: Tick | None) -> list[str]:
    if tick is None:
        return []
    lines = []
    if tick.pool_used_share is not None:
        share = percent_text(round(tick.pool_used_share, 1))
        lines.append(t("Pool: about {share} in use").format(share=share))
    if tick.spill_bytes:
        lines.append(t("Spills {bytes}").format(bytes=bytes_text(tick.spill_bytes)))
    return lines
