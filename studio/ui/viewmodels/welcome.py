"""The first run: what was found, what fits, what is downloaded and where, and one button."""

from collections.abc import Mapping

import msgspec

from studio.domain.control import PresetInfo
from studio.domain.doctor import EVERYTHING, Check, DoctorReport, Level
from studio.domain.errors import ErrorInfo
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import Expected
from studio.domain.plans import Plan
from studio.domain.presets import PresetDetail
from studio.domain.units import UNKNOWN, bytes_text, duration_text, rate_text, tokens_text
from studio.ui.language import marked, nt, t, told
from studio.ui.state import Known, Link, is_busy
from studio.ui.viewmodels.plan import plan_view
from studio.ui.viewmodels.presets import machine_facts
from studio.ui.viewmodels.sources import source_words
from studio.ui.viewmodels.words import ButtonView, Role, Shape, Text

MOST = 3
"""So many presets are suggested; the chooser has them all."""

_LEVELS: dict[Level, tuple[str, Role, Shape]] = {
    Level.STOPS: (marked("stops something"), Role.HARM, Shape.CROSS),
    Level.LOOK: (marked("look at this"), Role.WARN, Shape.TRIANGLE),
    Level.UNKNOWN: (marked("not known"), Role.QUIET, Shape.RING),
    Level.GOOD: (marked("good"), Role.OK, Shape.TICK),
}


