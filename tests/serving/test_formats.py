"""Commands for people who run units and containers of their own."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from studio.domain.presets import CommandFormat
from studio.serving import formats
from studio.serving.command import Launch

ODD = "a 'b' \"c\" $d %e \\f ü"
LAUNCH = Launch(
    argv=(
        "/rt/python3", "-m", "engine", "serve", "/models/my modèle", "--uds", "/run/e.sock",
        "--served-model-name", "tiny", "--odd", ODD, "--json", '{"a":[1,"--b"]}', "--flag",
    ),
    environment={"B": ODD, "A": "1", "CUDA_VISIBLE_DEVICES": "2,3", "CUDA_DEVICE_ORDER": "PCI"},
    preset="27b.x", served_name="tiny", runtime="rt", runtime_id="abc", knobs={}, overrides={},
    python="/rt/python3", socket="/run/e.sock", ready_within_s=900.0, drain_s=20.0,
)  # fmt: skip


def written(form: CommandFormat) -> str:
    """Write the launch down."""
    return formats.written(LAUNCH, form, gpus=(2, 3), folders=("/rt", "/models"))


@pytest.mark.parametrize("form", CommandFormat)
def test_a_key_is_named_and_never_written(form: CommandFormat) -> None:
    """These texts are pasted into files and chats."""
    text = written(form)

    assert formats.KEY_VARIABLE in text
    assert "--api-key" not in text
    assert "--uds" not in text
    assert str(formats.PORT) in text


def test_the_script_hands_on_every_word_as_it_is(tmp_path: Path) -> None:
    """Run by a real shell, with the engine replaced by a program that prints what it got."""
    show = tmp_path / "show.py"
    show.write_text("import json, os, sys; print(json.dumps([sys.argv[1:], os.environ['B']]))")
    script = tmp_path / "run.sh"
    text = written(CommandFormat.SHELL).replace(
        "exec /rt/python3 -m engine", f"exec {shlex.quote(sys.executable)} {show}"
    )
    script.write_text(text, encoding="utf-8")

    ran = subprocess.run(
        ["sh", script], env={"VLLM_API_KEY": "k", "PATH": os.environ["PATH"]}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    without = subprocess.run(["sh", script], env={}, capture_output=True, text=True, check=False)

    words, variable = json.loads(ran.stdout)
    assert words == list(formats.listening(LAUNCH, "127.0.0.1"))[3:]
    assert variable == ODD
    assert without.returncode != 0
    assert "key" in without.stderr


def test_the_unit_doubles_what_systemd_reads_itself() -> None:
    """`%e` would be a specifier and `$d` a variable."""
    text = written(CommandFormat.SYSTEMD)

    assert 'Environment="B=a \'b\' \\"c\\" $d %%e \\\\f ü"' in text
    assert '"a \'b\' \\"c\\" $$d %%e \\\\f ü"' in text
    assert "ExecStart=/rt/python3 -m engine serve" in text
    assert "TimeoutStartSec=900" in text
    assert "TimeoutStopSec=30" in text


def test_the_compose_file_gives_cards_folders_and_shared_memory() -> None:
    """Inside, cards are numbered anew, so the numbers of the host must not be handed on."""
    text = written(CommandFormat.COMPOSE)

    assert 'device_ids: ["2", "3"]' in text
    assert "CUDA_VISIBLE_DEVICES" not in text
    assert '"/models:/models"' in text
    assert '"127.0.0.1:8000:8000"' in text
    assert "ipc: host" in text
    assert "  27b-x:" in text
    assert json.dumps(ODD, ensure_ascii=False).replace("$", "$$") in text


def test_a_folder_with_a_colon_is_mounted_as_one() -> None:
    """`/a:b:/a:b` would be read as the folder `/a`, mounted at `b`."""
    text = formats.written(LAUNCH, CommandFormat.COMPOSE, gpus=(), folders=("/a:b", "/c d"))

    assert '- type: bind\n        source: "/a:b"\n        target: "/a:b"' in text
    assert '- "/c d:/c d"' in text


def test_without_cards_no_device_is_asked_for() -> None:
    """A container that asks for a card that is not there does not start."""
    text = formats.written(LAUNCH, CommandFormat.COMPOSE, gpus=(), folders=("/rt",))

    assert "devices:" not in text
