"""The queue of downloads, what is asked for, and which token a hub gets."""

import functools

import msgspec

from studio.domain.downloads import (
    DownloadDeed,
    DownloadInfo,
    DownloadList,
    DownloadState,
    GetRequest,
    HubName,
    LoginInfo,
)
from studio.domain.events import Stage
from studio.domain.units import UNKNOWN, bytes_text, duration_text
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.boot import StageView
from studio.ui.viewmodels.words import ButtonView, Role, Shape

HUBS: dict[HubName, str] = {
    HubName.HUGGING_FACE: marked("Hugging Face"),
    HubName.MODEL_SCOPE: marked("ModelScope"),
}
LOGIN_CODES = frozenset({"model-gated", "model-unknown", "hub-login", "hub-token"})
"""Refusals that a token may cure."""
LIMITS_MB = (None, 1, 2, 5, 10, 20, 50, 100)
"""Megabytes a second that are offered; None: no limit."""


class DownloadRowView(msgspec.Struct, frozen=True, kw_only=True):
    """One download: how far it is, what went wrong, what can be done."""

    id: str
    stage: StageView
    problem: str
    can_log_in: bool
    deeds: tuple[tuple[DownloadDeed, ButtonView], ...]


class DownloadsView(msgspec.Struct, frozen=True, kw_only=True):
    """The whole queue."""

    title: str
    rows: tuple[DownloadRowView, ...]
    empty: str
    held: str
    limits: tuple[str, ...]
    limit: int
    """Which of `limits` holds."""
    can_limit: bool


class LoginView(msgspec.Struct, frozen=True, kw_only=True):
    """One hub in the dialog of tokens."""

    text: str
    can_forget: bool


_STATES: dict[DownloadState, tuple[str, Shape, Role]] = {
    DownloadState.QUEUED: (marked("Waits"), Shape.RING, Role.QUIET),
    DownloadState.RUNNING: (marked("Under way"), Shape.HALF, Role.WATER),
    DownloadState.PAUSED: (marked("Paused"), Shape.RING, Role.WARN),
    DownloadState.FAILED: (marked("Failed"), Shape.CROSS, Role.HARM),
    DownloadState.DONE: (marked("Here, whole and proven"), Shape.TICK, Role.OK),
}
_AWAY = (marked("Not known now"), Shape.RING, Role.QUIET)
"""One that was under way when the service was heard of last."""
_MOVING = (DownloadState.QUEUED, DownloadState.RUNNING)


def open_count(found: DownloadList | None) -> int:
    """Return how many downloads are not over."""
    downloads = found.downloads if found is not None else ()
    return sum(one.state is not DownloadState.DONE for one in downloads)


def downloads_view(found: DownloadList | None, *, is_live: bool) -> DownloadsView:
    """Return the queue as it stands."""
    downloads = found.downloads if found is not None else ()
    limit = found.limit_bytes_per_s if found is not None else None
    choices = _choices(limit)
    empty = t("Nothing is being fetched. “Get a model…” brings one from a hub.")
    held = t("Models wait while a runtime is fetched.")
    return DownloadsView(
        title=t("Downloads"),
        rows=tuple(_row(one, place, is_live=is_live) for place, one in enumerate(downloads)),
        empty="" if downloads else empty if is_live else t("The service does not answer yet."),
        held=held if found and found.is_held and is_live else "",
        limits=tuple(_limit_words(one) for one in choices),
        limit=choices.index(limit),
        can_limit=is_live and found is not None,
    )


def limit_of(found: DownloadList | None, place: int) -> int | None:
    """Return the bytes a second that the choice at `place` means."""
    return _choices(found.limit_bytes_per_s if found is not None else None)[place]


def login_view(info: LoginInfo | None) -> LoginView:
    """Return which token a hub gets, without the token."""
    if info is None:
        return LoginView(text=t("Asking the service."), can_forget=False)
    if info.source is None:
        text = t("No token. Public models need none; gated ones do.")
        return LoginView(text=text, can_forget=False)
    text = t("A token from {source} goes to {endpoint}.")
    return LoginView(
        text=text.format(source=info.source, endpoint=info.endpoint),
        can_forget=info.source.startswith("weir"),
    )


