"""The records of verification and repair."""

import msgspec

from studio.domain.integrity import Difference, DifferenceKind, Verdict


def test_a_verdict_is_whole_only_without_differences() -> None:
    """Bytecode that was compiled anew is no damage; one changed file is."""
    verdict = Verdict(
        runtime="a",
        runtime_id="b",
        is_full=True,
        is_known=True,
        files=1,
        bytes=1,
        seconds=0.1,
        bytecode=3,
    )
    changed = Difference(path="python/x", kind=DifferenceKind.CHANGED)

    assert verdict.is_whole
    assert not msgspec.structs.replace(verdict, differences=(changed,)).is_whole
    assert msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict) == verdict
