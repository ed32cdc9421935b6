"""Requests one by one: those under way and the newest that are over, and all about one of them."""

from collections.abc import Sequence

import msgspec

from studio.domain.keys import RequestEntry
from studio.domain.pool import PoolReport, Resident, ResidentState
from studio.domain.units import UNKNOWN, duration_text, latency_text, tokens_text
from studio.ui.language import nt, t
from studio.ui.viewmodels.moments import moment_words, parsed
from studio.ui.viewmodels.words import Role, Shape

CellView = tuple[str, float | str | None, str]
"""What is shown, what it is sorted by, what it says on hover."""

_FIRST = float("inf")
"""What is under way stands before what is over, whenever that was."""


class RequestLine(msgspec.Struct, frozen=True, kw_only=True):
    """One request as a row."""

    id: str
    key: str
    cells: tuple[CellView, ...]
    has_failed: bool


class Choice(msgspec.Struct, frozen=True):
    """One key to choose: the empty id is all of them."""

    id: str
    words: str


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """All about one request."""

    title: str
    sign: tuple[Shape, Role]
    rows: tuple[tuple[str, str], ...]


def columns() -> tuple[tuple[str, str, str], ...]:
    """Return name, title and hover of each column."""
    return (
        ("at", t("Began"), ""),
        ("key", t("Key"), ""),
        ("model", t("Model"), ""),
        ("state", t("State"), t("Status of the answer, or what the engine does for it now")),
        ("prompt", t("Prompt"), t("Tokens of the prompt; ≈ is an estimate")),
        ("cached", t("Reused"), t("Tokens of the prompt that were found in the pool")),
        ("generated", t("Answer"), t("Tokens generated; ≈ is an estimate")),
        ("ttft", t("First token"), t("From the request to its first token")),
        ("speed", t("tok/s"), t("Tokens a second after the first one")),
        ("took", t("Took"), t("From the request to the end of its answer")),
    )


def request_lines(
    entries: Sequence[RequestEntry], pool: PoolReport | None, *, key: str, only_failed: bool
) -> tuple[RequestLine, ...]:
    """Return the rows, what is under way first, then the newest first."""
    live = [] if only_failed or pool is None else [_resident(one) for one in pool.residents]
    over = [_entry(one) for one in reversed(entries)]
    return tuple(
        line
        for line in (*live, *over)
        if (not key or line.key == key) and (line.has_failed or not only_failed)
    )


def key_choices(entries: Sequence[RequestEntry], pool: PoolReport | None) -> tuple[Choice, ...]:
    """Return whose requests can be shown alone."""
    names = {one.key for one in entries} | {one.key for one in (pool.residents if pool else ())}
    known = sorted(name for name in names if name)
    return (Choice("", t("All keys")), *(Choice(name, name) for name in known))


def summary(lines: Sequence[RequestLine], *, is_known: bool, is_narrowed: bool) -> str:
    """Return how many there are, or the next step where there is none."""
    if not is_known:
        return t("The requests appear when the service answers.")
    if not lines and is_narrowed:
        return t("No request of that kind is on record.")
    if not lines:
        return t("There has been no request yet. Set a chat client up under Connect.")
    failed = sum(line.has_failed for line in lines)
    text = nt("{n} request", "{n} requests", len(lines)).format(n=f"{len(lines):,}")
    wrong = t("{n} failed").format(n=f"{failed:,}")
    return f"{text} · {wrong}" if failed else text


def detail_of(
    identity: str, entries: Sequence[RequestEntry], pool: PoolReport | None
) -> Detail | None:
    """Return all about one request; None: it is not here any more."""
    for resident in pool.residents if pool else ():
        if resident.request_id == identity:
            return _live_detail(resident)
    return next((_detail(one) for one in entries if one.request_id == identity), None)


