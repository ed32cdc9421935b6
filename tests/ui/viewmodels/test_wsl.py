"""The way to a Linux on Windows, in words."""

import pytest

from studio.domain.errors import ErrorInfo
from studio.domain.wsl import WslReport, WslStep
from studio.ui.viewmodels.words import Shape
from studio.ui.viewmodels.wsl import BY_ITSELF, Doing, is_needed, wsl_view


@pytest.mark.parametrize("step", list(WslStep))
def test_every_step_has_words_and_exactly_what_is_missing_is_marked(step: WslStep) -> None:
    """A step without a line would leave a person with a button that says nothing."""
    view = wsl_view(WslReport(step=step), None, None)

    marked = [one for one in view.steps if one.word == "now"]
    assert len(marked) == (1 if step in WslStep and step.value in _ON_THE_WAY else 0)
    assert view.button.enabled
    assert (view.button.text == "Look again") is (step not in BY_ITSELF)
    if is_needed(WslReport(step=step)):
        assert view.lines


_ON_THE_WAY = ("firmware", "install", "restart", "update", "import", "start")


def test_it_is_shown_only_while_a_service_cannot_be_had() -> None:
    """A set-up Linux whose service is down is the banner's matter."""
    needed = {step for step in WslStep if is_needed(WslReport(step=step))}

    assert needed == {
        WslStep.FIRMWARE, WslStep.INSTALL, WslStep.RESTART, WslStep.UPDATE, WslStep.IMPORT,
        WslStep.REFUSED,
    }  # fmt: skip
    assert not is_needed(None)


def test_what_is_under_way_says_how_long_and_how_much() -> None:
    """The end of an import is not known, so there is no share."""
    report = WslReport(step=WslStep.IMPORT, importing_bytes=96 << 20)

    view = wsl_view(
        report, Doing(step=WslStep.IMPORT, elapsed_s=72.0), ErrorInfo(code="x", message="Old.")
    )

    assert "1 min 12 s" in view.busy
    assert view.busy.endswith("96.0 MiB written")
    assert view.problem == ""
    assert not view.button.enabled


def test_what_a_person_has_to_do_in_the_firmware_stands_at_its_step() -> None:
    """By the maker of the processor, as the service found it."""
    view = wsl_view(WslReport(step=WslStep.FIRMWARE, firmware="Switch SVM on."), None, None)

    assert view.steps[0].shape is Shape.CROSS
    assert view.steps[0].spoken.endswith("Switch SVM on.")
    assert view.steps[1].word == "later"


def test_a_refusal_says_why_and_what_to_do() -> None:
    """The problem of the report, or of the last try."""
    info = ErrorInfo(code="wsl-failed", message="A rule keeps WSL from running.", hint="Ask.")

    assert wsl_view(WslReport(step=WslStep.REFUSED, problem=info), None, None).problem == (
        "A rule keeps WSL from running. Ask."
    )
