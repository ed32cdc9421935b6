"""Runtimes as text: nothing is cut off, nothing is wider than the terminal, unknown is said."""

import msgspec
import pytest

from studio.cli import runtime_text
from studio.domain.hardware import HostSnapshot
from studio.domain.integrity import Difference, DifferenceKind
from studio.domain.runtimes import (
    BuiltStep,
    InstallStopped,
    RuntimeDetail,
    RuntimeInfo,
    RuntimeState,
    RuntimeWork,
    StepState,
)
from studio.host.paths import Paths, bundled_root
from studio.runtimes import describe
from studio.runtimes.catalog import Catalog
from tests.cli.runtime_samples import COLLECTED, REPAIRED, RUNTIMES, VERDICT, VERSIONS

PATHS = Paths(home=bundled_root() / "nowhere", catalogue=bundled_root())
HOST = HostSnapshot(system="linux", machine="x86_64", os_name="Debian")
DETAILS = [describe.detail(one, None, PATHS, HOST) for one in Catalog(PATHS).recipes()]


def in_one_line(text: str) -> str:
    """Return text without its line breaks."""
    return " ".join(text.split())


def info(**changes: object) -> RuntimeInfo:
    """Return a runtime with changes."""
    return msgspec.structs.replace(RUNTIMES[0], **changes)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("found", DETAILS, ids=lambda found: found.info.name)
def test_every_shipped_runtime_fits_the_terminal(found: RuntimeDetail, width: int) -> None:
    """Only an address, a file name or a digest may be longer than the line."""
    for text in (
        runtime_text.detail_text(found, width),
        runtime_text.list_text([found.info], width),
        runtime_text.pinned_text(found, width),
    ):
        long = [line for line in text.splitlines() if len(line) > width]
        assert [line for line in long if len(line.removeprefix("  - ").split()) > 1] == []


@pytest.mark.parametrize("found", DETAILS, ids=lambda found: found.info.name)
def test_nothing_that_a_recipe_says_is_left_out(found: RuntimeDetail) -> None:
    """The person decides by what stands here."""
    text = in_one_line(runtime_text.detail_text(found, 100))

    for said in (
        *found.info.reasons,
        *found.knobs,
        *(one.purpose for one in found.tools),
        *(one.fallback_cost for one in found.steps if one.fallback_cost),
        *(one.what for one in found.open),
        *(one.text for one in found.notes),
        *(one.commit for one in found.patches if one.commit),
        *(one.sha256 for one in found.wheels if one.sha256),
    ):
        assert in_one_line(said) in text


def test_an_unknown_hash_and_commit_are_said_to_be_unknown() -> None:
    """Nothing stands where a value would stand."""
    by_name = {one.info.name: runtime_text.detail_text(one, 100) for one in DETAILS}

    assert "1cat-vllm 1.5.2: sha256 not known." in in_one_line(by_name["sm70-1cat-1.5.2"])
    assert "HyperQwen at no commit yet" in in_one_line(by_name["cu13-hyperqwen-0.32.0"])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (info(), "installed (3f9a0c51b7d2) · 2.00 GiB on disk · works on this machine"),
        (
            info(state=RuntimeState.AVAILABLE, runtime_id=None, bytes=585_000_000),
            "can be installed · 557.9 MiB to download · works on this machine",
        ),
        (
            info(state=RuntimeState.AVAILABLE, runtime_id=None, bytes=None, usable=False),
            "can be installed · does not work on this machine",
        ),
        (
            info(state=RuntimeState.DAMAGED, runtime_id=None, bytes=None, usable=False),
            "damaged · does not work on this machine",
        ),
        (info(bytes=None), "installed (3f9a0c51b7d2) · – on disk · works on this machine"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_state_size_and_verdict_stand_in_one_line(found: RuntimeInfo, said: str) -> None:
    """An unknown size is shown as unknown."""
    assert said in runtime_text.list_text([found], 120)


def test_what_only_waits_for_a_yes_is_no_verdict_on_the_machine() -> None:
    """The machine may be right; it is the person who is asked."""
    text = runtime_text.list_text(RUNTIMES, 120)

    assert "does not work" not in text
    assert "unverified: something needs a hash or a yes from you" in text


def test_a_catalogue_without_runtimes_says_so() -> None:
    """An empty answer looks like a failure."""
    assert runtime_text.list_text([]) == "The catalogue holds no runtime."


def test_what_is_still_in_the_way_is_listed() -> None:
    """After a commit, the hash."""
    by_name = {one.info.name: one for one in DETAILS}

    text = runtime_text.pinned_text(by_name["sm70-1cat-1.5.0"], 100)

    assert text.startswith("sm70-1cat-1.5.0: written down. Still in the way:\n  - ")


def test_a_verdict_names_the_first_differences_and_counts_the_rest() -> None:
    """A folder that antivirus ate has thousands."""
    many = tuple(
        Difference(path=f"python/lib/{number}.so", kind=DifferenceKind.MISSING)
        for number in range(1_500)
    )

    text = runtime_text.verdict_text(msgspec.structs.replace(VERDICT, differences=many), 80)

    assert text.startswith("cpu-vllm-0.32.0 (3f9a0c51b7d2): 1500 files differ")
    assert "and 1,480 more" in text
    assert len(text.splitlines()) < 30


def test_a_runtime_without_a_list_of_files_is_not_called_whole() -> None:
    """Not known is not well."""
    text = runtime_text.verdict_text(msgspec.structs.replace(VERDICT, is_known=False), 80)

    assert "nothing can be compared" in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "is repaired: 3 files restored, 1 removed, 40 compiled, 2.5 s."),
        ({"is_rebuilt": True}, "was installed anew, in 2.5 s."),
        ({"restored": 0, "removed": 0, "compiled": 0}, "needed no repair (2.5 s)."),
    ],
    ids=str,
)
def test_a_repair_says_what_it_did(changes: dict[str, object], said: str) -> None:
    """Nothing to do is news too."""
    text = runtime_text.repaired_text(msgspec.structs.replace(REPAIRED, **changes))

    assert text.endswith(said)


