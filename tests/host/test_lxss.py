"""Where WSL keeps the disk images of its distributions, by a person's registry."""

from pathlib import Path

import pytest

from studio.host import lxss
from tests.fakes.registry import FakeRegistry


def registered(**values: str) -> FakeRegistry:
    """Return a registry with one distribution called `ours`, and the key of the default one."""
    registry = FakeRegistry()
    registry.write(lxss.KEY, "DefaultDistribution", "{1}")
    for name, value in {"DistributionName": "ours", **values}.items():
        registry.write(rf"{lxss.KEY}\{{1}}", name, value)
    return registry


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"BasePath": "/a/b"}, Path("/a/b/ext4.vhdx")),
        ({"BasePath": "\\\\?\\/a/b", "VhdFileName": "x.vhdx"}, Path("/a/b/x.vhdx")),
        ({"BasePath": ""}, None),
        ({}, None),
    ],
    ids=["plain", "verbatim", "empty", "missing"],
)
def test_the_image_lies_in_the_registered_folder(
    values: dict[str, str], expected: Path | None
) -> None:
    """Older versions of WSL write no name of the file."""
    assert lxss.disk(registered(**values), "ours") == expected


def test_a_distribution_of_another_name_is_not_ours() -> None:
    """Neither is one whose name only begins like it."""
    registry = registered(BasePath="/a")
    assert lxss.disk(registry, "our") is None
    assert lxss.disk(FakeRegistry(), "ours") is None
