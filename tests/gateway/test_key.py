"""One key as the running gateway holds it."""

from studio.domain.keys import KeyLimits
from studio.gateway.key import Key, iso


def test_a_key_shows_what_it_may_do_and_nothing_of_its_secret():
    """Lists travel over the control API."""
    key = Key(
        id="1", name="n", prefix="sk-weir-abcd", digest="d" * 64, created_at=iso(0.0),
        limits=KeyLimits(max_context=5),
    )  # fmt: skip
    key.limit(KeyLimits(models=("m",)))

    assert key.info.limits == KeyLimits(models=("m",))
    assert not key.gate.allows_model("x")
    assert "d" * 64 not in repr(key.info)
    assert key.info.created_at == "1970-01-01T00:00:00.000+00:00"
