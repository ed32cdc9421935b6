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
    "app/adjust.py", "app/alarms.py", "app/argv_notes.py", "app/bench.py", "app/bench_run.py",
    "app/boot_offers.py", "app/boot_under_way.py", "app/boot_watch.py", "app/bundles.py",
    "app/cards.py", "app/care.py", "app/clients.py", "app/clients_around.py",
    "app/demand_choices.py", "app/demand_names.py", "app/demand_view.py", "app/demand_wiring.py",
    "app/diagnosis.py", "app/doctor.py", "app/downloads.py", "app/kept_keys.py",
    "app/library_checks.py", "app/library_names.py", "app/library_removal.py",
    "app/library_scan.py", "app/library_taking.py", "app/library_uses.py", "app/logs.py",
    "app/machine.py", "app/model_files.py", "app/my_model.py", "app/on_demand.py", "app/past.py",
    "app/pins.py", "app/plan_cases.py", "app/plan_refusals.py", "app/plans.py", "app/pool.py",
    "app/presets.py", "app/prompts.py", "app/remedies.py", "app/report.py", "app/scrape.py",
    "app/self_update.py", "app/settings.py", "app/spill.py", "app/staging.py",
    "app/state_copies.py", "app/trial_ends.py", "app/uninstall.py", "app/unit_start.py",
    "app/update_feed.py", "app/update_proof.py", "app/update_trial.py", "app/window_proof.py",
    "app/wiring.py", "app/wsl_resume.py", "app/wsl_turn.py",
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
        "The folder of 7, 7, is not complete: 7 7 missing.",
        "weir presets pin 7", "second try, warm:", "third try, without the graph estimate:",
        "boot of 7 on 7 7: 7", "It is made when the file is written.", "no longer kept", "weir up",
        "The file will hold the key `7`: whoever reads it can use it.7", ", next switch in 7",
        "Write seconds or a span such as `90s`, `30m` or `2h`, at most 7 hours7.",
        "7 waits while 7 is served7", "# Made by `weir presets make` from 7.",
        "# The planner chose [values]; change them as you like.", "The pool is 7 7 than forecast",
        "7 The preset's own figures are used instead.", "7, 7 its error bar of ±7.",
        "git pull && make deps", "git checkout TAG && make deps", "sudo apt install 7",
        "sudo apt install --allow-downgrades ./weir-studio_7_amd64.deb",
        "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA user_version", ", but by 7.",
        "7 is not signed by the Studio's release key", "within 7 s, or was cut off.",
        ": it ended by itself or was ended before it had proven itself.",
        "Version 7 did not come up", '"7" wsl setup --yes',
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
