"""Build steps through a real installation: done, fallen back, failed, killed, repeated."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Damaged, HostLacks
from studio.domain.hardware import Gpu
from studio.domain.manifests import InstalledRuntime
from studio.domain.runtimes import BuiltStep, PinRequest, StepState
from studio.host import probe
from studio.host.files import exclusive
from studio.host.paths import Paths
from studio.runtimes import describe, folder, pin, steps
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from studio.runtimes.packages import site_packages
from studio.runtimes.verify import verify
from tests.fakes.git import make_repository
from tests.fakes.waiting import until
from tests.runtimes.standin import StandIn

ROOT = Path(__file__).parents[2]
SOURCE = b"""\
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, "42"}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "weirfast", NULL, -1, methods};
PyMODINIT_FUNC PyInit_weirfast(void) { return PyModule_Create(&module); }
"""
WHEEL = b"""\
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.fakes.wheels import make_wheel
make_wheel(Path(sys.argv[2]), "weirother", {"weirother/__init__.py": b"Y = 22\\n"})
"""
FILES = {
    "patches/one.patch": b"--- a/part3.py\n+++ b/part3.py\n@@ -1 +1 @@\n-X = 3\n+X = 30\n",
    "csrc/fast.c": SOURCE,
    "csrc/wheel.py": WHEEL,
    "csrc/install.sh": b"#!/bin/sh\necho built by a script\n",
}
TOOLS = """
[[tools]]
name = "compiler"
programs = ["gcc", "cc", "clang"]
purpose = "The extension."
[[tools]]
name = "headers"
headers = ["Python.h"]
purpose = "The extension includes them."
[[tools]]
name = "magic"
programs = ["no-such-compiler"]
purpose = "A compiler that nobody has."
"""
EXTENSION = """
[[steps]]
name = "extension"
title = "The fast extension"
tools = ["compiler", "headers"]
upstream = "csrc"
commands = [
  ["{compiler}", "-shared", "-fPIC", "-I{headers}", "-o", "{site}/weirfast.so", "{source}/fast.c"],
  ["{python}", "-I", "-c", "import weirfast; print(weirfast.answer())"],
]
produces = ["{site}/weirfast*.so"]
"""


def step(name: str, *commands: str, more: str = "") -> str:
    """Return a step whose commands are Python code, run by the runtime's interpreter."""
    lines = ",\n".join(f'["{{python}}", "-I", "-c", {json.dumps(code)}]' for code in commands)
    return f'\n[[steps]]\nname = "{name}"\ntitle = "Step {name}"\ncommands = [{lines}]\n{more}\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The repository that holds the sources beside the patches."""
    make_repository(tmp_path / "upstream", FILES)
    return tmp_path / "upstream"


def with_steps(stand_in: StandIn, text: str, repository: Path | None = None) -> None:
    """Add steps to the recipe, and the series whose repository has their sources."""
    series = ""
    if repository is not None:
        commit = subprocess.run(
            ["git", "-C", repository, "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        series = (
            f'[[patches]]\ntitle = "Series"\ntree = "weirtiny"\n[patches.upstream]\n'
            f'repository = "{repository}"\ncommit = "{commit}"\npath = "patches"\n'
        )
    stand_in.edit("[probe]\n", f"{series}{TOOLS}{text}\n[probe]\n")


def run(stand_in: StandIn) -> InstalledRuntime:
    """Install and return the record."""
    return asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))


def inside(stand_in: StandIn, record: InstalledRuntime) -> Path:
    """Return the runtime's folder."""
    return folder.folder_of(stand_in.paths, record)


def one_built(stand_in: StandIn, record: InstalledRuntime) -> BuiltStep:
    """Return the only step."""
    (found,) = steps.read(inside(stand_in, record))
    return found


def test_an_extension_is_compiled_into_the_runtime(stand_in: StandIn, repository: Path) -> None:
    """The whole way with a real compiler: source from the commit, tools found, module imported."""
    with_steps(stand_in, EXTENSION, repository)

    record = run(stand_in)

    built = one_built(stand_in, record)
    assert built.state is StepState.BUILT
    assert shutil.which("gcc") in built.tools["compiler"]
    assert built.log is not None
    log = (inside(stand_in, record) / built.log).read_text()
    assert log.startswith("$ ")
    assert log.endswith("42\n")
    assert not (inside(stand_in, record) / "steps" / "workshop").exists()
    verdict = asyncio.run(verify(stand_in.paths, record, full=True, report=stand_in.reports.append))
    assert verdict.is_whole
    assert run(stand_in) == record


