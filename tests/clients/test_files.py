"""A client's file is written whole, with a way back, whatever happens meanwhile."""

import tomllib
from pathlib import Path

import msgspec
import pytest
import yaml

from studio.clients import catalogue, files, json_text, places
from studio.clients.catalogue import ClientSpec, Filling
from studio.domain.clients import ClientState, Side
from studio.domain.errors import BadInput, Busy, Damaged, HostLacks, NotFound, StudioError

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "clients"
SPECS = catalogue.read_all(ROOT / "presets" / "clients")
FILLING = Filling(
    base_url="http://127.0.0.1:18020/v1", key="sk-weir-abc", model="qwen3.8-27b", context=65_536
)
RECORDED = {
    "claude-code": "claude-settings.json",
    "zed": "zed-settings.json",
    "codex": "codex-config.toml",
    "continue": "continue-config.yaml",
    "librechat": "librechat.yaml",
    "opencode": "opencode.jsonc",
    "open-webui": "open-webui.env",
}


def spec(client: str) -> ClientSpec:
    """Return a client of the catalogue."""
    return catalogue.named(SPECS, client)


def new_text(client: str, old: str, filling: Filling = FILLING) -> str:
    """Return what a client's file says when it is connected."""
    file = spec(client).file
    assert file is not None
    seen = files.Seen(path=Path("/x"), data=old.encode())
    return files.rewritten(seen, file, filling).decode()


def recorded(client: str) -> str:
    """Return a file as the client's own documentation or program writes it."""
    return (DATA / RECORDED[client]).read_bytes().decode()


@pytest.fixture
def notes(tmp_path: Path) -> files.Notes:
    """Return a place for notes, in a folder with a blank."""
    return files.Notes(tmp_path / "the home" / "clients")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of a client, in a folder with a name that is not ASCII."""
    path = tmp_path / "hö me" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"a": 1} // mine\n', encoding="utf-8")
    path.chmod(0o640)
    return path


def put(notes: files.Notes, path: Path, data: bytes) -> files.Note:
    """Write a file as a client's."""
    return files.write(notes, "zed", files.look(path), data, key=("k1", "Zed"))


@pytest.mark.parametrize("client", sorted(RECORDED))
def test_a_recorded_file_keeps_every_line_and_can_be_written_twice(client: str) -> None:
    """The formats are the clients' own; a second time changes nothing."""
    old = recorded(client)

    new = new_text(client, old)

    rest = iter(new.splitlines())
    set_anew = ("model =", "OPENAI_", '{"$schema')
    for line in old.splitlines():
        if not line.startswith(set_anew):
            assert any(
                one in (line, f"{line},") or one.startswith(f"{line[:-1]}, ") for one in rest
            )
    assert new_text(client, new) == new
    assert new_text(client, "") == new_text(client, new_text(client, ""))


