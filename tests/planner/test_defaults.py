"""What configuration classes fill in."""

from studio.planner.defaults import DEFAULTS
from studio.planner.families import FAMILIES, KNOWN_PLAIN


def test_only_known_types_have_defaults() -> None:
    """A type with defaults and no reader would be read half by guess."""
    assert DEFAULTS.keys() <= KNOWN_PLAIN | FAMILIES.keys()


def test_every_type_has_what_a_geometry_needs() -> None:
    """Layers, heads and width; 0 KV heads mean as many as query heads."""
    for values in DEFAULTS.values():
        assert values["num_hidden_layers"]
        assert values["num_attention_heads"]
        assert values["hidden_size"]
        assert isinstance(values["num_key_value_heads"], int)
