"""A host in a file: captured on some machine or put together from sources, for replay."""

import enum

import msgspec

from studio.domain.hardware import HostSnapshot


class Evidence(enum.StrEnum):
    """How a fact came into a host file."""

    CAPTURED = "captured"
    """Read from a machine, or from a recording of one."""
    ASSEMBLED = "assembled"
    """Put together from what others published."""


class FieldSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where one or several fields of a host file come from."""

    evidence: Evidence
    source: str


class HostFile(msgspec.Struct, frozen=True, kw_only=True):
    """`presets/hosts/<id>.json`, or what `weir doctor --json` printed elsewhere."""

    schema_version: int = 1
    id: str
    title: str
    host: HostSnapshot
    sources: dict[str, FieldSource] = {}
    """Path of a field (`gpus.total_bytes`, no positions in lists) or of what it lies in, to its
    source; the longest path counts."""


class HostEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A host of the catalogue, as a list shows it."""

    id: str
    title: str
