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
    "benchmark/against_published.py", "benchmark/answer.py", "benchmark/compare.py",
    "benchmark/differences.py", "benchmark/figures.py", "benchmark/load.py",
    "benchmark/published.py", "benchmark/runner.py", "benchmark/shelf.py", "control/benches.py",
    "control/calls.py", "control/client_connect.py", "control/downloads.py", "control/models.py",
    "control/monitoring.py", "control/proof.py", "control/records.py", "control/remote.py",
    "control/router.py", "control/server.py", "control/service.py", "domain/logs.py",
    "domain/remedies.py", "domain/runtimes.py", "gateway/admission.py", "gateway/arrivals.py",
    "gateway/attacks.py", "gateway/cache_marks.py", "gateway/context.py", "gateway/database.py",
    "gateway/key_limits.py", "gateway/keys.py", "gateway/model_list.py",
    "gateway/prompt_log.py", "gateway/proxy.py",
    "gateway/selftest.py", "gateway/service.py", "gateway/trap_fields.py",
    "gateway/trap_messages.py", "gateway/waiting.py", "host/adapter_memory.py",
    "host/adapter_pdh.py", "host/adapter_watch.py", "host/adapters.py", "host/archive.py",
    "host/blocks.py", "host/body_room.py", "host/card_nvml.py", "host/card_reader.py",
    "host/card_smi.py", "host/certificates.py", "host/child.py", "host/dbus_login.py",
    "host/decoder_words.py", "host/documents.py", "host/editor.py", "host/git_remote.py",
    "host/gpu_report.py", "host/gpus.py", "host/guard.py", "host/hosts.py", "host/http_client.py",
    "host/http_connection.py", "host/http_exchange.py", "host/http_ports.py", "host/http_server.py",
    "host/keyring_store.py", "host/machine.py", "host/network.py", "host/network_client.py",
    "host/network_settings.py", "host/nvml.py", "host/own_program.py", "host/paths.py",
    "host/pip_config.py", "host/port_owners.py", "host/prefetch.py", "host/process.py",
    "host/secret_service.py", "host/secrets.py", "host/signing.py", "host/small_file.py",
    "host/smi.py", "host/smi_xml.py", "host/ssh.py", "host/strict.py", "host/suggest.py",
    "host/synced.py", "host/systemd.py", "host/tools.py", "host/transfer/answers.py",
    "host/transfer/faults.py", "host/transfer/fetching.py", "host/transfer/progress.py",
    "host/transfer/session.py", "host/transfer/source.py", "host/transfer/wanted.py",
    "host/unit_file.py", "host/uv.py", "host/windows_ports.py", "host/wsl_exe.py",
    "monitor/acceleration.py", "monitor/alarm_file.py", "monitor/happenings.py",
    "monitor/history_file.py", "monitor/own_speeds.py", "monitor/recorder.py", "monitor/room.py",
    "monitor/signs_cards.py", "monitor/signs_load.py", "monitor/signs_memory.py",
    "monitor/spill.py", "monitor/tiers.py", "monitor/verdict.py", "planner/arguments.py",
    "planner/boots.py", "planner/budget.py", "planner/calibration.py", "planner/card_ledger.py",
    "planner/cards.py", "planner/cells.py", "planner/config.py", "planner/demand.py",
    "planner/engine.py", "planner/families.py", "planner/geometry.py", "planner/groups.py",
    "planner/headroom.py", "planner/layers.py", "planner/memory.py", "planner/needs.py",
    "planner/pool.py", "planner/reductions.py", "planner/weights.py", "planner/work.py",
    "serving/boot_words.py", "serving/command.py", "serving/deaths.py", "serving/formats.py",
    "serving/ground.py", "serving/log_file.py", "serving/log_files.py", "serving/log_pages.py",
    "serving/log_zip.py", "serving/pool_change.py", "serving/signatures.py",
    "serving/slow_path_file.py", "serving/slow_paths.py",
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
SILENT = (
    "domain/redaction.py", "domain/tracebacks.py", "gateway/engine.py", "monitor/exposition.py",
    "monitor/signs.py", "serving/heard.py", "serving/phases.py",
)  # fmt: skip
"""What looks like words in them is an engine's, a log's, a metric's or a list of names."""
PACKAGES = (
    "benchmark", "control", "domain", "gateway", "host", "monitor", "planner", "serving",
)  # fmt: skip
"""Packages of which every module that says something is in one of the two lists."""
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
        "for one answer7", "for reading7", "until the first token7", ", first turn",
        ", later turns", "weir down", "STATUS=Control port 7",
        "authorization: Bearer sk-weir-nobody", "disk full",
        "Windows has no counters of graphics memory here7.", "Weir Studio gateway",
        "filter blob:none", "guard: 7 cannot be started: 7",
        ("7 `netsh interface ipv4 show excludedportrange tcp` lists the ranges; after a restart "
        "of Windows they may be others."),
        "model name", '<!DOCTYPE html><html><body><a href="7">7</a></body></html>',
        ("import ctypes,os,sys;ctypes.CDLL(None).prctl(1,9,0,0,0);os.getppid()==int(sys.argv[1]) "
        "or os._exit(1);os.execvp(sys.argv[2],sys.argv[2:])"),
        "host key verification failed", "permission denied", "could not resolve hostname",
        "connection refused", "address already in use", "timed out", "no route to host",
        "through the proxy 7", "no answer within 7 s7", "nothing came for 7 s7",
        "the transfer broke off (7)7", "its name is not known here (7)7",
        "there is no way to it (7)7", "no secure connection (7)7", "git blob",
        "7 cannot be fetched: 7.7", "7 Or switch the network on: `weir network --set offline=off`.",
        "7 cannot be fetched from the configured package sources.7",
        ("try{$p=Start-Process -FilePath wsl.exe -Verb RunAs -Wait -PassThru -ArgumentList "
        "'--install','--no-distribution';exit $p.ExitCode}catch{exit 1223}"),
        "Ready after 77", "Room for 7 more 7 7", "request waits", "requests wait",
        "; 7 before on this machine", "7 % faster than 7.",
        "step time is 7, the drafter's guesses are taken less often (7). 7",
        "7steps take longer (7). 7",
        "steps take longer (7), and the drafter's guesses are taken less often (7). 7",
        ("drafter and steps are as before on this machine, which has been slower all along: its "
        "power limit, its driver, or WSL2."),
        ("whether the drafter or the steps are slow cannot be told, because the figure does not "
        "say how many tokens a step made."),
        "the drafter's guesses are taken 7,", ", with other settings",
        "It takes 7 of 7, which has 7 to give", ": 7 hold the rest.",
        ("7 of card 7 (7) are free; its share of 7 is 7, and the engine asks for that before it "
        "starts.7"),
        "It cannot be split over 7 cards: its 7 KV heads go over 7 card7.",
        ("7 is split by MIG into 7 slice7; the Studio serves on whole cards. `nvidia-smi -i 7 "
        "-mig 0` makes it whole."),
        "; 7 blocks of 7", ", cold cache (normal)", ", warm cache",
        ': "${7:?set it to the key that clients send}"',
        "# 7 on 7. The runtime is a folder of its own, so that any",
        "# image with glibc and a C compiler will do.",
        '7: "${7:?set it to the key that clients send}"',
        "# Workers share memory; the 64 MB of a container are not enough.",
        "The pool is 7 7 than at the boot of 7 (7 then, 7 now).", "The weights take",
        "The trial run took", "What lies outside PyTorch (driver, libraries) takes",
        "CUDA graphs take", "Other programs held 7 7 of the card.", "Application startup complete",
        "and more", "7\n[… 7 characters left out …]\n7", "7\n[… 7 bytes left out …]\n7",
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
PARTS_APART = frozenset(
    {
        "Card 7 (7) has 7 free, and `7` needs 7.7", ": it holds 7", "and 7 more",
        ", or 7 of 7",
        "no connection (7)7", "7, published 7 on this 77", "%(name)s: %(message)s",
        "collections.deque[Reading] | collections.deque[HistoryEvent]",
        "array.array[float] | array.array[int]", "connection: close", "host: evil.example",
        "connection: authorization, x-request-id", "transfer-encoding: chunked, identity",
        "transfer-encoding: gzip, chunked", "ipc: host", "- type: bind", "- driver: nvidia",
    }
)  # fmt: skip
"""The same, of words that do not stand beside each other."""
_COMMAND = re.compile(r"`[^`]*`|^netsh .*|^Metadata-Version.*", re.DOTALL)
_ENGLISH = re.compile(r"[A-Za-z]{3,} [a-z]{2,}")
_APART = re.compile(r"(?:^|(?<=[\s(]))[a-z]{2,}(?=[\s.,;:)]|$)", re.MULTILINE)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA) ")
_PATTERN = re.compile(r"\\[bdsSw](?![A-Za-z])|\(\?[:P=!]")
"""Signs that only a regular expression has."""
_SCRIPT_LINES = 3
"""A text of so many lines is a script, or a file that is written."""
_MISTAKES = frozenset({"AssertionError", "RuntimeError"})
"""Of who writes the Studio, not of who uses it: a person is shown an incident's id."""


