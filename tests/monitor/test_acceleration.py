"""What the V100 engine tells of its fast paths, in whatever shape."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.readings import PathReport
from studio.monitor.acceleration import MOST_BYTES, read

WELL = {
    "profile": "27b-tp4",
    "expected_acceleration": ["profile_hardware", "batch_gemm", "long_context"],
    "paths": {
        "profile_hardware": {"enabled": True, "reason": None},
        "batch_gemm": {"enabled": True},
        "long_context": {"enabled": True},
        "optional": {"enabled": False, "reason": "not wanted"},
    },
    "expected_failures": [],
}


def test_an_engine_as_it_should_be_has_no_failed_path() -> None:
    """A path that nobody expected may be off."""
    assert read(msgspec.json.encode(WELL)) == PathReport()


def test_an_expected_path_that_is_off_is_named_with_its_reason() -> None:
    """By the list of failures or by its own switch."""
    paths = {
        **WELL["paths"],
        "batch_gemm": {"enabled": False, "reason": "library  missing\n"},
        "long_context": {"enabled": True, "reason": "no bridge"},
    }
    told = {**WELL, "paths": paths, "expected_failures": ["long_context"]}

    assert read(msgspec.json.encode(told)).failed == (
        ("batch_gemm", "library missing"),
        ("long_context", "no bridge"),
    )


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b"{}", b'{"paths": 3}'[:-1], b"\xff\xfe", b"[" * 100_000],
)
def test_an_answer_that_is_not_understood_says_so(body: bytes) -> None:
    """Unknown is not well."""
    assert read(body).note is not None


def test_a_flood_is_not_read() -> None:
    """Somebody else may answer there."""
    assert read(b'{"paths": {}, "x": "' + b"a" * MOST_BYTES + b'"}').note is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


@given(JSON, JSON, JSON)
def test_whatever_comes_it_never_raises(paths: object, expected: object, failures: object) -> None:
    """The schema of the newest runtime is not published."""
    told = {"paths": paths, "expected_acceleration": expected, "expected_failures": failures}

    assert isinstance(read(msgspec.json.encode(told)), PathReport)
