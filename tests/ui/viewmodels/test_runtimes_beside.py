"""Updates, installations, what is open, what may go, and the steps of an installation."""

import msgspec

from studio.domain.control import RuntimeVersions
from studio.domain.integrity import Collected
from studio.domain.runtimes import UpdateKind
from studio.ui.viewmodels.runtimes import RuntimesKnown
from studio.ui.viewmodels.runtimes_beside import (
    can_forget,
    garbage_view,
    open_views,
    trail,
    update_views,
    version_views,
)
from tests.ui.fake_runtimes import (
    CPU,
    GARBAGE,
    INSTALLING,
    NEW_ID,
    OLD_ID,
    QWEN,
    UPDATE,
    VOLTA,
    detail_of,
    installed,
)

replace = msgspec.structs.replace
KNOWN = RuntimesKnown(is_live=True, chosen=CPU.name, detail=detail_of(CPU), updates=(UPDATE,))


def test_an_update_lists_every_change_and_its_cost_before_anything_is_fetched() -> None:
    """What nobody knows is said to be not known."""
    [view] = update_views(KNOWN)

    assert view.changes.splitlines() == [
        "Packages", "~ transformers 5.19.0 → 5.19.1", "- py-cpuinfo 9.0.0",
        "Patches", "+ 0005-quiet-shutdown.patch", "Knobs and settings: not known",
    ]  # fmt: skip
    assert view.cost == "57.1 MiB to download · about 209.8 MiB of disk · used by cpu-demo"
    [unsized] = update_views(replace(KNOWN, updates=(replace(UPDATE, disk_bytes=None),)))
    assert unsized.cost == "57.1 MiB to download · used by cpu-demo"
    assert view.button.enabled
    assert update_views(replace(KNOWN, chosen="another")) == ()


def test_a_newer_release_goes_beside_and_one_that_does_not_fit_says_why() -> None:
    """Presets say which one they run on."""
    release = replace(
        UPDATE, kind=UpdateKind.RELEASE, target="cpu-vllm-0.33.0", title="vLLM 0.33.0 for CPU",
        usable=False, reasons=("Needs glibc 2.38.",), is_here=True,
    )  # fmt: skip

    [view] = update_views(replace(KNOWN, updates=(release,)))

    assert view.title == "vLLM 0.33.0 for CPU is newer, and goes beside it"
    assert view.cost.startswith("It is here already")
    assert not view.button.enabled
    assert view.reasons == ("Needs glibc 2.38.",)


def test_installations_stand_newest_first_and_one_alone_says_nothing() -> None:
    """The one in use is named in words."""
    kept = (installed(OLD_ID, "2026-10-02T09:12:00Z"), installed(NEW_ID, "2026-11-29T15:40:52Z"))
    versions = RuntimeVersions(name=CPU.name, current=NEW_ID, kept=kept)

    views = version_views(replace(KNOWN, versions=versions))

    assert [view.word for view in views] == ["in use", "kept"]
    assert views[0].text.startswith(NEW_ID[:12])
    assert version_views(replace(KNOWN, versions=replace(versions, kept=kept[:1]))) == ()


def test_what_a_runtime_waits_for_can_be_given() -> None:
    """A hash, a commit, or a yes; each by its own field."""
    qwen = replace(KNOWN, chosen=QWEN.name, detail=detail_of(QWEN))
    assert [(view.kind, bool(view.field)) for view in open_views(qwen)] == [
        ("hash", True), ("commit", True),
    ]  # fmt: skip
    volta = replace(KNOWN, chosen=VOLTA.name, detail=detail_of(VOLTA))
    [mark] = open_views(volta)
    assert (mark.kind, mark.field, mark.button) == ("confirm", "", "I agree")
    assert open_views(KNOWN) == ()
    assert not can_forget(KNOWN)
    agreed = replace(detail_of(VOLTA), agreed=("lock",), open=())
    assert can_forget(replace(volta, detail=agreed))


def test_a_clean_up_shows_what_goes_before_it_goes() -> None:
    """With the size that is free afterwards."""
    view = garbage_view(GARBAGE, can_act=True)
    assert view is not None
    assert view.title == "Nothing uses these. Removing them frees 3.00 GiB."
    assert view.lines[0].endswith("an installation that was left two updates ago")
    assert garbage_view(None, can_act=True) is None
    assert garbage_view(Collected(removals=(), bytes=0, is_dry_run=True), can_act=True) is None
    assert garbage_view(replace(GARBAGE, is_dry_run=False), can_act=True) is None


def test_the_steps_of_an_installation_are_named_in_order() -> None:
    """Ten steps, one of them under way."""
    steps = trail(INSTALLING)

    assert [step.text for step in steps if step.is_done] == ["Plan", "Room"]
    assert [step.text for step in steps if step.is_now] == ["Fetch"]
    assert len(steps) == 10
    assert trail(None) == ()
    assert trail(replace(INSTALLING, step=None)) == ()
