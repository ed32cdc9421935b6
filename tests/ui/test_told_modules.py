"""Modules of the service all of whose sentences are in the catalogue of Chinese ones.

Errors, hints and notes are found where they stand in code. The list may only grow.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.ui import told
from studio.ui.told import Told

ROOT = Path(__file__).resolve().parents[2]
COMPLETE = (
    "app/adopt.py", "app/autostart.py", "app/boot_tries.py", "app/consent.py", "app/gateway.py",
    "app/installs.py", "app/runtimes.py", "app/service_unit.py", "app/sleep.py", "app/starts.py",
    "app/up.py", "app/updates.py", "app/wsl.py", "app/wsl_lan.py", "app/wsl_renew.py",
    "app/wsl_rootfs.py", "control/launcher.py", "control/starting.py", "control/transport.py",
    "control/wsl_launcher.py", "host/files.py", "models/fetch.py", "models/library.py",
    "models/prepare.py", "models/standing.py", "runtimes/canary.py", "runtimes/install.py",
    "runtimes/interpreter.py", "runtimes/packages.py", "runtimes/pin.py", "runtimes/repair.py",
    "runtimes/repair_sources.py", "runtimes/steps.py", "runtimes/stock.py", "runtimes/verify.py",
    "runtimes/versions.py", "serving/adopted.py", "serving/cards.py", "serving/life.py",
    "serving/supervisor.py",
    "hub/access.py", "hub/asking.py", "hub/choose.py", "hub/get.py", "hub/huggingface.py",
    "hub/layout.py", "hub/modelscope.py", "hub/names.py", "hub/repository.py", "hub/room.py",
    "hub/whoami.py", "models/assemble.py", "models/checked.py", "models/checking.py",
    "models/digests.py", "models/doubles.py", "models/facts.py", "models/finding.py",
    "models/gguf.py", "models/gguf_types.py", "models/inspect.py", "models/journal.py",
    "models/keys.py", "models/known.py", "models/lost.py", "models/places.py",
    "models/proof.py", "models/quantisation.py", "models/removable.py", "models/removing.py",
    "models/roots.py", "models/shelf.py", "models/state.py", "models/step_run.py",
    "models/steps.py", "models/taking.py", "models/tensors.py", "models/weight_map.py",
    "presets/cards.py", "presets/choose.py", "presets/compare.py", "presets/compose.py",
    "presets/conditions.py", "presets/flags.py", "presets/knobs.py", "presets/merge.py",
    "presets/own.py", "presets/resolve.py", "presets/store.py", "presets/text.py",
    "doctor/cards.py", "doctor/drivers.py", "doctor/links.py", "doctor/report.py",
    "doctor/storage.py", "doctor/system.py", "doctor/tools.py", "doctor/verdicts.py",
    "doctor/wsl.py", "clients/catalogue.py", "clients/env_text.py", "clients/files.py",
    "clients/json_text.py", "clients/places.py", "clients/splices.py", "clients/toml_text.py",
    "clients/yaml_text.py",
)  # fmt: skip
PARTS = frozenset(
    {
        "weir switch", "weir plan 7", "weir gateway allow 7", ": the unit is masked.",
        "weir gateway listen 0.0.0.0 --expose", "the supervisor is not running",
        "cannot be understood: 7", "has status 7 and no reason", "the recipe",
        "Everybody in 7 could reach port 7 and try keys.7", "Its last words are in 7.7",
        "WSL could not be updated", "It could not be removed", "WSL could not be installed",
        "The Studio's Linux could not be set up", "WSL cannot be used", "7 is a link to 7",
        ", which is not ours.", "See whether it runs there7.", "Errno 28|No space left on device",
        "7 The installation 7 stays in use.", "and prepare them (7)", "after its time limit",
        "Put the files of 7 into 7", "The service's answer 7.", "The model 7", "The engine 7 7.",
        "The vLLM at 7 wants 7 key.", "(the driver no longer shows 7)",
        "The folder 7 of 7 is not complete: 7 7 missing.",
        "weir models login", "weir models login --hub 7", "Use a mirror of 7",
        "Fetch it there with `--hub modelscope`, or use a mirror of 7", "model folder",
        "Patterns are as in a shell: `--include '*.safetensors'`. The first ones are:",
        "every file of 7 is here, what says so has no room7", "does not answer",
        "The system ended the step `7`: memory of the host was short.7",
        "Take out the entries named Weir by hand.7", "; Windows keeps the rest",
        "; the rest is held by the Studio's own engine",
        "An NVIDIA card is in the machine7, but its driver is not installed.",
        "It is 7. The newest branch that 7 is known to work with is", "; 7 or newer is needed.",
        "An NVMe disk", "A solid-state disk", "A hard disk", "A network disk",
        "A disk in memory, empty after a restart", "A disk of a virtual machine",
        "How fast it is could not be found out7.", "by its control group",
        "; the service raises the usual 7 by itself", ", kept by a time server",
        ", kept by no time server", ", other machines do not", "of compute capability 77",
        "the 7 here have at most 7", "Inside WSL 2 it would do.",
        "The runtime is for 7; this is 7.7", "It needs 7 of memory7; this machine has 7.",
        "there is no 7 `7`.", "the model `7` would be laid over itself.",
        "`7` leaves out `7`, which does not exist.",
        "`knobs.7.within` should be an argument, a dot and a key.",
        "`values.7` sets a knob that does not exist.",
        "`7` names the setting `7`, which does not exist.", "the value of `7` should be 7, 7.",
        "`rules.7` sets `7`: it should be 7, found `7`.",
        "`7` is fixed in this preset; a copy of your own can change it:", "one of",
    }
)  # fmt: skip
"""Pieces that code puts together (the whole is in the catalogue), commands, and what no person
is shown: an assertion, a pattern."""
_COMMAND = re.compile(r"`[^`]*`|^netsh .*|^Metadata-Version.*", re.DOTALL)
_ENGLISH = re.compile(r"[A-Za-z]{3,} [a-z]{2,}")


def sentences(source: str) -> Iterator[str]:
    """Yield what looks like words for people in a module; places are filled with a figure."""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
        elif isinstance(node, ast.Call) and _is_log(node.func):
            skipped |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        text = _text(node)
        if text is not None and id(node) not in skipped and _ENGLISH.search(text):
            yield text.strip()


def _is_log(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and getattr(called.value, "id", "").endswith("logger")


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(getattr(part, "value", "")) if isinstance(part, ast.Constant) else "7"
                       for part in node.values)  # fmt: skip
    return None


@pytest.fixture(scope="module")
def chinese() -> Told:
    """Return the shipped sentences."""
    return told.read(ROOT / "assets/locale/zh_CN")


@pytest.mark.parametrize("module", COMPLETE)
def test_everything_that_a_module_says_is_said_in_chinese(module: str, chinese: Told) -> None:
    """A new sentence without a translation would stand in English between Chinese ones."""
    source = (ROOT / "studio" / module).read_text(encoding="utf-8")

    left = [
        text
        for text in sentences(source)
        if text not in PARTS and _ENGLISH.search(_COMMAND.sub("", chinese.say(text)))
    ]

    assert left == []


def test_what_is_no_sentence_for_people_is_left_out() -> None:
    """Docstrings, log lines, and the pieces inside of a sentence."""
    source = '"""About this."""\nlogger.info("said to nobody")\nraise E(f"It has lost {a} files.")'

    assert list(sentences(source)) == ["It has lost 7 files."]
