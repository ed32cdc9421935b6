"""Files say what, never how, and a misspelt key is an error that names its place."""

import importlib
import pkgutil

import msgspec
import pytest

from studio import domain
from studio.domain import manifests
from studio.domain.manifests import Document, InstalledModel, InstalledRuntime, Knob, KnobKind

MODULES = [
    importlib.import_module(f"{domain.__name__}.{module.name}")
    for module in pkgutil.iter_modules(domain.__path__)
]
RECORDS = sorted(
    {
        kind
        for module in MODULES
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, msgspec.Struct)
        and kind is not msgspec.Struct
    },
    key=lambda kind: kind.__qualname__,
)
DOCUMENTS = [kind for kind in RECORDS if issubclass(kind, Document)]


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_every_record_is_frozen(kind: type[msgspec.Struct]) -> None:
    """A snapshot that somebody may change is no snapshot."""
    assert kind.__struct_config__.frozen


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_no_record_can_be_made_by_position(kind: type[msgspec.Struct]) -> None:
    """Two numbers in the wrong order are found by nobody."""
    if kind.__struct_fields__:
        with pytest.raises(TypeError):
            kind(*("x" for _ in kind.__struct_fields__))


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.__name__)
def test_every_document_refuses_an_unknown_key(kind: type[Document]) -> None:
    """`max_modl_len` must not be skipped in silence."""
    assert kind.__struct_config__.forbid_unknown_fields


def test_what_lies_beside_an_install_is_read_by_an_older_version_too() -> None:
    """Going back one version must not download everything again."""
    for kind in (InstalledRuntime, InstalledModel):
        assert not kind.__struct_config__.forbid_unknown_fields


def test_an_error_in_a_file_names_its_place() -> None:
    """The person opens the file and looks for the line."""
    raw = {"knobs": {"length": {"kind": "integer", "meaning": "Tokens."}}}

    with pytest.raises(msgspec.ValidationError, match=r"\$\.knobs\[\.\.\.\]\.kind"):
        msgspec.convert(raw, type=_Knobs)


@pytest.mark.parametrize("value", [True, 3, 0.5, "auto"])
def test_a_default_keeps_its_type(value: object) -> None:
    """`true` that becomes 1 is another argument to the engine."""
    knob = msgspec.convert({"kind": "str", "meaning": "x", "default": value}, Knob)

    assert knob.default == value
    assert type(knob.default) is type(value)


def test_a_document_survives_being_written() -> None:
    """What is written is what is read."""
    knob = Knob(kind=KnobKind.INT, default=2048, meaning="Länge", choices=("a",), unit="tokens")

    assert msgspec.json.decode(msgspec.json.encode(knob), type=Knob) == knob


class _Knobs(manifests.Document, frozen=True, kw_only=True):
    knobs: dict[str, Knob]
