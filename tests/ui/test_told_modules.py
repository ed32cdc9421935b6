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
)  # fmt: skip
PARTS = frozenset(
    {
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
        "7 is not unpacked: 7 7.", "is no runtime's name, or its id is none", "is there twice",
        "is not what its recipe is for (7)", "is no folder that a runtime lay in", "has no sha256",
        "is file number 7", "is a file or a link, and something lies below it", "of this machine",
        "is missing, and it is the interpreter", "is no path inside the runtime",
        "is a record that is written here", "has a mode, size or time that no file has",
        "is a link to 7, outside the runtime", "import ctypes, sys; ctypes.CDLL(sys.argv[1])",
        "apt-get install", "dnf install", "zypper install", "7 Without it: 7.",
        "a hunk without a file header", "a file header that no hunk follows", "a change of no file",
        "the hunk above changes nothing", "the file ends inside a hunk",
        "a hunk's line that begins with no blank, plus or minus",
        "a file header without a change", "the hunk has more lines than its header says",
        "a last line that is not the last one", "The patch 7 does not fit 7: 7: 7.7",
        "an open recipe is refused before", "not our ref", "unadvertised object",
        "`7` at commit 7 is not the series that the recipe of 7 describes: 7",
        "couldn't find remote ref", "not found", "could not read Username",
        "Authentication failed", "does not appear to be", "of compute capability 7",
        "of compute capability 7 to 7", "of compute capability 7 or newer",
        "of compute capability 7 or older",
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


WHOLE = ("app", "runtimes")
"""Packages all of whose modules are complete, new ones too."""
REPORTS = frozenset({"app/report_boot.py", "app/report_collect.py", "app/report_words.py"})
"""They write the files of a report: English for whoever helps, and shown as they are saved."""


def _modules() -> Iterator[str]:
    yield from COMPLETE
    for package in WHOLE:
        for path in sorted((ROOT / "studio" / package).rglob("*.py")):
            name = path.relative_to(ROOT / "studio").as_posix()
            if name not in COMPLETE and name not in REPORTS:
                yield name


@pytest.fixture(scope="module")
def chinese() -> Told:
    """Return the shipped sentences."""
    return told.read(ROOT / "assets/locale/zh_CN")


@pytest.mark.parametrize("module", list(_modules()))
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
