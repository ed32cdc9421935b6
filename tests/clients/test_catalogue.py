"""Every client of the catalogue, with files as its own program writes them."""

import tomllib
from pathlib import Path

import msgspec
import pytest
import yaml

from studio.clients import catalogue, files, json_text, places
from studio.clients.catalogue import Filling
from studio.domain.clients import Side
from studio.domain.errors import BadInput, NotFound
from tests.clients.samples import DATA, FILLING, RECORDED, SPECS, spec


def new_text(client: str, old: str, filling: Filling = FILLING) -> str:
    """Return what a client's file says when it is connected."""
    file = spec(client).file
    assert file is not None
    seen = files.Seen(path=Path("/x"), data=old.encode())
    return files.rewritten(seen, file, filling).decode()


def recorded(client: str) -> str:
    """Return a file as the client's own documentation or program writes it."""
    return (DATA / RECORDED[client]).read_bytes().decode()


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


def test_an_unknown_client_and_a_half_path_are_refused() -> None:
    """With what there is instead."""
    with pytest.raises(NotFound) as caught:
        catalogue.named(SPECS, "cursor")
    assert "`zed`" in (caught.value.hint or "")
    assert catalogue.named(SPECS, "Claude Code").id == "claude-code"
    with pytest.raises(BadInput):
        places.given("settings.json")


def test_a_file_is_named_as_windows_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command there hands its path on to the service in the Linux; elsewhere it is no path."""
    named = r"C:\Users\Zoë B\settings.json"
    with pytest.raises(BadInput):
        places.given(named)
    monkeypatch.setenv("WSL_DISTRO_NAME", "weir-studio")

    place = places.given(named)

    assert place == (Path("/mnt/c/Users/Zoë B/settings.json"), Side.WINDOWS)
    assert places.given("/etc/x.json").side is Side.HERE
