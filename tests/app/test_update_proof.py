"""What a newer version has to find again."""

from pathlib import Path

import msgspec

from studio.app.update_proof import Holdings, holdings, missing_preset, missing_runtime
from studio.domain.control import PresetInfo
from studio.domain.runtimes import RuntimeInfo, RuntimeState
from studio.host.paths import Paths, bundled_root


def preset(name: str, *, is_own: bool) -> PresetInfo:
    """Return a row of the list of presets."""
    needed = {one.name: None for one in msgspec.structs.fields(PresetInfo) if one.required}
    return PresetInfo(**{**needed, "id": name, "is_own": is_own})


def runtime(name: str, runtime_id: str | None) -> RuntimeInfo:
    """Return a row of the list of runtimes."""
    state = next(iter(RuntimeState))
    return RuntimeInfo(name=name, title=name, state=state, usable=True, runtime_id=runtime_id)


def test_a_lost_preset_is_named() -> None:
    """A bundled one of the same name is another one; one of the catalogue may go."""
    before = Holdings(presets=("mine",))

    assert missing_preset(before, [preset("mine", is_own=True)]) is None
    assert "`mine`" in str(missing_preset(before, [preset("mine", is_own=False)]))
    assert missing_preset(Holdings(), []) == "it lists no presets"


def test_a_lost_runtime_is_named_and_a_dropped_recipe_is_not() -> None:
    """Its folder stays, whatever a newer catalogue offers."""
    before = Holdings(runtimes=("a", "b"))

    assert missing_runtime(before, [runtime("a", "1f"), runtime("b", "2f")]) is None
    assert missing_runtime(before, [runtime("a", "1f")]) is None
    assert "`b`" in str(missing_runtime(before, [runtime("a", "1f"), runtime("b", None)]))
    assert missing_runtime(before, []) == "it lists no runtimes"


def test_what_the_old_version_could_not_read_is_asked_of_nobody(tmp_path: Path) -> None:
    """A broken preset and a half runtime were broken before."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    paths.user_presets.mkdir(parents=True)
    source = (bundled_root() / "presets/cpu-demo.toml").read_text(encoding="utf-8")
    own = source.replace('id = "cpu-demo"', 'id = "mine"')
    (paths.user_presets / "mine.toml").write_text(own, encoding="utf-8")
    (paths.user_presets / "broken.toml").write_text("id = ", encoding="utf-8")
    (paths.runtimes / "half").mkdir(parents=True)

    assert holdings(paths) == Holdings(presets=("mine",))
