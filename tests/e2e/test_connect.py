"""`weir connect` and `weir try` from a terminal, over a real service with the fake engine."""

import json
from pathlib import Path

from tests.fakes.weir import Weir


def test_a_client_is_shown_written_and_put_back_without_a_service(
    weir: Weir, tmp_path: Path
) -> None:
    """What a person types, one after the other; nothing has to run for it."""
    file = tmp_path / "zed settings.json"
    file.write_text("{ /* mine */ }\n")
    words = ["--model", "fake-demo", "--file", str(file)]

    shown = weir.run("connect", "zed", *words).stdout
    written = weir.run("connect", "zed", *words, "--write").stdout
    listed = weir.json("connect")
    undone = weir.run("connect", "zed", "--undo").stdout

    assert "+  " in shown
    assert "weir connect zed --write" in shown
    assert f"Wrote {file}." in written
    assert "sk-weir-" in written, "Zed asks for the key in its window"
    states = {one["id"]: one["state"] for one in listed["clients"]}
    assert states["zed"] == "connected"
    assert "is as it was" in undone
    assert file.read_text() == "{ /* mine */ }\n"


def test_an_answer_is_shown_with_what_was_seen(weir: Weir) -> None:
    """Text on standard output, figures beside it."""
    weir.json("up", "fake-demo", "--detach")

    found = weir.run("try", "Hi")
    said = weir.json("try")

    assert found.stdout.strip()
    assert "seen here: first token after" in found.stderr
    assert said["text"]
    assert json.dumps(said["seen"]["tokens"])