def test_a_wheel_that_was_built_takes_the_place_of_the_locked_one(
    stand_in: StandIn, repository: Path
) -> None:
    """How xgrammar from source replaces the released one; the cache keeps the released bytes."""
    text = f"""
[[steps]]
name = "other"
title = "Other from source"
upstream = "csrc"
commands = [["{sys.executable}", "{{source}}/wheel.py", "{ROOT}", "{{out}}"]]
protects = ["weirother*"]
produces = ["{{site}}/weirother/__init__.py"]
"""
    with_steps(stand_in, text, repository)

    record = run(stand_in)

    site = site_packages(folder.python_of(stand_in.paths, record))
    assert (site / "weirother" / "__init__.py").read_bytes() == b"Y = 22\n"
    assert one_built(stand_in, record).state is StepState.BUILT
    cached = (stand_in.paths.cache / "uv").rglob("weirother/__init__.py")
    assert b"Y = 2\n" in {path.read_bytes() for path in cached}


def test_a_missing_tool_falls_back_with_its_cost(stand_in: StandIn) -> None:
    """The runtime works all the same; what it lacks is said wherever it is shown."""
    more = 'tools = ["magic"]\nfallback = "the released one"\nfallback_cost = "7 tok/s"'
    with_steps(stand_in, step("magic", "raise SystemExit(1)", more=more))

    record = run(stand_in)

    built = one_built(stand_in, record)
    assert built.state is StepState.FELL_BACK
    assert built.reason == "magic: no-such-compiler was not found."
    assert steps.badges(inside(stand_in, record)) == ("Step magic: the released one (7 tok/s)",)
    shown = describe.detail(
        stand_in.recipe, None, stand_in.paths, probe.snapshot(stand_in.paths.home)
    )
    assert shown.built == (built,)
    assert (stand_in.reports[-1].note or "").endswith(
        "without Step magic: the released one (7 tok/s)"
    )


def test_a_tool_that_the_recipe_does_not_declare_is_missing(stand_in: StandIn) -> None:
    """A misspelt name must not pass for a tool that is there."""
    more = 'tools = ["compilr"]\nfallback = "nothing"'
    with_steps(stand_in, step("typo", "pass", more=more))

    assert "compilr: the recipe does not say" in (one_built(stand_in, run(stand_in)).reason or "")


def test_the_shipped_steps_are_complete(tmp_path: Path) -> None:
    """Tools are declared, something is used instead, and placeholders are known ones."""
    for recipe in Catalog(Paths(home=tmp_path, catalogue=ROOT)).recipes():
        tools = {tool.name for tool in recipe.tools}
        known = {"python", "runtime", "site", "cache", "uv", "jobs", "source", "out", *tools}
        for one in recipe.steps:
            assert set(one.tools) <= tools
            assert one.commands or one.at_start or not one.default
            assert one.fallback is not None or not one.default
            text = [*(part for command in one.commands for part in command), *one.produces]
            found = re.findall(r"\{([^}]*)\}", " ".join([*text, *one.environment.values()]))
            assert set(found) <= known, one.name


def test_a_missing_tool_without_a_fallback_stops(stand_in: StandIn) -> None:
    """And what was fetched stays, so that the next run begins there."""
    with_steps(stand_in, step("magic", "pass", more='tools = ["magic"]'))

    with pytest.raises(HostLacks) as caught:
        run(stand_in)

    assert caught.value.code == "build-tool-missing"
    assert "no-such-compiler" in caught.value.message
    assert folder.installed(stand_in.paths, stand_in.recipe) is None


@pytest.mark.parametrize(
    ("code", "more", "said"),
    [
        ("print('why'); raise SystemExit(3)", "", "ended with 3: why"),
        ("import os; os.kill(os.getpid(), 9)", "", "ended with -9"),
        ("pass", 'produces = ["{site}/nothing.so"]', "it made no nothing.so"),
        ("while True: pass", "timeout_s = 0.3", "took longer than 0 s"),
    ],
)
def test_a_step_that_fails_falls_back(stand_in: StandIn, code: str, more: str, said: str) -> None:
    """Somebody else's build script breaks one day; the engine is not lost with it."""
    more = f'{more}\nfallback = "what was there"'
    with_steps(stand_in, step("failing", code, more=more))

    built = one_built(stand_in, run(stand_in))

    assert built.state is StepState.FELL_BACK
    assert said in (built.reason or "")
    assert built.log == "steps/failing.log"


