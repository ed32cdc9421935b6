"""Which module a command comes from, and how little is loaded for it."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from studio.cli import (
    alarm_words,
    bench_words,
    dispatch,
    gateway_words,
    hub_words,
    key_words,
    models_words,
    preset_words,
    scrape_words,
    service_words,
    update_words,
    words,
    wsl_words,
)

ROOT = Path(__file__).resolve().parents[2]
_BY_OTHERS = {"ui", "service run"}
"""What the composition root does itself."""
_SECOND = {
    "alarms": alarm_words.COMMANDS,
    "bench": bench_words.COMMANDS,
    "gateway": gateway_words.COMMANDS,
    "keys": key_words.COMMANDS,
    "metrics": scrape_words.COMMANDS,
    "models": {**models_words.COMMANDS, **hub_words.MODELS_COMMANDS},
    "presets": preset_words.COMMANDS,
    "runtime": words.RUNTIME_COMMANDS,
    "service": service_words.COMMANDS,
    "update": update_words.COMMANDS,
    "wsl": wsl_words.COMMANDS,
}
_LOADED = """
import contextlib, io, json, sys
from studio.__main__ import main
sys.argv = ["weir", *sys.argv[1:]]
said = io.StringIO()
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    status = main()
loaded = [name for name, module in sys.modules.items() if module is not None]
print(json.dumps([status, said.getvalue(), loaded]))
"""


def loaded(home: Path, *argv: str) -> tuple[int, str, set[str]]:
    """Return exit status, words and modules of a command in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", _LOADED, *argv],
        cwd=ROOT,
        env={**os.environ, "WEIR_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    status, said, modules = msgspec.json.decode(ran.stdout, type=tuple[int, str, list[str]])
    return status, said, set(modules)


@pytest.mark.parametrize("word", sorted(words.COMMANDS))
def test_each_command_that_help_names_can_be_run(word: str) -> None:
    """One that is parsed and then not found would be a traceback."""
    named = {f"{word} {second}" for second in _SECOND.get(word, ())} or {word}

    for name in named - _BY_OTHERS:
        assert callable(dispatch.command_of(name))


def test_no_command_is_found_that_help_does_not_name() -> None:
    """It would be there for nobody."""
    assert dispatch.tables().keys() == words.COMMANDS.keys() - _BY_OTHERS


def test_who_asks_how_the_engine_is_loads_no_other_command(tmp_path: Path) -> None:
    """Modules are counted, because seconds differ: each costs half a millisecond."""
    status, said, modules = loaded(tmp_path, "status")

    assert status == 6
    assert "The Studio is not running" in said
    ours = {name for name in modules if name.startswith("studio.")}
    assert len(ours) < 190
    assert not {name for name in ours if name.startswith(("studio.app", "studio.runtimes"))}
    assert ours.isdisjoint({"studio.cli.bench", "studio.cli.wsl", "studio.cli.keys"})
    assert "httpx" in modules
    assert modules.isdisjoint({"httpx._main", "click", "pygments", "rich.console"})


def test_a_version_is_said_without_an_event_loop(tmp_path: Path) -> None:
    """It is what scripts ask first."""
    status, said, modules = loaded(tmp_path, "--version")

    assert status == 0
    assert said.startswith("weir ")
    assert len({name for name in modules if name.startswith("studio.")}) < 130
    assert modules.isdisjoint({"asyncio", "httpx", "rich", "studio.cli.dispatch"})