def wanted(hub: HubName | None, repository: str, **fields: str) -> GetRequest:
    """Return what a dialog's fields ask for; patterns are parted by blanks or commas."""
    patterns = functools.partial(_patterns, fields)
    return GetRequest(
        repository=repository,
        hub=hub,
        revision=fields.get("revision") or None,
        include=patterns("include"),
        exclude=patterns("exclude"),
        into=fields.get("into") or None,
        update=bool(fields.get("update")),
    )


def _choices(limit: int | None) -> list[int | None]:
    usual = [None if one is None else one * 1_000_000 for one in LIMITS_MB]
    return usual if limit in usual else [*usual, limit]


def _limit_words(limit: int | None) -> str:
    if limit is None:
        return t("No limit")
    return t("At most {rate} MB/s").format(rate=f"{limit / 1e6:,.3g}")


def _row(one: DownloadInfo, place: int, *, is_live: bool) -> DownloadRowView:
    word, shape, role = _STATES[one.state]
    is_moving = one.state is DownloadState.RUNNING
    if is_moving and not is_live:
        word, shape, role = _AWAY
    error = one.error
    problem = " ".join(told(part) for part in (error.message, error.hint) if part) if error else ""
    return DownloadRowView(
        id=one.id,
        stage=StageView(
            stage=Stage.MODEL,
            title=one.title,
            word=t(word),
            role=role,
            shape=shape,
            note=told(one.note or "") or (t(word) if one.state is DownloadState.PAUSED else ""),
            share=_share(one),
            running=(is_moving and is_live) or one.state is DownloadState.PAUSED,
            amount=_amount(one),
            rate=_rate(one) if is_live else "",
        ),
        problem=problem,
        can_log_in=error is not None and error.code in LOGIN_CODES,
        deeds=_deeds(one, place, is_live=is_live) if one.can_change else (),
    )


def _share(one: DownloadInfo) -> float | None:
    if one.state is DownloadState.DONE:
        return 1.0
    if one.done_bytes is None or not one.total_bytes:
        return None if one.state is DownloadState.RUNNING else 0.0
    return min(1.0, one.done_bytes / one.total_bytes)


def _amount(one: DownloadInfo) -> str:
    if one.state is DownloadState.DONE or one.done_bytes is None:
        return bytes_text(one.total_bytes) if one.total_bytes else ""
    return t("{done} of {total}").format(
        done=bytes_text(one.done_bytes), total=bytes_text(one.total_bytes)
    )


def _rate(one: DownloadInfo) -> str:
    if one.state is not DownloadState.RUNNING:
        return ""
    rate = UNKNOWN if one.rate is None else bytes_text(one.rate)
    if one.left_s is None:
        return f"{rate}/s"
    return t("{rate}, {left} left").format(rate=f"{rate}/s", left=duration_text(one.left_s))


def _deeds(
    one: DownloadInfo, place: int, *, is_live: bool
) -> tuple[tuple[DownloadDeed, ButtonView], ...]:
    is_moving = one.state in _MOVING
    is_stopped = one.state in (DownloadState.PAUSED, DownloadState.FAILED)
    is_done = one.state is DownloadState.DONE
    may_lead = place > 0 and one.state in (*_MOVING, DownloadState.PAUSED)
    again = t("Try again") if one.state is DownloadState.FAILED else t("Go on")
    return (
        (DownloadDeed.FIRST, _button(t("First"), t(_FIRST), may_lead, is_live)),
        (DownloadDeed.PAUSE, _button(t("Pause"), t(_PAUSE), is_moving, is_live)),
        (DownloadDeed.RESUME, _button(again, t(_RESUME), is_stopped, is_live)),
        (
            DownloadDeed.CANCEL,
            _button(t("Clear") if is_done else t("Cancel"), t(_CANCEL), True, is_live),
        ),
    )


_FIRST = marked("Fetch it before all others")
_PAUSE = marked("Stop it till you say; it stays paused after a restart too")
_RESUME = marked("Go on where it was")
_CANCEL = marked("Take it out of the queue; what has come stays on the disk")


def _button(text: str, tooltip: str, visible: bool, enabled: bool) -> ButtonView:
    return ButtonView(text=text, tooltip=tooltip, visible=visible, enabled=enabled)


def _patterns(fields: dict[str, str], name: str) -> tuple[str, ...]:
    return tuple(fields.get(name, "").replace(",", " ").split())
