"""What a prepared model was made from, as one digest. Pure."""

import hashlib

import msgspec

from studio.domain.manifests import ModelSpec


def source_key(spec: ModelSpec) -> str:
    """Return what a model is made from: repositories at their revisions, and its base."""
    said = [(one.repository, one.revision, one.files) for one in spec.sources]
    base = source_key(spec.base) if isinstance(spec.base, ModelSpec) else spec.base
    return hashlib.sha256(msgspec.json.encode((spec.id, said, base))).hexdigest()