def test_nothing_kept_and_nothing_unused_are_said() -> None:
    """An empty table looks like a failure."""
    none_kept = msgspec.structs.replace(VERSIONS, kept=(), current=None)
    nothing = msgspec.structs.replace(COLLECTED, removals=(), bytes=0)
    dry = msgspec.structs.replace(COLLECTED, is_dry_run=True)

    assert runtime_text.versions_text(none_kept) == "cpu-vllm-0.32.0 is not installed."
    assert runtime_text.collected_text(nothing) == "Nothing is unused."
    assert "3.00 GiB would be free again" in runtime_text.collected_text(dry)


def test_what_was_built_and_what_was_left_out_is_shown() -> None:
    """A person with a slow engine looks here first."""
    step = BuiltStep(
        name="x",
        title="xgrammar from source",
        state=StepState.FELL_BACK,
        reason="compiler: gcc was not found.",
        fallback="the released one",
        cost="7 tok/s",
        definition="d",
    )
    found = msgspec.structs.replace(
        DETAILS[0], built=(step,), left_out=("Boot ledger: a hunk was rejected.",)
    )

    text = in_one_line(runtime_text.detail_text(found, 100))

    assert "Built on this machine - xgrammar from source: not built; compiler: gcc" in text
    assert "cost: 7 tok/s." in text
    assert "Left out, for it does not fit - Boot ledger: a hunk was rejected." in text


def test_patches_that_are_left_out_are_named_with_what_that_costs() -> None:
    """The page about patches promises it; and a step is chosen by its name."""
    by_name = {one.info.name: one for one in DETAILS}
    older = in_one_line(runtime_text.detail_text(by_name["cu13-hyperqwen-0.31.0"], 80))
    newer = in_one_line(runtime_text.detail_text(by_name["cu13-hyperqwen-0.32.0"], 80))

    assert "0001-parent-death.patch: an engine whose server is killed" in older
    assert "0002-boot-ledger.patch: pool and memory are read" in older
    assert "another series does the same: 0003-deny-by-default.patch" in older
    assert "1 patch, the Studio's own" in older
    assert "1 patches" not in older
    assert "Left out where it does not fit; then pool and memory are read" in newer
    assert "pth-flash-attn: " in older
    assert "`--with pth-flash-attn`" in older


def test_a_stop_without_effect_says_why() -> None:
    """Nothing was under way, or it was over already; neither reads as if it was stopped."""
    nothing = InstallStopped(runtime="tiny-1.0", was_running=False)
    late = InstallStopped(
        runtime="tiny-1.0", was_running=True, is_finished=True, current="3f9a0c51b7d2e8"
    )
    first = InstallStopped(runtime="tiny-1.0", was_running=True)

    assert "nothing to stop" in runtime_text.stopped_text(nothing)
    assert "3f9a0c51b7d2 is in use" in runtime_text.stopped_text(late)
    assert "stays in use" not in runtime_text.stopped_text(first)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (RuntimeWork.REPAIR, "What is restored stays restored"),
        (RuntimeWork.VERIFY, "nothing is known of what was not read"),
        (RuntimeWork.EXPORT, "No file was written"),
    ],
)
def test_a_stop_says_what_was_stopped(work: RuntimeWork, said: str) -> None:
    """Only an installation makes one wonder which is in use."""
    done = InstallStopped(runtime="tiny-1.0", was_running=True, work=work, current="3f9a0c51b7d2")
    late = msgspec.structs.replace(done, is_finished=True)

    assert said in runtime_text.stopped_text(done)
    assert "in use" not in runtime_text.stopped_text(done)
    assert "nothing to stop" in runtime_text.stopped_text(late)
