"""A small load for the fake engine, so that a run takes a second."""

from pathlib import Path

from studio.host.paths import bundled_root

_SIZES = """\
[{name}]
limit_s = 30.0
decode_streams = [1, 2]
decode_tokens = 8
decode_rounds = 1
prefill_tokens = [1_024]
copy_document_tokens = 100
copy_tokens = 8
turns = 2
turns_document_tokens = 400
turns_tokens = 2

"""


def small_load(catalogue: Path) -> None:
    """Give a catalogue a load of its own."""
    bundled = (bundled_root() / "presets/bench/load.toml").read_text(encoding="utf-8")
    rest = bundled[bundled.index("[compare]") :]
    path = catalogue / "presets/bench/load.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    sizes = _SIZES.format(name="quick") + _SIZES.format(name="full")
    path.write_text(f"schema_version = 1\n\n{sizes}{rest}", encoding="utf-8")