def test_a_step_that_fails_leaves_the_packages_as_they_were(stand_in: StandIn) -> None:
    """A half-replaced package would be worse than the old one."""
    code = (
        "import pathlib, shutil, weirother; p = pathlib.Path(weirother.__file__).parent; "
        "(p.parent / 'weirother_new').mkdir(); shutil.rmtree(p); p.mkdir(); "
        "(p / '__init__.py').write_text('broken'); raise SystemExit(1)"
    )
    more = 'fallback = "the old one"\nprotects = ["weirother*"]'
    with_steps(stand_in, step("breaking", code, more=more))

    record = run(stand_in)

    site = site_packages(folder.python_of(stand_in.paths, record))
    assert (site / "weirother" / "__init__.py").read_bytes() == b"Y = 2\n"
    assert (site / "weirother" / "data.bin").exists()
    assert not (site / "weirother_new").exists()


def test_without_a_fallback_a_failure_stops_and_shows_the_log(stand_in: StandIn) -> None:
    """With the way around in its hint."""
    with_steps(stand_in, step("needed", "print('a clear reason'); raise SystemExit(2)"))

    with pytest.raises(Damaged) as caught:
        run(stand_in)

    assert caught.value.code == "build-step-failed"
    assert "a clear reason" in caught.value.evidence
    assert "--without needed" in (caught.value.hint or "")


def test_a_step_that_nobody_can_do_says_so(stand_in: StandIn) -> None:
    """A recipe may carry what a project builds without saying how."""
    text = '\n[[steps]]\nname = "v41"\ntitle = "V4.1"\nfallback = "models that do without"\n'
    with_steps(stand_in, text)

    assert one_built(stand_in, run(stand_in)).reason == "no source says how it is built."


def test_what_the_engine_does_itself_is_only_looked_at(stand_in: StandIn) -> None:
    """Kernels that are compiled on first use need their compiler then, not now."""
    text = '\n[[steps]]\nname = "jit"\ntitle = "Kernels"\ntools = ["compiler"]\nat_start = true\n'
    with_steps(stand_in, text)

    assert one_built(stand_in, run(stand_in)).state is StepState.AT_START


def test_a_step_of_other_cards_is_not_needed(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is done on theirs."""
    with_steps(stand_in, step("cards", "print('built')", more='compute_capabilities = ["8.6"]'))
    host = probe.snapshot(stand_in.paths.home)
    card = Gpu(index=0, name="Card", uuid="GPU-1", compute_capability="8.6")
    other = Gpu(index=0, name="Card", uuid="GPU-1", compute_capability="8.9")

    def state_with(*cards: Gpu) -> StepState:
        with monkeypatch.context() as patched:
            found = msgspec.structs.replace(host, gpus=cards)
            patched.setattr(probe, "snapshot", lambda _home: found)
            record = run(stand_in)
        state = one_built(stand_in, record).state
        shutil.rmtree(folder.named_folder(stand_in.paths, record.name))
        return state

    assert state_with(other) is StepState.NOT_NEEDED
    assert state_with() is StepState.NOT_NEEDED
    assert state_with(other, card) is StepState.BUILT


def test_steps_know_nothing_of_the_person(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No secret of theirs, no other Python, nothing written into their home."""
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "LD_PRELOAD", "HF_TOKEN", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, "/mine")
    code = "import os, json; print(json.dumps(dict(os.environ)))"
    more = '[steps.environment]\nASKED = "{cache}/x"'
    with_steps(stand_in, step("environment", code, more=more))

    record = run(stand_in)

    lines = (inside(stand_in, record) / "steps" / "environment.log").read_text().splitlines()
    seen = json.loads(lines[-1])
    assert "/mine" not in seen.values()
    assert seen["ASKED"] == str(stand_in.paths.cache / "engine" / "x")
    home = str(stand_in.paths.home)
    assert all(seen[name].startswith(home) for name in ("HOME", "TMPDIR", "UV_CACHE_DIR"))
    assert seen["PATH"].startswith(str(inside(stand_in, record)))