class CheckView(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the doctor found."""

    title: str
    found: str
    advice: str
    role: Role
    shape: Shape
    spoken: str


class SuggestionView(msgspec.Struct, frozen=True, kw_only=True):
    """One preset that fits."""

    id: str
    title: str
    summary: str
    verdict: str
    role: Role
    shape: Shape
    figures: tuple[tuple[str, Text], ...]
    chosen: bool
    spoken: str


class WelcomeView(msgspec.Struct, frozen=True, kw_only=True):
    """The whole first run."""

    heading: str
    about: str
    facts: tuple[tuple[str, Text], ...]
    checks: tuple[CheckView, ...]
    checks_note: str
    checks_about: str
    """What else was looked at, and is good."""
    checks_role: Role
    checks_shape: Shape
    suggestions_heading: str
    suggestions: tuple[SuggestionView, ...]
    empty: str
    plan_lines: tuple[str, ...]
    """What will be done, where, and what the person has to do first."""
    steps: tuple[str, ...]
    start: ButtonView
    look_again: ButtonView


def suggested(presets: tuple[PresetInfo, ...] | None) -> tuple[PresetInfo, ...]:
    """Return the presets to suggest: those that fit, in the service's order, the best first."""
    return tuple(one for one in presets or () if one.usable)[:MOST]


def welcome_view(
    known: Known,
    chosen: str | None,
    *,
    doctor: DoctorReport | None,
    plans: Mapping[str, Plan | ErrorInfo],
    details: Mapping[str, PresetDetail],
    is_looking: bool,
) -> WelcomeView:
    """Return the first run as it stands; nothing in it is kept anywhere but in the service."""
    presets = suggested(known.presets)
    host = doctor.host if doctor is not None else known.host
    preset = next((one for one in presets if one.id == chosen), None)
    checks = tuple(_check(one) for one in (doctor.checks if doctor else ()) if one.level in _TOLD)
    note, role, shape = _checks_note(doctor, known)
    return WelcomeView(
        heading=t("Welcome"),
        about=t("Nothing has been served on this machine yet. This is what was found, what fits, "
                "and what one press would do."),
        facts=(*machine_facts(host), *_driver(host)),
        checks=checks,
        checks_note=note,
        checks_about=_checks_about(doctor),
        checks_role=role,
        checks_shape=shape,
        suggestions_heading=_fits_heading(presets, known, host),
        suggestions=tuple(
            _suggestion(one, plans.get(one.id), details.get(one.id), host, chosen)
            for one in presets
        ),
        empty=_empty(known, presets),
        plan_lines=_plan_lines(known, preset, plans.get(chosen or "")),
        steps=tuple(told(one) for one in preset.notes) if preset is not None else (),
        start=_start(known, preset, plans.get(chosen or "")),
        look_again=ButtonView(
            text=t("Look again"),
            enabled=known.link is Link.LIVE and not is_looking,
            tooltip=t("After you changed something: a driver, a disk, a network"),
        ),
    )  # fmt: skip


_TOLD = (Level.STOPS, Level.LOOK)


def _check(one: Check) -> CheckView:
    word, role, shape = _LEVELS[one.level]
    title, found, advice = told(one.title), told(one.found), told(one.advice or "")
    return CheckView(
        title=title,
        found=found,
        advice=advice,
        role=role,
        shape=shape,
        spoken=f"{title}, {t(word)}: {found} {advice}".strip(),
    )


def _checks_note(doctor: DoctorReport | None, known: Known) -> tuple[str, Role, Shape]:
    if doctor is None:
        words = t("Looking at this machine…")
        if known.link is not Link.LIVE:
            words = t("The service does not answer yet.")
        return words, Role.QUIET, Shape.RING
    worth = [one for one in doctor.checks if one.level in _TOLD]
    if any(EVERYTHING in one.stops for one in worth):
        return t("Nothing can be served before this is mended"), Role.HARM, Shape.CROSS
    if worth:
        words = nt("{n} thing to look at", "{n} things to look at", len(worth))
        return words.format(n=len(worth)), Role.WARN, Shape.TRIANGLE
    words = t("Everything is in order: {n} checks").format(n=len(doctor.checks))
    return words, Role.OK, Shape.TICK


def _checks_about(doctor: DoctorReport | None) -> str:
    good = [told(one.title) for one in doctor.checks if one.level is Level.GOOD] if doctor else []
    if not good:
        return ""
    return t("Good: {titles}").format(titles=t(", ").join(dict.fromkeys(good)))


def _driver(host: HostSnapshot | None) -> tuple[tuple[str, Text], ...]:
    if host is None or host.driver is None:
        return ()
    cuda = t(", knows CUDA {version}").format(version=host.cuda_version)
    text = f"{host.driver}{cuda if host.cuda_version else ''}"
    return ((t("Driver"), Text(text=text)),)


def _fits_heading(presets: tuple[PresetInfo, ...], known: Known, host: HostSnapshot | None) -> str:
    if not presets:
        return t("What fits")
    if host is not None and not host.gpus:
        return t("Without a card: a way to try it")
    usable = sum(one.usable for one in known.presets or ())
    if usable <= len(presets):
        return t("What fits this machine")
    return t("The best {n} of {total} that fit").format(n=len(presets), total=usable)


def _suggestion(
    preset: PresetInfo,
    plan: Plan | ErrorInfo | None,
    detail: PresetDetail | None,
    host: HostSnapshot | None,
    chosen: str | None,
) -> SuggestionView:
    found = plan if isinstance(plan, Plan) else None
    problem = plan if isinstance(plan, ErrorInfo) else None
    view = plan_view(found, problem, is_planning=plan is None)
    figures = (
        (t("Pool"), _tokens(found.pool_tokens if found else None)),
        (t("Context"), _tokens(found.max_model_len if found else None)),
        (t("Speed"), _speed(detail, host)),
        (t("Download"), _download(preset, found)),
        (t("First start"), _boot(found)),
    )
    words = ", ".join(f"{name} {text.text}" for name, text in figures)
    return SuggestionView(
        id=preset.id,
        title=told(preset.title),
        summary=told(preset.summary),
        verdict=view.verdict,
        role=view.role,
        shape=view.shape,
        figures=figures,
        chosen=preset.id == chosen,
        spoken=f"{told(preset.title)}. {told(preset.summary)} {view.verdict}. {words}",
    )


def _tokens(value: int | None) -> Text:
    if value is None:
        return Text(tooltip=t("The plan does not know it"))
    return Text(text=tokens_text(value))


def _speed(detail: PresetDetail | None, host: HostSnapshot | None) -> Text:
    """Return a published figure, of a card like the host's where there is one; never a guess."""
    rows = [one for one in detail.preset.expected if one.decode_tokens_per_s] if detail else []
    if not rows:
        return Text(tooltip=t("Nobody has published a figure for this preset"))
    names = [card.name for card in host.gpus] if host is not None else []
    row = next((one for one in rows if _is_alike(one, names)), rows[0])
    rate = rate_text(row.decode_tokens_per_s)
    card = (row.card or "").partition(",")[0]
    parts = (row.card, row.pin, row.case, row.note, row.source)
    return Text(
        text=f"{rate} · {card}" if card else rate,
        tooltip=t("Published, for one request: {facts}").format(
            facts="; ".join(part for part in parts if part)
        ),
    )


def _is_alike(row: Expected, cards: list[str]) -> bool:
    """Tell whether a figure is of a card that the host has, by the number in its name."""
    numbers = {word for card in cards for word in card.split() if word.isdecimal()}
    return bool(numbers & set((row.card or "").replace(",", " ").split()))


def _download(preset: PresetInfo, plan: Plan | None) -> Text:
    size = plan.download_bytes if plan is not None else preset.download_bytes
    if size == 0:
        return Text(text=t("nothing"), tooltip=t("All of it is on this machine"))
    seconds = plan.download_s if plan is not None else None
    if seconds is None:
        return Text(
            text=bytes_text(size), tooltip=t("How long it takes is known after the first download")
        )
    return Text(
        text=f"{bytes_text(size)} · {duration_text(seconds)}",
        tooltip=t("At the speed of the last download"),
    )


def _boot(plan: Plan | None) -> Text:
    text = duration_text(plan.boot_cold_s if plan is not None else None)
    source = plan.boot_source if plan is not None else None
    return Text(text=text, tooltip=source_words(source or "") or t("Not measured yet"))


def _empty(known: Known, presets: tuple[PresetInfo, ...]) -> str:
    if presets:
        return ""
    if known.link is not Link.LIVE or known.presets is None:
        return t("The presets appear when the service answers.")
    reasons = list(dict.fromkeys(told(reason) for one in known.presets for reason in one.reasons))
    return "\n".join((t("No preset fits this machine as it is."), *reasons[:MOST]))


def _plan_lines(
    known: Known, preset: PresetInfo | None, plan: Plan | ErrorInfo | None
) -> tuple[str, ...]:
    if preset is None:
        return ()
    if isinstance(plan, ErrorInfo):
        return tuple(told(part) for part in (plan.message, plan.hint or "") if part)
    home = known.service.home if known.service is not None else UNKNOWN
    size = plan.download_bytes if plan is not None else preset.download_bytes
    if size == 0:
        first = t("Nothing is downloaded: all of it lies in {home}.").format(home=home)
    else:
        first = t("Downloads {size} into {home}: the engine and the model.").format(
            size=bytes_text(size), home=home
        )
    lines = [first]
    if plan is not None and plan.disk_bytes:  # nothing is not worth a sentence
        lines.append(_takes(plan.disk_bytes, known.host))
    lines.append(t("It can be stopped at any time and goes on where it was, also after a reboot."))
    return tuple(lines)


def _takes(needed: int, host: HostSnapshot | None) -> str:
    size, free = bytes_text(needed), host.disk_free_bytes if host is not None else None
    if free is None:  # the machine is still being looked at
        return t("It takes {size} there once it is unpacked.").format(size=size)
    return t("It takes {size} there once it is unpacked; {free} is free.").format(
        size=size, free=bytes_text(free)
    )


def _start(known: Known, preset: PresetInfo | None, plan: Plan | ErrorInfo | None) -> ButtonView:
    size = preset.download_bytes if preset is not None else None
    size = plan.download_bytes if isinstance(plan, Plan) else size
    text = t("Download {size} and start").format(size=bytes_text(size)) if size else t("Start")
    why = ""
    if known.link is not Link.LIVE:
        why = t("The service does not answer yet.")
    elif preset is None:
        why = t("Choose a preset first.")
    elif is_busy(known):
        why = t("The engine is on its way somewhere; wait for it.")
    tip = t("Serve “{title}”").format(title=told(preset.title)) if preset is not None else ""
    return ButtonView(text=text, enabled=not why, tooltip=why or tip)
