"""What recipes and people say about runtimes, as plain records."""

import msgspec
import pytest

from studio.domain.runtimes import PackageWheel, RuntimePins, RuntimeState

ROOT = "https://example.org/v1/"


@pytest.mark.parametrize(
    ("url", "file"),
    [
        (f"{ROOT}a-1.0-py3-none-any.whl", "a-1.0-py3-none-any.whl"),
        (f"{ROOT}a-1.0%2Bcu-py3-none-any.whl", "a-1.0+cu-py3-none-any.whl"),
        (ROOT, None),
    ],
)
def test_a_wheels_file_name_is_that_of_its_address(url: str, file: str | None) -> None:
    """An address that ends in a slash says that the name is not known; nothing is made up."""
    assert PackageWheel(name="a", version="1.0", url=url).file == file


@pytest.mark.parametrize(
    "raw", [b'{"runtimes": {}}', b"{}", b'{"later": 1}', b'{"runtimes": {"a": {"later": 1}}}']
)
def test_pins_of_another_version_are_read(raw: bytes) -> None:
    """Going back one version of the Studio must not lose what the person supplied."""
    assert msgspec.json.decode(raw, type=RuntimePins)


def test_the_words_of_states_are_stable() -> None:
    """Programs compare them."""
    assert [state.value for state in RuntimeState] == [
        "installed",
        "available",
        "not-pinned",
        "unverified",
        "damaged",
    ]
