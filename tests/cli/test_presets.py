"""`weir presets …` and `weir argv` from the line that is typed to the file that is written.

Nothing is played: the commands answer in this process, on an empty home.
"""

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from studio.__main__ import LocalConnector
from studio.cli.console import Console
from studio.cli.main import run
from studio.domain.control import PresetInfo
from studio.domain.presets import ArgvResult, PresetDetail, PresetDiff, PresetText
from tests.cli.conftest import Ran

Weir = Callable[..., Ran]


@pytest.fixture
def weir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weir:
    """Run a command line for an empty home whose name has blanks and other letters."""
    monkeypatch.setenv("WEIR_HOME", str(tmp_path / "höme with blanks"))
    monkeypatch.delenv("WEIR_CATALOGUE", raising=False)

    def call(*argv: str) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        console = Console(out, err, json="--json" in argv, environ={})
        status = run(argv, LocalConnector(), console)
        return Ran(status, out.getvalue(), err.getvalue())

    return call


def editor(folder: Path, code: str) -> str:
    """Return an editor that changes the text `t` with `code`."""
    script = folder / "editor.py"
    script.write_text(
        "import pathlib, sys\np = pathlib.Path(sys.argv[-1])\nt = p.read_text('utf-8')\n"
        f"{code}\np.write_text(t, 'utf-8')\n"
    )
    return f"{sys.executable} {script}"


@pytest.mark.parametrize("words", [("presets",), ("presets", "list")])
def test_bare_presets_lists_them(weir: Weir, words: tuple[str, ...]) -> None:
    """As it did before there was more to do with them; for another host, too."""
    ran = weir(*words, "--host", "rtx3090-linux")

    assert ran.status == 0
    assert ran.out.startswith("27b-dflash2")
    assert "proposed here" in ran.out
    assert "weir presets show 27b-dflash2" in " ".join(ran.out.split())
    assert all(len(line) <= 80 for line in ran.out.splitlines())


def test_the_list_as_a_document(weir: Weir) -> None:
    """Other programs read it."""
    for words in (["presets", "--json"], ["presets", "list", "--json"]):
        found = msgspec.json.decode(weir(*words, "--host", "none-linux").out, type=list[PresetInfo])
        assert found[0].id == "cpu-demo"


def test_a_preset_is_shown_with_all_that_is_known(weir: Weir) -> None:
    """Values here, knobs in words, figures with card and source, and what nobody has verified."""
    ran = weir("presets", "show", "v100-27b", "--host", "v100-16x4-linux")
    flat = " ".join(ran.out.split())

    assert "Chat and agents on four V100" in flat
    assert "max_num_seqs = 8 requests (1 to 64)" in flat
    assert "425,473 tokens" in flat
    assert "1Cat-vLLM, commit log" in flat
    assert "The exact share for 32 GB cards" in flat
    assert "Prebuilt prefill (no nvcc)" in flat
    assert all(len(line) <= 80 for line in ran.out.splitlines())
    as_json = weir("presets", "show", "v100-27b", "--json", "--host", "v100-16x4-linux")
    assert msgspec.json.decode(as_json.out, type=PresetDetail).usable


def test_a_copy_is_made_changed_and_compared(weir: Weir) -> None:
    """The whole way of a preset of one's own."""
    made = weir("presets", "copy", "27b-dflash2", "mine", "--title", "Für mich", "--json")
    changed = weir("presets", "edit", "mine", "--set", "max-model-len=32K")
    diff = weir("presets", "diff", "mine")
    as_json = weir("presets", "diff", "mine", "--json")
    other = weir("presets", "diff", "mine", "27b-mtp")

    path = msgspec.json.decode(made.out, type=PresetText).path
    assert 'title = "Für mich"' in Path(path).read_text(encoding="utf-8")
    assert changed.status == 0
    assert "mine is changed" in changed.out
    assert "changed by you:\n  max_model_len\n    was 65536 · yours 32768 · now 65536" in diff.out
    assert msgspec.json.decode(as_json.out, type=PresetDiff).is_three_way
    assert "draft_tokens" in other.out
    assert "yours" in weir("presets").out


