"""Which rules an engine's name stands for."""

import pytest

from studio.domain.errors import BadInput
from studio.planner.engine import HYPERQWEN, SM70, Device, Rule, engine, stock


@pytest.mark.parametrize(
    ("name", "version", "device"),
    [
        ("vllm-0.26.0", (0, 26), Device.CUDA),
        ("cpu-vllm-0.32.0", (0, 32), Device.CPU),
        ("cu13-hyperqwen-0.31.0", (0, 31), Device.CUDA),
        ("sm70-1cat-1.5.2", (0, 26), Device.CUDA),
    ],
)
def test_a_name_says_version_and_device(
    name: str, version: tuple[int, int], device: Device
) -> None:
    """Runtime ids and `--engine` share one spelling."""
    found = engine(name)

    assert found.version == version
    assert found.device is device
    assert found.doubt is None


def test_the_series_add_their_rules() -> None:
    """A patched engine lays the same model out otherwise."""
    warm = {Rule.PROFILES_WARM}
    assert engine("cu13-hyperqwen-0.31.0").rules == stock((0, 31)) | HYPERQWEN | warm
    assert engine("hyperqwen-0.29.0").rules == stock((0, 29)) | HYPERQWEN
    assert engine("sm70-1cat-1.5.2").rules >= SM70
    assert not engine("vllm-0.31.0").rules & HYPERQWEN


def test_rules_come_and_go_with_versions() -> None:
    """What 0.26 did and 0.32 does not, and the other way round."""
    assert Rule.RESERVES_NULL not in stock((0, 28))
    assert Rule.RESERVES_NULL in stock((0, 29))
    assert Rule.MAMBA_ALL in stock((0, 31))
    assert Rule.MAMBA_ALL not in stock((0, 32))


@pytest.mark.parametrize(("name", "used"), [("vllm-0.25.1", (0, 26)), ("vllm-0.40.0", (0, 32))])
def test_a_version_that_was_not_read_is_planned_by_the_nearest(
    name: str, used: tuple[int, int]
) -> None:
    """A new release must not end in a refusal, nor in a promise."""
    found = engine(name)

    assert found.version == used
    assert found.doubt is not None


def test_a_name_without_a_version_is_refused_with_an_example() -> None:
    """`--engine vllm` says nothing that could be computed with."""
    with pytest.raises(BadInput) as refused:
        engine("vllm")

    assert refused.value.code == "engine-unknown"
    assert "vllm-0.31.0" in (refused.value.hint or "")
