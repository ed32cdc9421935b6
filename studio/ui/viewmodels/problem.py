"""An error as a card: cause, evidence, and buttons that act."""

import enum

import msgspec

from studio.domain.diagnosis import Offered
from studio.domain.errors import ErrorInfo
from studio.domain.units import bytes_text
from studio.ui.language import t, told
from studio.ui.viewmodels.live import cure_words
from studio.ui.viewmodels.words import plural


class Remedy(enum.StrEnum):
    """What a button on the card does."""

    RETRY = "retry"
    TAKE_PORT = "take-port"
    CONSENT = "consent"
    COPY = "copy"
    COMMAND = "command"
    """Copy what is to be typed, `RemedyView.command`."""
    FIX = "fix"
    """Take the remedy of `RemedyView.number`."""


class RemedyView(msgspec.Struct, frozen=True, kw_only=True):
    """One button of the card."""

    remedy: Remedy
    text: str
    primary: bool = False
    number: int | None = None
    tooltip: str = ""
    command: str = ""
    """What `COMMAND` copies."""


class ProblemView(msgspec.Struct, frozen=True, kw_only=True):
    """The card."""

    is_question: bool
    """A step that wants a yes, not a failure."""
    title: str
    hint: str
    code: str
    evidence: str
    evidence_button: str
    remedies: tuple[RemedyView, ...]
    report: str
    """What `Copy` puts on the clipboard."""


def fault_info(fault_id: str, kind: str) -> ErrorInfo:
    """Return what is shown for an exception that nobody foresaw, logged under `fault_id`."""
    return ErrorInfo(
        code="unexpected",
        message=t(
            "The window met an error that it does not know: {kind}, number {fault_id}."
        ).format(kind=kind, fault_id=fault_id),
        hint=t("Try again. The window's log holds the details under this number."),
        data={"fault_id": fault_id},
    )


def problem_view(
    info: ErrorInfo, *, can_retry: bool = True, offered: tuple[Offered, ...] = ()
) -> ProblemView:
    """Return the card for `info`; what is `offered` about it becomes buttons, its advice words."""
    question = needs_consent(info)
    mine = tuple(one for one in offered if one.about == info.code)
    ways = _remedies(info, question=question, can_retry=can_retry)
    fixes = _fixes(mine) if can_retry else ()
    if fixes:
        fixes = (msgspec.structs.replace(fixes[0], primary=True), *fixes[1:])
        ways = tuple(msgspec.structs.replace(way, primary=False) for way in ways)
    return ProblemView(
        is_question=question,
        title=told(info.message),
        hint=_hint(info, mine),
        code=info.code,
        evidence="\n".join(info.evidence),
        evidence_button=plural(len(info.evidence), "line that proves it", "lines that prove it"),
        remedies=(*fixes, *ways, *_commands(mine)),
        report=_report(info),
    )


def needs_consent(info: ErrorInfo) -> bool:
    """Tell whether a yes is what is missing: the data of a `NeedsConsent` names both sizes."""
    return info.data.keys() >= {"download_bytes", "disk_bytes"} or "consent" in info.code


def free_port(info: ErrorInfo) -> int | None:
    """Return the port that is offered instead of the taken one."""
    port = info.data.get("free_port")
    return port if isinstance(port, int) and not isinstance(port, bool) else None


def _fixes(offered: tuple[Offered, ...]) -> tuple[RemedyView, ...]:
    return tuple(
        RemedyView(
            remedy=Remedy.FIX,
            text=cure_words(one.remedy),
            number=one.number,
            tooltip=told(one.remedy.text),
        )
        for one in offered
        if one.number is not None and one.remedy.can_apply
    )


def _commands(offered: tuple[Offered, ...]) -> tuple[RemedyView, ...]:
    return tuple(
        RemedyView(
            remedy=Remedy.COMMAND,
            text=t("Copy the command"),
            tooltip=f"{one.command}\n{told(one.remedy.text)}",
            command=one.command,
        )
        for one in offered
        if one.command and not one.remedy.can_apply
    )


def _hint(info: ErrorInfo, offered: tuple[Offered, ...]) -> str:
    """Return what to do: the error's own hint, then every remedy as a line."""
    hint = info.hint or ""
    others = [one for one in offered if one.remedy.text != hint]
    return "\n".join(part for part in (told(hint), *map(_line, others)) if part)


def _line(one: Offered) -> str:
    """Return a remedy, with its command where its words do not name that already."""
    words, command = one.remedy.text, one.command
    is_typed = command is not None and not one.remedy.can_apply and command not in words
    return f"• {told(words)} ({command})" if is_typed else f"• {told(words)}"


def _remedies(info: ErrorInfo, *, question: bool, can_retry: bool) -> tuple[RemedyView, ...]:
    copy = RemedyView(remedy=Remedy.COPY, text=t("Copy report"))
    if not can_retry:
        return (copy,)
    if question:
        return (RemedyView(remedy=Remedy.CONSENT, text=_yes(info), primary=True),)
    retry = RemedyView(remedy=Remedy.RETRY, text=t("Try again"))
    port = free_port(info) if info.code in ("port-taken", "port-reserved") else None
    if port is not None:
        take = RemedyView(
            remedy=Remedy.TAKE_PORT, text=t("Use port {port}").format(port=port), primary=True
        )
        return (take, retry, copy)
    return (msgspec.structs.replace(retry, primary=True), copy)


def _yes(info: ErrorInfo) -> str:
    size = info.data.get("download_bytes")
    if isinstance(size, int | float) and not isinstance(size, bool) and size > 0:
        return t("Yes, download {size}").format(size=bytes_text(size))
    return t("Yes, go on")


def _report(info: ErrorInfo) -> str:
    parts = [f"{info.code}: {info.message}", info.hint or "", *info.evidence]
    return "\n".join(part for part in parts if part)
