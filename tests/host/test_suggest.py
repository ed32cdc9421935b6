"""A misspelt key in a document: the person gets the one that was meant, at any depth."""

import msgspec
import pytest

from studio.domain.manifests import RuntimeRecipe
from studio.host.suggest import guess

NEEDS = {"platforms": ["linux-x86_64"], "disk_bytes": 1}
WHEEL = {"name": "a", "version": "1", "url": "https://example.org/a.whl"}
PACKAGES = {"lock": "l", "count": 1, "download_bytes": 1}
KNOB = {"kind": "int", "meaning": "x"}
UPSTREAM = {"repository": "r", "path": "p"}


def hint_for(**changes: object) -> str | None:
    """Return the hint about a recipe with these changes."""
    raw = {
        "schema_version": 1,
        "name": "n",
        "title": "t",
        "engine": "e",
        "engine_version": "1",
        "needs": NEEDS,
        "interpreter": {"series": "3.11"},
        "serve": {"command": ["x"]},
        **changes,
    }
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(raw, RuntimeRecipe, strict=True)
    return guess(str(caught.value), RuntimeRecipe)


@pytest.mark.parametrize(
    ("changes", "meant"),
    [
        ({"patchez": []}, "patches"),
        ({"needs": {**NEEDS, "disc_bytes": 1}}, "disk_bytes"),
        ({"needs": {**NEEDS, "min_compute_capabilty": "8.0"}}, "min_compute_capability"),
        ({"packages": {**PACKAGES, "unpackd_bytes": 1}}, "unpacked_bytes"),
        ({"packages": {**PACKAGES, "wheels": [WHEEL, {**WHEEL, "sha": "x"}]}}, "sha256"),
        ({"knobs": {"a": {**KNOB, "maximumx": 1}}}, "maximum"),
        ({"patches": [{"title": "t", "upstream": {**UPSTREAM, "commitx": "x"}}]}, "commit"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_key_that_was_meant_is_named(changes: dict[str, object], meant: str) -> None:
    """At the top, in a table, in a list of tables, under a name of the person's own."""
    assert hint_for(**changes) == f"Did you mean `{meant}`?"


def test_a_key_that_is_like_none_gets_the_list() -> None:
    """A wrong guess would be worse than none."""
    assert hint_for(needs={**NEEDS, "zzz": 1}) == (
        "Known here: cards, cuda, disk_bytes, gpu, max_compute_capability, memory_bytes, "
        "min_compute_capability, min_driver, min_glibc, newest_driver_known, platforms."
    )


def test_other_mistakes_get_no_guess() -> None:
    """A number where a text belongs says so itself."""
    assert hint_for(name=3) is None
    assert guess("anything else", RuntimeRecipe) is None


def test_a_document_that_is_no_record_gets_no_guess() -> None:
    """The message may be about a type that has no keys."""
    assert guess("Object contains unknown field `x` - at `$.a[0]`", dict[str, int]) is None