def sentences(source: str, *, apart: bool = False) -> Iterator[str]:
    """Yield what looks like words for people in a module; places are filled with a figure.

    `apart`: two words make it one that do not stand beside each other, `7 needs 7; 7 is free.`
    """
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
        elif isinstance(node, ast.Assert) or (
            isinstance(node, ast.Call) and _is_for_nobody(node.func)
        ):
            skipped |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        text = _text(node)
        if text is not None and id(node) not in skipped and _is_said(text, apart=apart):
            yield text.strip()


def _is_said(text: str, *, apart: bool) -> bool:
    is_code = _SQL.match(text) or _PATTERN.search(text) or text.count("\n") >= _SCRIPT_LINES
    has_words = _ENGLISH.search(text) is not None or (apart and len(_apart(text)) > 1)
    return has_words and not is_code


def _apart(text: str) -> list[str]:
    return _APART.findall(_COMMAND.sub("", text))


def _is_for_nobody(called: ast.expr) -> bool:
    """Tell a call that logs, makes a pattern, splits a list of names, or says a mistake of ours."""
    if isinstance(called, ast.Name):
        return called.id in _MISTAKES
    if isinstance(called, ast.Attribute) and called.attr == "split" and _text(called.value):
        return True
    owner = getattr(called.value, "id", "") if isinstance(called, ast.Attribute) else ""
    return owner == "re" or owner.endswith("logger")


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


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_that_says_something_is_forgotten(package: str) -> None:
    """A new one belongs into one of the lists."""
    studio = ROOT / "studio"
    speaking = {
        path.relative_to(studio).as_posix()
        for path in (studio / package).rglob("*.py")
        if list(sentences(path.read_text(encoding="utf-8")))
    }

    assert speaking - {*COMPLETE, *SILENT} == set()


@pytest.mark.parametrize("module", [one for one in COMPLETE if one.split("/")[0] in PACKAGES])
def test_words_that_stand_apart_are_said_in_chinese_too(module: str, chinese: Told) -> None:
    """`Card 0 has 5 GiB free, and `x` needs 9.` has no two words beside each other."""
    source = (ROOT / "studio" / module).read_text(encoding="utf-8")

    left = [
        text
        for text in sentences(source, apart=True)
        if text not in PARTS | PARTS_APART and not _CHINESE.search(chinese.say(text))
    ]

    assert left == []


def test_what_is_no_sentence_for_people_is_left_out() -> None:
    """Docstrings, log lines, mistakes in the program, queries, patterns, pieces of a sentence."""
    source = """\"About this.\"
logger.info("said to nobody")
assert a, "nobody is shown this"
raise RuntimeError("nor is this shown")
a = "SELECT at least, at most FROM limits"
b = r"a word (?P<name>and) more"
c = re.compile("plain words too")
d = "names in one text".split()
e = f"# A file\\nof {a} lines\\nis written\\n"
raise E(f"It has lost {a} files.", "Update it, then run it again.")
"""

    assert list(sentences(source)) == ["It has lost 7 files.", "Update it, then run it again."]
