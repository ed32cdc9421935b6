"""What the tests of clients' files are made of."""

from pathlib import Path

from hypothesis import strategies as some

from studio.clients import catalogue
from studio.clients.catalogue import ClientSpec, Filling

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "clients"
SPECS = catalogue.read_all(ROOT / "presets" / "clients")
NAMES = some.text(alphabet="abcü \"'/.#:-_9", min_size=1, max_size=6)
LEAVES = some.none() | some.booleans() | some.integers(-99, 99) | some.text(max_size=8)
VALUES = some.recursive(
    LEAVES,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TABLES = some.dictionaries(NAMES, VALUES, max_size=4)
COMMENTS = some.sampled_from(("", "// one\n", "/* two, { } */", " ", "\t", "\r\n", '// "three"\n'))

SCALARS = some.booleans() | some.integers(-9, 9) | some.text(alphabet="aü\"'#[]=\\ ", max_size=6)
FLAT = some.dictionaries(some.sampled_from(["a", "b-c", "ü x", "d"]), SCALARS, max_size=3)

FILLING = Filling(
    base_url="http://127.0.0.1:18020/v1", key="sk-weir-abc", model="qwen3.8-27b", context=65_536
)
RECORDED = {
    "claude-code": "claude-settings.json",
    "zed": "zed-settings.json",
    "codex": "codex-config.toml",
    "continue": "continue-config.yaml",
    "librechat": "librechat.yaml",
    "opencode": "opencode.jsonc",
    "open-webui": "open-webui.env",
}


def spec(client: str) -> ClientSpec:
    """Return a client of the catalogue."""
    return catalogue.named(SPECS, client)
