"""The runtimes page: list, facts, buttons."""

import msgspec
import pytest

from studio.domain.control import RuntimeVersions
from studio.domain.runtimes import (
    BuiltStep,
    PatchSeriesInfo,
    RuntimeInfo,
    RuntimeList,
    RuntimeState,
    StepState,
)
from studio.ui.viewmodels.runtimes import (
    Deed,
    RuntimesKnown,
    RuntimeView,
    empty_words,
    first_pick,
    picks,
    runtime_view,
)
from tests.ui.fake_runtimes import (
    CPU,
    INSTALLING,
    NEW_ID,
    OLD_ID,
    OLDER,
    QWEN,
    VOLTA,
    detail_of,
    installed,
)

LIST = RuntimeList(runtimes=(QWEN, OLDER, VOLTA, CPU))
VERSIONS = RuntimeVersions(
    name=CPU.name,
    current=NEW_ID,
    kept=(installed(OLD_ID, "2026-10-02T09:12:00Z"), installed(NEW_ID, "2026-11-29T15:40:52Z")),
)
replace = msgspec.structs.replace


def known_of(info: RuntimeInfo, **fields: object) -> RuntimesKnown:
    """Return the page with a runtime in front."""
    base = RuntimesKnown(
        is_live=True, listed=LIST, chosen=info.name, detail=detail_of(info), versions=VERSIONS
    )
    return replace(base, **fields)


def view_of(info: RuntimeInfo, **fields: object) -> RuntimeView:
    """Return the runtime in front."""
    view = runtime_view(known_of(info, **fields))
    assert view is not None
    return view


def test_what_is_installed_comes_first_and_what_cannot_be_had_last() -> None:
    """Who opens the page looks for what they run."""
    views = picks(RuntimesKnown(listed=LIST))

    assert [view.id for view in views] == [CPU.name, OLDER.name, QWEN.name, VOLTA.name]
    assert [view.detail for view in views] == [
        "Installed · 2.24 GiB · update",
        "Can be installed · 575.6 MiB",
        "Waits for a commit",
        "Waits for you",
    ]
    assert "No NVIDIA driver" in views[2].tooltip


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (CPU, "Installed"),
        (replace(CPU, usable=False, reasons=("Too little memory.",)), "Installed, not usable here"),
        (replace(OLDER, usable=False, reasons=("No driver.",)), "Not for this machine"),
        (replace(CPU, state=RuntimeState.DAMAGED, usable=False), "Damaged"),
    ],
)
def test_the_state_is_told_in_words(info: RuntimeInfo, words: str) -> None:
    """A colour alone tells nothing."""
    assert picks(RuntimesKnown(listed=RuntimeList(runtimes=(info,))))[0].detail.startswith(words)


def test_what_was_chosen_stays_while_it_is_there() -> None:
    """A refresh must not throw a person to another runtime."""
    assert first_pick(LIST, OLDER.name) == OLDER.name
    assert first_pick(LIST, "gone") == CPU.name
    assert first_pick(RuntimeList(), None) is None


def test_an_installed_one_is_checked_repaired_left_and_exported() -> None:
    """What the command line can do, the page can."""
    deeds = {one.deed: one.button for one in view_of(CPU).deeds}

    assert list(deeds) == [Deed.REPAIR, Deed.VERIFY, Deed.BACK, Deed.EXPORT]
    assert all(button.enabled for button in deeds.values())
    back = replace(VERSIONS, current=OLD_ID)
    deeds = {one.deed: one.button for one in view_of(CPU, versions=back).deeds}
    assert not deeds[Deed.BACK].enabled
    assert "before" in deeds[Deed.BACK].tooltip
    assert deeds[Deed.FORWARD].enabled


def test_one_that_cannot_be_had_says_why_on_its_button() -> None:
    """A dead button without a word is a riddle."""
    [install] = view_of(QWEN).deeds

    assert not install.button.enabled
    assert "commit" in install.button.tooltip
    assert view_of(OLDER).deeds[0].button.enabled


def test_all_buttons_rest_while_something_is_done() -> None:
    """By this window or by anybody else."""
    for busy in ({"is_working": True}, {"stage": INSTALLING}, {"is_live": False}):
        assert not any(one.button.enabled for one in view_of(CPU, **busy).deeds)


def test_patches_of_others_can_be_fetched_once_their_commit_is_known() -> None:
    """Who installs offline later fetches them today."""
    series = PatchSeriesInfo(title="HyperQwen", repository="https://a.example", commit="5" * 40)
    detail = replace(detail_of(OLDER), patches=(series,))

    deeds = [one.deed for one in view_of(OLDER, detail=detail).deeds]

    assert deeds == [Deed.INSTALL, Deed.SERIES]


def test_facts_are_told_in_full_and_the_unknown_as_a_dash() -> None:
    """Sizes with units, dates in local words."""
    facts = {name: text.text for name, text in view_of(OLDER).facts}
    assert facts["Size"] == "575.6 MiB to download · 2.79 GiB of disk to have free · 147 packages"
    assert facts["Engine"] == "vllm 0.31.0"
    blank = replace(
        detail_of(OLDER), packages=None, download_bytes=None, disk_bytes=None, interpreter="",
        left_out=("Fast kernel: 3 % slower",), without_patches={"0001-a.patch": "no ledger"},
    )  # fmt: skip
    facts = {name: text.text for name, text in view_of(OLDER, detail=blank).facts}
    assert facts["Size"] == "– to download · – of disk to have free"
    assert facts["Python"] == "–"
    assert facts["Left out"] == "Fast kernel: 3 % slower"
    assert facts["Goes without"] == "1 patch of the Studio's own"


def test_steps_say_what_became_of_them() -> None:
    """A fall-back that costs speed must not be silent."""
    step = BuiltStep(
        name="k", title="Kernel", state=StepState.FELL_BACK, reason="no nvcc", definition="d",
        fallback="the wheel's own", cost="5 % slower",
    )  # fmt: skip

    view = view_of(CPU, detail=replace(detail_of(CPU), built=(step,)))

    assert view.steps == ("Kernel: not built, no nvcc (the wheel's own, 5 % slower)",)


def test_the_page_says_what_it_waits_for() -> None:
    """Empty is not broken."""
    assert "when the service answers" in empty_words(RuntimesKnown())
    assert "Looking" in empty_words(RuntimesKnown(is_live=True))
    assert "no runtime" in empty_words(RuntimesKnown(is_live=True, listed=RuntimeList()))
    assert runtime_view(known_of(CPU, chosen="another")) is None
