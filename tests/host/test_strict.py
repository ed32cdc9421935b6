"""Keys that a type does not know, wherever they stand."""

from typing import Any

import msgspec
import pytest

from studio.domain.hardware import HostSnapshot
from studio.host.strict import UnknownKey, unknown_key

BARE = {"system": "linux", "machine": "x86_64", "os_name": "Debian"}


@pytest.mark.parametrize(
    ("raw", "place", "key"),
    [
        ({**BARE, "memry_bytes": 1}, "$", "memry_bytes"),
        ({**BARE, "gpus": [{}, {"totl_bytes": 1}]}, "$.gpus[1]", "totl_bytes"),
        ({**BARE, "gpus": [{"processes": [{"pidd": 1}]}]}, "$.gpus[0].processes[0]", "pidd"),
        ({**BARE, "toolchain": {"nvcc": {"pth": ""}}}, "$.toolchain.nvcc", "pth"),
    ],
)
def test_a_misspelt_key_is_found_with_its_place(raw: dict[str, Any], place: str, key: str) -> None:
    """It would otherwise be silently unknown."""
    assert unknown_key(raw, HostSnapshot) == UnknownKey(place, key)


@pytest.mark.parametrize("raw", [BARE, {**BARE, "gpus": None}, {**BARE, "gpus": "x"}, [], 5])
def test_wrong_types_are_left_to_the_decoder(raw: object) -> None:
    """It says it better."""
    assert unknown_key(raw, HostSnapshot) is None


def test_keys_of_the_persons_own_are_no_mistake() -> None:
    """A map from names to values knows every name."""

    class Holder(msgspec.Struct):
        names: dict[str, HostSnapshot]

    assert unknown_key({"names": {"any": BARE}}, Holder) is None
    found = unknown_key({"names": {"any": {"x": 1}}}, Holder)
    assert found == UnknownKey("$.names.any", "x")