def test_an_editor_changes_the_file(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a bundled preset becomes the person's own by it."""
    monkeypatch.setenv(
        "VISUAL", editor(tmp_path, "t = t.replace('max_num_seqs = 8', 'max_num_seqs = 3')")
    )
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    ran = weir("presets", "edit", "27b-mtp")

    assert "27b-mtp is changed" in ran.out
    assert "max_num_seqs = 3" in weir("presets", "show", "27b-mtp").out
    assert "max_num_seqs" in weir("presets", "diff", "27b-mtp").out


def test_an_editor_that_changes_nothing_changes_nothing(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking is no copy."""
    monkeypatch.setenv("VISUAL", editor(tmp_path, "pass"))

    assert weir("presets", "edit", "27b-mtp").out == "Nothing was changed.\n"
    assert not Path(os.environ["WEIR_HOME"], "presets", "27b-mtp.toml").exists()


def test_what_cannot_be_saved_is_kept_for_another_try(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half an hour of typing must not be lost to a comma."""
    monkeypatch.setenv(
        "VISUAL", editor(tmp_path, "t = t.replace('served_name', 'servd_name') + '# mine'")
    )

    ran = weir("presets", "edit", "27b-mtp")

    assert ran.status == 3
    assert "servd_name" in ran.err
    assert "Did you mean `served_name`?" in ran.err
    kept = " ".join(ran.err.split()).partition("is kept in ")[2].split()[0].rstrip(".")
    assert Path(kept).read_text(encoding="utf-8").endswith("# mine")


def test_a_preset_from_a_file_is_taken_over(weir: Weir, tmp_path: Path) -> None:
    """A colleague sent it; one with a key in it is refused."""
    given = tmp_path / "from ä friend.toml"
    demo = Path(msgspec.json.decode(weir("presets", "show", "cpu-demo", "--json").out)["path"])
    given.write_text(demo.read_text(encoding="utf-8"), encoding="utf-8")

    taken = weir("presets", "import", str(given), "--as", "friend")
    missing = weir("presets", "import", str(tmp_path / "nothing.toml"), "--json")
    with given.open("a", encoding="utf-8") as file:
        file.write('[environment]\nHF_TOKEN = "x"\n')
    refused = weir("presets", "import", str(given), "--json")

    assert "friend is yours now" in taken.out
    assert "friend" in weir("presets").out
    assert missing.document()["code"] == "file-unreadable"
    assert refused.document()["code"] == "preset-secret"


@pytest.mark.parametrize("form", ["shell", "compose", "systemd"])
def test_a_command_stands_alone_on_standard_output(weir: Weir, form: str) -> None:
    """`weir argv … > file` is what people will write."""
    ran = weir("argv", "27b-huge", "--format", form, "--host", "rtx4090-wsl2", "--set",
               "draft_tokens=15")  # fmt: skip

    assert ran.status == 0
    assert "221184" in ran.out
    assert "WSL" in ran.out or "PIN_MEMORY" in ran.out
    assert "For NVIDIA GeForce RTX 4090" in ran.err
    assert "cannot be installed yet" in ran.err
    assert "cannot be installed yet" not in ran.out


def test_a_command_as_a_document(weir: Weir) -> None:
    """Words, variables and settings apart."""
    ran = weir("argv", "cpu-demo", "--json")
    found = msgspec.json.decode(ran.out, type=ArgvResult)

    assert found.settings["max_model_len"] == 2048
    assert "--max-model-len" in found.argv


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["presets", "show", "nope"], 3, "preset-unknown"),
        (["presets", "copy", "27b-mtp", "Ä"], 3, "preset-id"),
        (["presets", "edit", "27b-mtp", "--set", "max_num_seq=1"], 3, "knob-unknown"),
        (["presets", "diff", "27b-mtp"], 3, "preset-no-origin"),
        (["argv", "27b-mtp", "--set", "dtype=float16"], 3, "preset-refused"),
        (["argv", "27b-mtp", "--format", "yaml"], 2, "usage"),
        (["argv"], 2, "usage"),
        (["presets", "shw"], 2, "usage"),
        (["presets", "copy", "27b-mtp"], 2, "usage"),
        (["presets", "edit", "27b-mtp", "--host", "rtx3090-linux"], 2, "usage"),
    ],
)
def test_mistakes_have_a_code_and_a_sentence(
    weir: Weir, words: list[str], status: int, code: str
) -> None:
    """In words for people, as a document for programs."""
    plain, as_json = weir(*words), weir(*words, "--json")

    assert (plain.status, as_json.status) == (status, status)
    assert plain.err.startswith("error: ")
    assert as_json.document()["code"] == code