def test_only_what_is_asked_for_is_built(stand_in: StandIn) -> None:
    """A step by request costs nothing until then, and is another runtime from then on."""
    with_steps(stand_in, step("extra", "print('built')", more="default = false"))
    first = run(stand_in)
    assert steps.read(inside(stand_in, first)) == ()

    published = Catalog(stand_in.paths).published(first.name)
    pin.record(stand_in.paths, published, PinRequest(steps={"extra": True}))
    second = run(stand_in)

    assert second.runtime_id != first.runtime_id
    assert one_built(stand_in, second).state is StepState.BUILT
    assert inside(stand_in, first).is_dir()


def test_whoever_insists_gets_it_or_an_error(stand_in: StandIn) -> None:
    """After installing the compiler a person wants to know, not to fall back once more."""
    more = 'tools = ["magic"]\nfallback = "the released one"'
    with_steps(stand_in, step("magic", "pass", more=more))
    first = run(stand_in)
    published = Catalog(stand_in.paths).published(first.name)
    pin.record(stand_in.paths, published, PinRequest(steps={"magic": True}))

    with pytest.raises(HostLacks):
        run(stand_in)
    pin.record(stand_in.paths, published, PinRequest(steps={"magic": False}))

    assert steps.read(inside(stand_in, run(stand_in))) == ()
    assert inside(stand_in, first).is_dir()


def test_the_id_does_not_depend_on_what_could_be_built(stand_in: StandIn) -> None:
    """Equal inputs, equal ids: a machine without a compiler names the same runtime."""
    without = run(stand_in)
    more = 'tools = ["magic"]\nfallback = "the released one"'
    with_steps(stand_in, step("magic", "pass", more=more))
    fell_back = run(stand_in)
    stand_in.edit("no-such-compiler", "gcc")

    assert fell_back.runtime_id != without.runtime_id
    assert run(stand_in).runtime_id == fell_back.runtime_id


VICTIM = """
import asyncio, os, signal, sys
from pathlib import Path
from studio.host.paths import Paths
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
home, catalogue, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
paths = Paths(home=home, catalogue=catalogue)
recipe = Catalog(paths).recipe("tiny-1.0")
points, active = 0, False
def hook(event, arguments):
    global points, active
    if event == "open" and str(arguments[0]).endswith(".log"):  # the step begins
        active = True
    if active and event in ("os.rename", "os.mkdir", "os.remove", "open", "shutil.rmtree"):
        points += 1
        if points == last:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
asyncio.run(install(recipe, paths, lambda report: None))
print(points)
"""


def test_killed_during_a_step_it_is_done_again(stand_in: StandIn, tmp_path: Path) -> None:
    """Half-built packages are put back first; the runtime before it stays in use."""
    old = run(stand_in)
    marks = tmp_path / "marks"
    code = (
        f"import pathlib, weirother; open({str(marks)!r}, 'a').write('x'); "
        "p = pathlib.Path(weirother.__file__); p.unlink(); "
        "assert (p.parent / 'data.bin').exists(); p.write_text('Y = 222\\n')"
    )
    with_steps(
        stand_in, step("replacing", code, more='protects = ["weirother*"]\nfallback = "none"')
    )

    def victim(last: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", VICTIM, *map(str, (*places, last))],
            cwd=ROOT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        # A child that was being forked at the kill holds the lock until it runs its program.
        until(is_free, "the lock of the installation")
        return done.returncode

    def is_free() -> bool:
        lock = folder.named_folder(stand_in.paths, old.name) / "install.lock"
        with exclusive(lock) as is_ours:
            return is_ours

    places = (stand_in.paths.home, stand_in.paths.catalogue)
    new = None
    killed = 0
    for last in (2, 9, 17, 24, 33, 40):
        named = folder.named_folder(stand_in.paths, old.name)
        for path in named.iterdir():
            if path.is_dir() and path.name != old.runtime_id[:12]:
                shutil.rmtree(path)
        (named / "current").write_text(f"{old.runtime_id}\n")
        killed += victim(last) == -9
        assert folder.current(stand_in.paths, old.name) is not None

        new = run(stand_in)

        site = site_packages(folder.python_of(stand_in.paths, new))
        assert (site / "weirother" / "__init__.py").read_text() == "Y = 222\n"
        assert one_built(stand_in, new).state is StepState.BUILT
    assert killed >= 4
    assert len(marks.read_text()) > 6
