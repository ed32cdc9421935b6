"""Updates in words: what it costs, what changes, and what to type."""

import msgspec

from studio.cli.updates_text import NO_UPDATES, updated_text, updates_text
from tests.cli.runtime_samples import UPDATED, UPDATES


def test_an_update_says_cost_changes_and_command() -> None:
    """A person decides on this page; nothing about it may come as a surprise later."""
    text = updates_text(UPDATES.updates)

    assert text.splitlines()[:12] == [
        "cpu-vllm-0.32.0 (3f9a0c51b7d2): its recipe has changed",
        "  1.0 MiB to download, about 5.0 MiB of disk",
        "  Used by cpu-demo",
        "  Packages:",
        "    ~ numpy 2.0 → 2.1",
        "    + zlib-ng 0.5",
        "    - six 1.16",
        "  Patches:",
        "    + 0005-new.patch",
        "  Knobs and settings: not known: the installation does not say what it was made of",
        "  Get it: weir runtime update cpu-vllm-0.32.0",
        "",
    ]


def test_one_that_cannot_be_had_says_why_and_offers_nothing() -> None:
    """A command that is going to fail is no offer."""
    text = updates_text(UPDATES.updates[1:])

    assert "sm70-1cat-1.5.2 is newer, and goes beside it" in text
    assert "No source gives the sha256" in text
    assert "Python: a → b" in text
    assert "Get it" not in text


def test_one_that_is_here_already_costs_nothing() -> None:
    """After a step back, going forward is an update too."""
    here = msgspec.structs.replace(UPDATES.updates[0], is_here=True, fetch_bytes=0)

    assert "nothing to download" in updates_text([here])


def test_nothing_to_update_is_an_answer() -> None:
    """So is an update that changed nothing."""
    assert updates_text([]) == NO_UPDATES
    assert "nothing to update" in updated_text(
        msgspec.structs.replace(UPDATED, after=UPDATED.before)
    )
    assert "weir runtime rollback cpu-vllm-0.32.0" in updated_text(UPDATED)
