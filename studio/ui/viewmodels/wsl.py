"""Setting up the Studio's Linux on Windows: what is missing, what is next, what one press does."""

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.units import bytes_text, duration_text
from studio.domain.wsl import WslReport, WslStep
from studio.ui.language import marked, t, told
from studio.ui.viewmodels.words import ButtonView, Role, Shape

BY_ITSELF = (WslStep.INSTALL, WslStep.UPDATE, WslStep.IMPORT)
"""Steps that a press takes; all others wait for a person, or need nothing."""
_SHOWN = (
    WslStep.FIRMWARE,
    WslStep.INSTALL,
    WslStep.RESTART,
    WslStep.UPDATE,
    WslStep.IMPORT,
    WslStep.START,
)


class WslStepView(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the way."""

    title: str
    word: str
    note: str
    role: Role
    shape: Shape

    @property
    def spoken(self) -> str:
        """Return what a screen reader says."""
        return f"{self.title}, {self.word}. {self.note}".strip()


class WslView(msgspec.Struct, frozen=True, kw_only=True):
    """The whole way, and where it stands."""

    heading: str
    about: str
    steps: tuple[WslStepView, ...]
    problem: str
    """What went wrong and what to do; empty: nothing did."""
    busy: str
    """What is being done; empty: nothing is."""
    lines: tuple[str, ...]
    button: ButtonView
    look_again: ButtonView


class Doing(msgspec.Struct, frozen=True, kw_only=True):
    """A step under way."""

    step: WslStep
    elapsed_s: float


_TITLES: dict[WslStep, str] = {
    WslStep.FIRMWARE: marked("Virtualization"),
    WslStep.INSTALL: marked("Windows Subsystem for Linux"),
    WslStep.RESTART: marked("Windows started anew"),
    WslStep.UPDATE: marked("A recent WSL"),
    WslStep.IMPORT: marked("The Studio's Linux"),
    WslStep.START: marked("Its service"),
}
_MISSING: dict[WslStep, str] = {
    WslStep.FIRMWARE: marked("It is switched off in this PC's firmware."),
    WslStep.INSTALL: marked("It is not installed."),
    WslStep.RESTART: marked("It was installed; Windows has to be started anew."),
    WslStep.UPDATE: marked("It is too old."),
    WslStep.IMPORT: marked("It is not there yet."),
    WslStep.START: marked("It is being started."),
}
_LINES: dict[WslStep, tuple[str, ...]] = {
    WslStep.FIRMWARE: (
        marked("Restart the PC, switch it on as it says above, and start the Studio again."),
    ),
    WslStep.INSTALL: (
        marked("Windows asks for the administrator, fetches WSL from Microsoft, and then wants a "
               "restart."),
        marked("When you log on again, the setup goes on by itself and opens this window."),
    ),
    WslStep.RESTART: (
        marked("Restart Windows. When you log on again, the setup goes on by itself and opens "
               "this window."),
    ),
    WslStep.UPDATE: (marked("Windows fetches the newest WSL from Microsoft."),),
    WslStep.IMPORT: (
        marked("Unpacks the Linux that came along and gives it to WSL under the name weir-studio. "
               "It needs no administrator, and no other distribution is touched."),
    ),
    WslStep.REFUSED: (marked("It cannot go on by itself: what to do stands above."),),
}  # fmt: skip
_BUTTONS: dict[WslStep, str] = {
    WslStep.INSTALL: marked("Install WSL"),
    WslStep.UPDATE: marked("Update WSL"),
    WslStep.IMPORT: marked("Set up the Linux"),
}
_BUSY: dict[WslStep, str] = {
    WslStep.INSTALL: marked("Windows installs WSL; answer its question."),
    WslStep.UPDATE: marked("WSL is being updated."),
    WslStep.IMPORT: marked("The Studio's Linux is being unpacked and given to WSL."),
}


def is_needed(report: WslReport | None) -> bool:
    """Tell whether something has to be done before a service can be reached."""
    steps = (*_SHOWN[:-1], WslStep.REFUSED)
    return report is not None and report.step in steps


def wsl_view(report: WslReport, doing: Doing | None, problem: ErrorInfo | None) -> WslView:
    """Return the way as it stands; `doing` is under way, `problem` ended the last try."""
    step = doing.step if doing is not None else report.step
    found = problem or report.problem
    firmware = told(report.firmware) if report.firmware else ""
    words = " ".join(told(part) for part in (found.message, found.hint) if part) if found else ""
    rests = doing is not None
    text = t(_BUTTONS[step]) if step in _BUTTONS else t("Look again")
    return WslView(
        heading=t("A Linux for the engines"),
        about=t("Engines need Linux. On Windows the Studio keeps a small one of its own inside "
                "WSL 2; this is set up once."),
        steps=tuple(_step(one, step, firmware) for one in _SHOWN),
        problem="" if rests else words,
        busy=_busy(report, doing) if doing is not None else "",
        lines=tuple(t(line) for line in _LINES.get(step, ())),
        button=ButtonView(text=text, enabled=not rests),
        look_again=ButtonView(
            text=t("Look again"),
            enabled=not rests,
            visible=step in _BUTTONS,
            tooltip=t("After you changed something"),
        ),
    )  # fmt: skip


def _step(one: WslStep, now: WslStep, firmware: str) -> WslStepView:
    if one is now:
        shape, role = Shape.HALF, Role.WATER
        if one is WslStep.FIRMWARE:
            shape, role = Shape.CROSS, Role.HARM
        note = t(_MISSING[one])
        if one is WslStep.FIRMWARE and firmware:
            note = f"{note} {firmware}"
        return WslStepView(
            title=t(_TITLES[one]), word=t("now"), note=note, role=role, shape=shape
        )  # fmt: skip
    if _is_proven(one, now):
        return WslStepView(
            title=t(_TITLES[one]), word=t("done"), note="", role=Role.OK, shape=Shape.TICK
        )
    is_unseen = one is WslStep.FIRMWARE
    return WslStepView(
        title=t(_TITLES[one]),
        word=t("not known yet") if is_unseen else t("later"),
        note=t("Seen once WSL is there.") if is_unseen else "",
        role=Role.QUIET,
        shape=Shape.RING,
    )


def _is_proven(one: WslStep, now: WslStep) -> bool:
    """Tell whether a step is behind us: a WSL that answers proves virtualization, too."""
    if now not in _SHOWN:
        return False
    if one is WslStep.FIRMWARE:
        return now in (WslStep.UPDATE, WslStep.IMPORT, WslStep.START)
    return _SHOWN.index(one) < _SHOWN.index(now)


def _busy(report: WslReport, doing: Doing) -> str:
    parts = [t(_BUSY.get(doing.step, marked("Looking."))), duration_text(doing.elapsed_s)]
    if doing.step is WslStep.IMPORT and report.importing_bytes:
        written = t("{size} written").format(size=bytes_text(report.importing_bytes))
        parts.append(written)
    return " · ".join(parts)
