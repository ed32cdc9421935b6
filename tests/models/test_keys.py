"""What a prepared model is known by."""

import msgspec

from studio.domain.manifests import ModelSource
from studio.models.keys import source_key
from tests.models.test_standing import SPEC


def test_another_revision_or_base_is_another_model() -> None:
    """Words are not."""
    key = source_key(SPEC)
    other = msgspec.structs.replace(SPEC, sources=(ModelSource(repository="a/b", revision="d"),))
    over = msgspec.structs.replace(SPEC, id="over", base=SPEC)
    over_other = msgspec.structs.replace(SPEC, id="over", base=other)

    assert source_key(msgspec.structs.replace(SPEC, title="Other")) == key
    assert len({key, source_key(other), source_key(over), source_key(over_other)}) == 4
