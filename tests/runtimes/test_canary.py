"""The canary: what a new runtime must do here before it is used."""

import asyncio
import importlib
import json
import runpy
import sys
from pathlib import Path

import pytest

from studio.domain.errors import Damaged
from studio.domain.manifests import InstalledRuntime, RuntimeRecipe
from studio.host import plain_home, tools
from studio.host.paths import Paths, bundled_root
from studio.runtimes import folder
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from tests.runtimes.sharing_pair import add
from tests.runtimes.standin import NAME, StandIn

WELL = "print('WEIR-CANARY', json.dumps([{'name': 'boot', 'is_well': True}]))"
WRONG = (
    "print('WEIR-CANARY', json.dumps([{'name': 'a', 'is_well': True},"
    "{'name': 'op', 'is_well': False, 'said': 'off by one'}]))"
)


def with_canary(stand_in: StandIn, script: str, *, within_s: float = 60.0) -> None:
    """Let the recipe declare a canary that is this script."""
    tool = stand_in.paths.catalogue / "runtimes" / "tools" / "canary_tiny.py"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text(f"import json, os, sys\nasked = json.loads(sys.argv[1])\n{script}\n")
    table = f'[canary]\ntool = "canary_tiny.py"\nwithin_s = {within_s}\narguments = {{ n = 7 }}\n'
    if "[canary]" not in stand_in.recipe_file.read_text():
        stand_in.edit("[serve]", table + "[serve]")


def _shipped() -> list[RuntimeRecipe]:
    return Catalog(Paths(home=Path(), catalogue=bundled_root())).recipes()


def build(stand_in: StandIn) -> InstalledRuntime:
    """Install what the recipe says now."""
    paths, report = stand_in.paths, stand_in.reports.append
    return asyncio.run(install(stand_in.recipe, paths, report, is_update=True))


def test_it_is_told_what_the_recipe_says_and_runs_as_the_engine_would(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """With the recipe's environment, isolated, and with a folder that is gone afterwards."""
    stand_in.recipe_file.write_text(
        stand_in.recipe_file.read_text()
        + '[serve.environment]\nWEIR_CACHE = "{cache}/x"\nWEIR_LIB = "{runtime}/lib"\n'
    )
    said = tmp_path / "said.json"
    code = f"import weirtiny; open({str(said)!r}, 'w').write(json.dumps([asked, dict(os.environ),"
    with_canary(stand_in, f"{code} sys.flags.isolated, sys.executable]))\n{WELL}")

    record = build(stand_in)

    asked, variables, isolated, executable = json.loads(said.read_text())
    root = folder.folder_of(stand_in.paths, record)
    named = plain_home.name_of(stand_in.paths, root)
    assert not any(letter.isspace() for letter in named)
    assert (asked["n"], asked["is_full"], isolated) == (7, False, 1)
    assert variables["WEIR_CACHE"] == plain_home.name_of(
        stand_in.paths, stand_in.paths.engine_cache / "x"
    )
    assert variables["WEIR_LIB"] == f"{named}/lib"
    assert variables["TMPDIR"] == asked["folder"]
    assert executable.startswith(named)
    assert not Path(asked["folder"]).exists()
    assert "PYTHONPATH" not in variables
    assert "canary" in {report.step for report in stand_in.reports}


def test_an_update_does_all_of_it_a_first_installation_the_quick_part(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """A first one has nothing to lose, and boots right after."""
    said = tmp_path / "said"
    with_canary(stand_in, f"open({str(said)!r}, 'a').write(str(asked['is_full']) + ' ')\n{WELL}")
    build(stand_in)
    add(stand_in, "weirmore")
    build(stand_in)

    assert said.read_text() == "False True "


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("raise SystemExit(3)", "ended with status 3"),
        ("print('WEIR-CANARY {half')", "no findings"),
        ("print('WEIR-CANARY []')", "no findings"),
        ("import time; time.sleep(60)", "did not end in time"),
        ("os.kill(os.getpid(), 11)", "ended with status -11"),
        (WRONG, "op: off by one"),
    ],
)
def test_whatever_goes_wrong_the_present_one_stays(
    stand_in: StandIn, script: str, reason: str
) -> None:
    """Crash, hang, nonsense and a wrong result; then, with a good one, it goes on where it was."""
    first = build(stand_in)
    add(stand_in, "weirmore")
    with_canary(stand_in, script, within_s=1.5)

    with pytest.raises(Damaged) as caught:
        build(stand_in)

    assert caught.value.code == "canary-failed"
    assert reason in caught.value.message
    assert first.runtime_id[:12] in caught.value.message
    assert folder.current(stand_in.paths, NAME) == first
    with_canary(stand_in, WELL)
    stand_in.reports.clear()
    second = build(stand_in)
    assert folder.current(stand_in.paths, NAME) == second != first
    assert not any("Installing" in (report.note or "") for report in stand_in.reports)


def test_the_quick_part_takes_no_more_of_a_package_than_it_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What vLLM imports for itself takes longer than all that is tried, and is tried by a boot."""
    package = tmp_path / "weirengine"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported as a whole')\n")
    (package / "version.py").write_text("__version__ = '7'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    script = tools.tool_file(Paths(home=Path(), catalogue=bundled_root()), "canary_vllm.py")
    canary = runpy.run_path(str(script))

    canary["leave_bare"]("weirengine")

    assert importlib.import_module("weirengine.version").__version__ == "7"


@pytest.mark.parametrize("recipe", _shipped(), ids=lambda recipe: recipe.name)
def test_every_shipped_runtime_has_one_that_fits_its_cards(recipe: RuntimeRecipe) -> None:
    """An engine whose kernels were built for another card loads, and computes nonsense."""
    canary = recipe.canary
    assert canary is not None
    assert tools.tool_file(Paths(home=Path(), catalogue=bundled_root()), canary.tool).is_file()
    assert canary.arguments["version"] == recipe.engine_version or "distribution" in (
        canary.arguments
    )
    assert (canary.arguments.get("device") == "cuda") == bool(recipe.needs.gpu)
    named = canary.arguments.get("distribution", "vllm")
    assert recipe.probe.versions.get(str(named), "").startswith(str(canary.arguments["version"]))
