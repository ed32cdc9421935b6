"""The table of wheel sizes: the wheel that will be taken, and only pins of the lock."""

import tomllib
from pathlib import Path

from installer import sizes
from studio.runtimes.sizes import WheelSizes

LOCK = (
    "numpy==2.4.0 --hash=sha256:aa\ntorch==2.13.0+cpu --hash=sha256:bb\npure==1 --hash=sha256:cc\n"
)


def wheel(name: str, size: int) -> sizes.Wheel:
    """Return an entry of a pylock.toml."""
    return {"url": f"https://example.org/x/{name}", "size": size}


def test_the_wheel_of_this_python_and_platform_counts(tmp_path: Path) -> None:
    """An index has thirty of each; a wheel folder says no size, but the file does."""
    local = tmp_path / "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"
    local.write_bytes(b"t" * 77)
    packages: list[sizes.Package] = [
        {
            "name": "numpy",
            "version": "2.4.0",
            "wheels": [
                wheel("numpy-2.4.0-cp312-cp312-manylinux_2_28_x86_64.whl", 1),
                wheel("numpy-2.4.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", 2),
                wheel("numpy-2.4.0-cp311-cp311-macosx_14_0_arm64.whl", 3),
                wheel("numpy-2.4.0-cp311-cp311-win_amd64.whl", 4),
                wheel("numpy-2.4.0-cp311-cp311-manylinux_2_28_aarch64.whl", 5),
            ],
        },
        {"name": "torch", "version": "2.13.0+cpu", "wheels": [{"url": local.as_uri()}]},
        {"name": "pure", "version": "1", "wheels": [wheel("pure-1-py3-none-any.whl", 9)]},
        {"name": "stranger", "version": "1", "wheels": [wheel("stranger-1-py3-none-any.whl", 8)]},
    ]

    found = sizes.sizes(LOCK, packages, "3.11")

    assert found == {"numpy==2.4.0": 2, "torch==2.13.0+cpu": 77, "pure==1": 9}


def test_what_is_written_can_be_read() -> None:
    """By the same types that the Studio reads it with."""
    document = tomllib.loads(sizes.text({"torch==2.13.0+cpu": 5}))

    assert document["platforms"][sizes.PLATFORM] == {"torch==2.13.0+cpu": 5}
    assert set(document) == set(WheelSizes.__struct_fields__)