def test_what_the_clients_then_read_is_what_their_documentation_asks_for() -> None:
    """Each by a reader of its format."""
    claude = json_text.read(new_text("claude-code", recorded("claude-code")))
    assert claude["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:18020"
    assert claude["env"]["CLAUDE_CODE_ENABLE_TELEMETRY"] == "1"
    codex = tomllib.loads(new_text("codex", recorded("codex")))
    assert (codex["model"], codex["model_provider"]) == ("qwen3.8-27b", "weir")
    assert codex["model_providers"]["weir"]["wire_api"] == "responses"
    assert codex["model_providers"]["azure"]["name"] == "Azure"
    zed = json_text.read(new_text("zed", recorded("zed")))
    mine = zed["language_models"]["openai_compatible"]["Weir Studio"]
    assert mine["available_models"][0]["max_tokens"] == 65_536
    assert "sk-weir" not in new_text("zed", recorded("zed"))
    models = yaml.safe_load(new_text("continue", recorded("continue")))["models"]
    assert [one["name"] for one in models] == ["Qwen elsewhere", "Autocomplete", "Weir Studio"]
    assert models[2]["apiBase"] == FILLING.base_url
    custom = yaml.safe_load(new_text("librechat", recorded("librechat")))["endpoints"]["custom"]
    assert custom[1]["models"] == {"default": ["qwen3.8-27b"], "fetch": True}
    limit = json_text.read(new_text("opencode", recorded("opencode")))["provider"]["weir"]
    assert limit["models"]["qwen3.8-27b"]["limit"] == {"context": 65_536, "output": 8_192}


def test_another_model_takes_the_place_of_the_first_and_an_unknown_context_is_left_out() -> None:
    """An entry of ours is changed, not doubled; nothing is invented."""
    other = msgspec.structs.replace(FILLING, model="m2", context=None)

    models = yaml.safe_load(new_text("continue", new_text("continue", ""), other))["models"]

    assert [one["model"] for one in models] == ["m2"]
    assert "limit" not in new_text("opencode", "", other)


def test_every_client_says_what_to_do_and_names_its_page() -> None:
    """A client without a file has values or snippets; nothing is left unfilled."""
    assert len(SPECS) >= 12
    for one in SPECS:
        assert one.documented.startswith("https://")
        assert one.file is not None or one.values or one.snippets
        texts = [FILLING.text(text) for text in (*one.steps, *(v.value for v in one.values))]
        texts += [FILLING.text(snippet.text) for snippet in one.snippets]
        assert not [text for text in texts if "{base" in text or "{key" in text or "{con" in text]


def test_writing_keeps_mode_and_backup_and_undo_restores_exactly(
    notes: files.Notes, file: Path
) -> None:
    """To the byte, mode included, and nothing of ours is left beside."""
    before = file.read_bytes()

    note = put(notes, file, b"{}")

    assert file.read_bytes() == b"{}"
    assert file.stat().st_mode & 0o777 == 0o640
    assert note.backup is not None
    assert Path(note.backup).read_bytes() == before
    assert files.state(notes.get("zed"), files.look(file)) is ClientState.CONNECTED

    put(notes, file, b"{ }")
    files.undo(notes, "zed", "Zed")

    assert file.read_bytes() == before
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(file.parent.iterdir()) == [file]
    with pytest.raises(NotFound):
        files.undo(notes, "zed", "Zed")


def test_a_file_that_was_not_there_is_private_and_goes_away_again(
    notes: files.Notes, tmp_path: Path
) -> None:
    """It holds a key."""
    path = tmp_path / "new" / "config.toml"
    put(notes, path, b"a = 1\n")
    assert path.stat().st_mode & 0o777 == 0o600

    assert files.undo(notes, "zed", "Zed")[1]

    assert not path.exists()


def test_a_file_that_somebody_changed_since_is_not_put_back(notes: files.Notes, file: Path) -> None:
    """Their change would be lost."""
    put(notes, file, b"{}")
    file.write_bytes(b'{"theirs": 1}')

    with pytest.raises(BadInput) as caught:
        files.undo(notes, "zed", "Zed")

    assert caught.value.code == "client-file-changed"
    assert file.read_bytes() == b'{"theirs": 1}'
    assert files.state(notes.get("zed"), files.look(file)) is ClientState.CHANGED


def test_a_lost_or_changed_backup_is_said_and_nothing_is_written(
    notes: files.Notes, file: Path
) -> None:
    """The file as it is beats one that nobody knows."""
    note = put(notes, file, b"{}")
    Path(note.backup or "").write_bytes(b"other")

    with pytest.raises(Damaged):
        files.undo(notes, "zed", "Zed")

    assert file.read_bytes() == b"{}"


def test_a_kill_between_note_and_file_can_be_undone(notes: files.Notes, file: Path) -> None:
    """The note comes first, so the file is either of the two that it names."""
    before = file.read_bytes()
    put(notes, file, b"{}")
    file.write_bytes(before)  # as if the kill had come just before the file was replaced

    assert files.state(notes.get("zed"), files.look(file)) is ClientState.UNTOUCHED
    files.undo(notes, "zed", "Zed")

    assert file.read_bytes() == before


def test_a_file_that_changes_under_our_hands_is_not_overwritten(
    notes: files.Notes, file: Path
) -> None:
    """Editors save whenever they like."""
    seen = files.look(file)
    file.write_bytes(b'{"newer": 1}')

    with pytest.raises(BadInput) as caught:
        files.write(notes, "zed", seen, b"{}", key=None)

    assert caught.value.code == "client-file-changed"
    assert file.read_bytes() == b'{"newer": 1}'


def test_a_link_stays_a_link_and_its_target_is_written(
    notes: files.Notes, file: Path, tmp_path: Path
) -> None:
    """Dotfiles often lie in a repository."""
    link = tmp_path / ".settings.json"
    link.symlink_to(file)

    put(notes, link, b"{}")

    assert link.is_symlink()
    assert file.read_bytes() == b"{}"


def test_what_cannot_be_read_or_written_is_named(notes: files.Notes, file: Path) -> None:
    """A folder, a ring of links, a read-only file, bytes that are no text, too much."""
    file.chmod(0o440)
    with pytest.raises(HostLacks, match="read-only"):
        put(notes, file, b"{}")
    ring = file.parent / "ring"
    ring.symlink_to(ring)
    big = file.parent / "big"
    big.write_bytes(b" " * ((8 << 20) + 1))
    for path in (file.parent, ring, big, file / "below"):
        with pytest.raises(StudioError) as caught:
            files.look(path)
        assert str(path) in caught.value.message
    zed = spec("zed").file
    assert zed is not None
    with pytest.raises(BadInput, match="line 2"):
        files.rewritten(files.Seen(path=file, data=b"{\n\xff"), zed, FILLING)


def test_only_one_writes_at_a_time(notes: files.Notes) -> None:
    """Two windows, or a window and a terminal."""
    with notes.alone(), pytest.raises(Busy), notes.alone():
        pass


def test_a_byte_order_mark_stays(file: Path) -> None:
    """Windows' Notepad writes one."""
    zed = spec("zed").file
    assert zed is not None
    data = files.rewritten(files.Seen(path=file, data=b"\xef\xbb\xbf{}"), zed, FILLING)
    assert data.startswith(b"\xef\xbb\xbf{")


def test_places_follow_variables_and_windows_lies_around_wsl(tmp_path: Path) -> None:
    """The file that is there counts; where none is, the folder does."""
    home, profile = tmp_path / "home", tmp_path / "mnt" / "c" / "Users" / "Ada B"
    (profile / "AppData" / "Roaming" / "Zed").mkdir(parents=True)
    (profile / "AppData" / "Roaming" / "Zed" / "settings.json").write_text("{}")
    ground = places.Ground(
        home=home, platform="linux", environ={"CODEX_HOME": "/c o"}, profile=profile, is_wsl=True
    )
    zed, codex = spec("zed").file, spec("codex").file
    assert zed is not None
    assert codex is not None

    found = places.chosen(ground.places(zed))

    assert found == (profile / "AppData" / "Roaming" / "Zed" / "settings.json", Side.WINDOWS)
    assert ground.places(codex)[0].path == Path("/c o/config.toml")
    assert ground.places(codex)[1].path == home / ".codex" / "config.toml"
    assert places.trace(spec("zed"), ground) == str(found.path)
    assert places.trace(spec("codex"), ground) is None


def test_an_unknown_client_and_a_half_path_are_refused() -> None:
    """With what there is instead."""
    with pytest.raises(NotFound) as caught:
        catalogue.named(SPECS, "cursor")
    assert "`zed`" in (caught.value.hint or "")
    assert catalogue.named(SPECS, "Claude Code").id == "claude-code"
    with pytest.raises(BadInput):
        places.given("settings.json")