def _resident(one: Resident) -> RequestLine:
    about = "≈ " if one.is_estimated else ""
    return RequestLine(
        id=one.request_id,
        key=one.key or "",
        has_failed=False,
        cells=(
            (t("now"), _FIRST, t("Under way for {age}").format(age=duration_text(one.age_s))),
            (one.key or UNKNOWN, one.key or "", ""),
            (one.model or UNKNOWN, one.model or "", ""),
            (state_words(one.state), state_words(one.state), ""),
            _count(one.prompt_tokens, about),
            (UNKNOWN, None, t("Known when it is over")),
            _count(one.generated_tokens, about),
            (UNKNOWN, None, ""),
            (UNKNOWN, None, ""),
            (duration_text(one.age_s), one.age_s, t("So far")),
        ),
    )


def state_words(state: ResidentState) -> str:
    """Return what the engine does for a request now."""
    return t("writing") if state is ResidentState.WRITING else t("reading")


def _entry(one: RequestEntry) -> RequestLine:
    instant = parsed(one.at)
    about = "≈ " if one.is_estimated else ""
    speed = one.tok_s
    return RequestLine(
        id=one.request_id,
        key=one.key or "",
        has_failed=has_failed(one),
        cells=(
            (
                moment_words(instant),
                instant.timestamp() if instant else None,
                one.at[:23].replace("T", " "),
            ),
            (one.key or t("(none)"), one.key or "", ""),
            (one.model or UNKNOWN, one.model or "", ""),
            (_status(one), float(one.status), one.reason or one.code or ""),
            _count(one.prompt_tokens, about),
            _count(one.cached_tokens, ""),
            _count(one.generated_tokens, about),
            (latency_text(one.ttft_s), one.ttft_s, ""),
            (UNKNOWN if speed is None else f"{speed:,.1f}", speed, ""),
            (duration_text(one.duration_s), one.duration_s, ""),
        ),
    )


def has_failed(one: RequestEntry) -> bool:
    """Tell whether a request was refused or broke off."""
    return one.status >= 400 or one.code is not None


def _status(one: RequestEntry) -> str:
    if one.has_client_left:
        return t("client left")
    return t("{status} failed").format(status=one.status) if has_failed(one) else t("done")


def _count(tokens: int | None, about: str) -> CellView:
    return (UNKNOWN if tokens is None else f"{about}{tokens:,}", tokens, "")


def _live_detail(one: Resident) -> Detail:
    guessed = t("Estimated: the engine says nothing before the end.") if one.is_estimated else ""
    rows = (
        (t("Request"), one.request_id),
        (t("Key"), one.key or UNKNOWN),
        (t("Model"), one.model or UNKNOWN),
        (t("Prompt"), tokens_text(one.prompt_tokens)),
        (t("Answer so far"), tokens_text(one.generated_tokens)),
        (t("Under way"), duration_text(one.age_s)),
        (t("Note"), guessed),
    )
    return Detail(title=state_words(one.state), sign=(Shape.HALF, Role.WATER), rows=_filled(rows))


def _detail(one: RequestEntry) -> Detail:
    speed = one.tok_s
    note = t("Cut off: its tokens are estimated.") if one.is_estimated else ""
    rows = (
        (t("Began"), one.at[:23].replace("T", " ")),
        (t("Request"), one.request_id),
        (t("Key"), one.key or t("(none)")),
        (t("Route"), one.route),
        (t("Model"), one.model or UNKNOWN),
        (t("From"), one.address or UNKNOWN),
        (t("Status"), f"{one.status} {one.code or ''}".strip()),
        (t("Reason"), one.reason or ""),
        (t("Changed for the engine"), "\n".join(one.adjusted)),
        (t("Prompt"), tokens_text(one.prompt_tokens)),
        (t("Reused"), tokens_text(one.cached_tokens)),
        (t("Answer"), tokens_text(one.generated_tokens)),
        (t("First token"), latency_text(one.ttft_s)),
        (t("Speed"), UNKNOWN if speed is None else f"{speed:,.1f} tok/s"),
        (t("Took"), duration_text(one.duration_s)),
        (t("Stream"), t("yes") if one.is_stream else t("no")),
        (t("Note"), note),
    )
    sign = (Shape.CROSS, Role.HARM) if has_failed(one) else (Shape.TICK, Role.OK)
    return Detail(title=_status(one), sign=sign, rows=_filled(rows))


def _filled(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, text) for name, text in rows if text)
