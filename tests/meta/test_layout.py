"""The shape of the repository: sizes, mirrors, no silenced checks, nothing of one machine."""

import ast
import functools
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

MOST_LINES = 500
TOP_FOLDERS = {"studio", "runtimes", "presets", "installer", "assets", "tests", "docs", ".ci"}

WITHOUT_OWN_TEST: dict[str, str] = {
    "studio/cli/words.py": "sentences only; tests of what says them compare the words",
}
"""Modules with functions and no test of their own. This list may only shrink."""
MOST_WITHOUT_OWN_TEST = 1


@functools.cache
def tracked() -> tuple[Path, ...]:
    """Return every tracked file, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [Path(name) for name in listed.stdout.split("\0") if name]
    return tuple(name for name in names if (ROOT / name).is_file())


def _python() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".py"]


def _texts() -> Iterator[tuple[Path, str]]:
    for path in tracked():
        data = (ROOT / path).read_bytes()
        if b"\0" not in data[:8192]:
            yield path, data.decode("utf-8", "replace")


def test_no_module_is_longer_than_a_person_can_hold_in_mind() -> None:
    """Past 500 lines a module does more than one thing."""
    long = {
        str(path): count
        for path in _python()
        if (count := len((ROOT / path).read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }

    assert long == {}


def test_no_query_numbers_what_it_is_given() -> None:
    """Python 3.14 refuses `?1` with a tuple: such places have names, and a mapping fills them."""
    numbered = re.compile(r"\b(?:SELECT|WHERE|VALUES|LIMIT|SET|AND)\b.*\?\d")
    found = [
        f"{path}:{number}"
        for path in _python()
        if path.parts[0] == "studio"
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1)
        if numbered.search(line)
    ]

    assert found == []


def test_no_check_is_silenced() -> None:
    """One exemption invites the next; what a tool is wrong about is set once, with its reason."""
    marks = re.compile("|".join(("# no" + "qa", "# type: " + "ignore", "pragma: no " + "cover")))

    found = [str(path) for path, text in _texts() if path.suffix == ".py" and marks.search(text)]

    assert found == []


def test_types_are_strict_without_exemptions() -> None:
    """A module that is excused from types is the one that breaks."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]

    assert settings["strict"] is True
    assert "exclude" not in settings
    excused = [name for one in settings.get("overrides", ()) for name in one["module"]]
    assert [name for name in excused if name.startswith(("studio", "tests"))] == []


def test_everything_is_caught_in_three_places_at_most() -> None:
    """The bridge, the supervisor's task and the gateway's handler; elsewhere causes are named."""
    broad = re.compile(r"except \(?(Base)?Exception\b(?!Group)(?!.*:\n(?:.*\n){0,4}? +raise\n)")

    found = {
        str(path)
        for path, text in _texts()
        if path.parts[0] == "studio" and path.suffix == ".py" and broad.search(text)
    }

    assert len(found) <= 3, found


def _has_logic(path: Path) -> bool:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))


def _is_tested(path: Path) -> bool:
    """Return whether a module has its own test, or its sub-package (`ui/widgets`) has one."""
    inside = path.relative_to("studio")
    beside = [inside.parent / f"test_{inside.name}"]
    if len(inside.parts) > 2:
        beside.append(inside.parent.parent / f"test_{inside.parent.name}.py")
    return any((ROOT / "tests" / test).is_file() for test in beside)


def test_every_module_with_logic_has_its_test_beside() -> None:
    """Who changes a module finds its test without searching, and sees when there is none."""
    missing = [
        str(path)
        for path in _python()
        if path.parts[0] == "studio"
        and path.name not in ("__init__.py", "__main__.py")
        and str(path) not in WITHOUT_OWN_TEST
        and _has_logic(path)
        and not _is_tested(path)
    ]

    assert missing == []


def test_the_list_of_untested_modules_only_shrinks() -> None:
    """An entry that is no longer needed goes; a new one is no way out."""
    needless = [name for name in WITHOUT_OWN_TEST if _is_tested(Path(name))]
    gone = [name for name in WITHOUT_OWN_TEST if not (ROOT / name).is_file()]

    assert needless == []
    assert gone == []
    assert len(WITHOUT_OWN_TEST) <= MOST_WITHOUT_OWN_TEST


def test_no_file_names_a_place_of_one_machine() -> None:
    """A path or a package host that exists in one place only breaks everywhere else."""
    places = ["/" + "work/", "/" + "root/", "/opt/" + "pypi", "/opt/" + "wheels"]
    hosts = ["pypi" + ".org", "python" + "hosted", "npm" + "js.org", "npm" + "js.com"]
    here = [str(ROOT) + "/", str(Path.home()) + "/"]
    pattern = re.compile("|".join(re.escape(text) for text in (*places, *hosts, *here)))

    found = [
        f"{path}: {match.group()}"
        for path, text in _texts()
        if (match := pattern.search(text)) is not None
    ]

    assert found == []


def test_the_top_folders_are_the_known_ones() -> None:
    """Code, data, packaging, tests and words each have one place."""
    folders = {path.parts[0] for path in tracked() if len(path.parts) > 1}

    assert folders <= TOP_FOLDERS


@pytest.mark.parametrize("document", ["README.md", "docs/contributing.md"])
def test_every_make_target_in_the_documents_exists(document: str) -> None:
    """The first command that a reader types has to work."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))

    named = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / document).read_text(encoding="utf-8")))

    assert named
    assert named <= targets


def _sleeps(path: Path) -> bool:
    """Return whether the file's own code sleeps; a program in a string for a child may."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            yields = [ast.unparse(one) for one in node.args] == ["0"]
            if called in ("time.sleep", "qtbot.wait") or (called == "asyncio.sleep" and not yields):
                return True
    return False


def test_tests_wait_for_states_and_not_for_time() -> None:
    """A test that sleeps is slow on a fast machine and fails on a slow one."""
    stand_ins = ("fakes", "bench")

    found = [
        str(path)
        for path in _python()
        if path.parts[0] == "tests" and path.parts[1] not in stand_ins and _sleeps(path)
    ]

    assert found == []
