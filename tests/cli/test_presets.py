"""`weir presets …` and `weir argv` from the line that is typed to the file that is written.

Nothing is played: the commands answer in this process, on an empty home.
"""

import functools
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from studio.__main__ import LocalConnector
from studio.domain.control import PresetInfo
from studio.domain.presets import ArgvResult, PresetDetail, PresetDiff, PresetText
from tests.cli.typed import Ran, through

Weir = Callable[..., Ran]


@pytest.fixture
def weir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weir:
    """Run a command line for an empty home whose name has blanks and other letters."""
    monkeypatch.setenv("WEIR_HOME", str(tmp_path / "höme with blanks"))
    monkeypatch.delenv("WEIR_CATALOGUE", raising=False)

    return functools.partial(through, LocalConnector())


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

    assert "a copy of your own was made and changed" in ran.out
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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('schema_version = 1\nid = "x"\nfoo = [\n', "line 3: it is not valid TOML"),
        ('schema_version = 1\nid = "x"\nfoo = 3\n', "line 3: Object contains unknown field"),
        ('{"id": "x"}\n', "This looks like JSON; a preset is a TOML file"),
        ("title = 3\n", "is no preset: it has no `id`"),
    ],
)
def test_a_mistake_in_a_file_that_is_taken_over_is_told_about_that_file(
    weir: Weir, tmp_path: Path, content: str, said: str
) -> None:
    """The place under the home that it would get does not exist; nobody can look there."""
    given = tmp_path / "bäd.toml"
    given.write_text(content, encoding="utf-8")

    found = weir("presets", "import", str(given), "--as", "bad", "--json").document()

    assert str(found["message"]).startswith(str(given))
    assert said in f"{found['message']} {found['hint']}"
    assert found["hint"]


def test_a_change_that_will_be_refused_says_so_at_once_with_the_way_out(weir: Weir) -> None:
    """It is saved, for the next change may make it right; `show` and `plan` say it as well."""
    weir("presets", "copy", "27b-mtp", "mine")
    edited = weir("presets", "edit", "mine", "--set", "kv_cache_dtype=kvarn_k4v2_g128")
    shown, planned = weir("presets", "show", "mine"), weir("plan", "mine")
    mended = weir("presets", "edit", "mine", "--set", "block_size=128")

    for ran in (edited, shown, planned):
        assert "Set `block_size=128`" in " ".join(ran.out.split())
    assert "weir presets edit mine --set" in " ".join(edited.out.split())
    assert "refused" in edited.out
    assert "refused" not in mended.out
    assert "mine is changed" in mended.out


def test_a_change_to_a_bundled_preset_says_that_a_copy_was_made(weir: Weir) -> None:
    """And where it is, since from now on it stands in the place of the bundled one."""
    first = weir("presets", "edit", "27b-mtp", "--set", "max_num_seqs=3")
    second = weir("presets", "edit", "27b-mtp", "--set", "max_num_seqs=2")

    flat = " ".join(first.out.split())
    assert "a copy of your own was made" in flat
    assert str(Path(os.environ["WEIR_HOME"], "presets", "27b-mtp.toml")) in flat
    assert "copy" not in second.out


def test_without_an_editor_and_a_terminal_nothing_is_opened(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor that nobody sees is waited for until the end of days."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())

    found = weir("presets", "edit", "27b-mtp", "--json").document()

    assert found["code"] == "editor-missing"
    assert "--set" in str(found["hint"])


def test_a_compose_file_for_cards_asks_for_them_where_none_is(weir: Weir) -> None:
    """It is written on a laptop and used on a server, where it would compute on nothing."""
    one = weir("argv", "27b-mtp", "--format", "compose", "--host", "none-linux")
    four = weir("argv", "v100-27b", "--format", "compose", "--host", "none-linux")
    named = weir("argv", "27b-mtp", "--format", "compose", "--host", "none-linux", "--gpus", "7")

    assert "count: 1\n              capabilities: [gpu]" in one.out
    assert "count: 4\n              capabilities: [gpu]" in four.out
    assert 'device_ids: ["7"]' in named.out
    assert "This machine has no card 7" in " ".join(named.err.split())


def test_a_container_names_no_folder_that_it_cannot_see(weir: Weir) -> None:
    """Ours holds the control token, so that it is not mounted either."""
    ran = weir("argv", "cpu-demo", "--format", "compose")
    volumes = [line.strip().strip('-" ').split(":")[0] for line in ran.out.splitlines()
               if line.startswith('      - "/') and ":/" in line]  # fmt: skip

    home = os.environ["WEIR_HOME"]
    named = [line.partition(': "')[2].strip('"') for line in ran.out.splitlines()]
    for folder in (one for one in named if one.startswith(home)):
        assert any(folder.startswith(volume) for volume in volumes), folder
    assert 'VLLM_RPC_BASE_PATH: "/run/weir"' in ran.out
    assert '- "/run/weir:mode=1777"' in ran.out
    assert f"{home}/service" not in ran.out


def test_a_command_before_the_installation_says_what_is_not_there_yet(weir: Weir) -> None:
    """`RUNTIME-ID` in a path is no path; and a card that nothing uses is no choice."""
    ran = weir("argv", "cpu-demo", "--gpus", "7", "--host", "none-linux")
    flat = " ".join(ran.err.split())

    assert "RUNTIME-ID" in ran.out
    assert "`RUNTIME-ID` stands for what installing decides" in flat
    assert "weir runtime install cpu-vllm-0.32.0" in flat
    assert "is not here; `weir up cpu-demo` fetches it" in flat
    assert "It uses no card, so `--gpus` changes nothing" in flat
    assert all(len(line) <= 80 for line in ran.err.splitlines())


def test_what_differs_is_wrapped_for_the_terminal(weir: Weir) -> None:
    """Notes about machines and long values are wider than any terminal."""
    ran = weir("presets", "diff", "27b-mtp", "v100-27b")

    assert ran.status == 0
    # The name of a value is one word, to be copied.
    assert all(len(line) <= 80 or " " not in line.strip() for line in ran.out.splitlines())


def test_a_licence_that_nobody_knows_is_named_as_a_licence(weir: Weir) -> None:
    """Between a verdict and a size, "not known" could be about anything."""
    flat = " ".join(weir("presets", "--host", "v100-32x4-linux").out.split())

    assert "licence not known" in flat
    assert "· not known" not in flat
