"""`weir adopt`: a key comes by file, by standard input or by hand, and is never shown."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake_service import FakeConnector
from tests.cli.terminal import ROOT, Terminal, piped
from tests.cli.typed import Ran

URL = "http://127.0.0.1:8000"
Weir = Callable[..., Ran]


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    """Return a file that holds the key."""
    file = tmp_path / "ké y"
    file.write_text("right")
    return str(file)


def test_it_says_where_clients_connect_and_what_there_is_to_note(weir: Weir, key_file: str) -> None:
    """The one thing a person came for, with our own key, shown this once."""
    ran = weir("adopt", URL, "--key-file", key_file, "--name", "Bob's")

    assert ran.status == 0
    for part in ("`Bob's` is adopted", "vLLM 0.32.0", "18020/v1", "sk-weir-new", "2,048"):
        assert part in ran.out
    assert "It serves 2 models." in ran.out
    assert "right" not in ran.out + ran.err


def test_programs_get_one_document(weir: Weir, key_file: str) -> None:
    """As with `weir up --json`."""
    document = weir("adopt", URL, "--key-file", key_file, "--json").document()

    assert document["served_name"] == "theirs"
    assert document["api_key"] == "sk-weir-new"


def test_without_a_terminal_a_missing_key_is_an_error_with_the_way_out(weir: Weir) -> None:
    """A script must not wait for somebody to type."""
    ran = weir("adopt", URL)

    assert ran.status == 3
    assert "adopt-key-refused" in ran.err
    assert "--key-file" in ran.err


def test_a_key_is_read_from_standard_input() -> None:
    """So that it can come from a password manager."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.fake_weir", "idle", "adopt", URL, "--key-file", "-",
         "--json"],
        cwd=ROOT, input=b"right", capture_output=True, check=False, timeout=60,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["served_name"] == "theirs"


def test_a_person_is_asked_and_what_they_type_is_not_shown() -> None:
    """A wrong one may be typed again; the terminal shows keys as typed afterwards."""
    with Terminal("idle", "adopt", URL) as terminal:
        terminal.expect(f"Key of the vLLM at {URL}: ")
        terminal.type("wrong-one\n")
        terminal.expect(": \nKey of the vLLM")
        terminal.type("right\n")

        assert terminal.finish() == 0

        assert "is adopted" in terminal.text
        assert "wrong-one" not in terminal.text
        assert "right\n" not in terminal.text


def test_ctrl_c_at_the_question_leaves_a_terminal_that_shows_what_is_typed() -> None:
    """A shell without an echo is a broken shell."""
    with Terminal("idle", "adopt", URL) as terminal:
        terminal.expect(f"Key of the vLLM at {URL}: ")

        terminal.interrupt()

        assert terminal.finish() == 130
        assert terminal.echoes()


@pytest.mark.parametrize("content", [None, "x" * 20_000])
def test_a_file_that_holds_no_key_is_refused(
    weir: Weir, tmp_path: Path, content: str | None
) -> None:
    """A mistyped path, or a file of something else."""
    file = tmp_path / "key"
    if content is not None:
        file.write_text(content)

    ran = weir("adopt", URL, "--key-file", str(file))

    assert ran.status in (3, 4)
    assert str(file) in ran.err


def test_letting_go_needs_no_address_and_takes_none(weir: Weir) -> None:
    """The two mean opposite things."""
    assert "`Bob's` is let go of" in weir("adopt", "--forget").out
    assert weir("adopt", "--forget", "--json").document()["was_adopted"] is True
    assert weir("adopt", URL, "--forget").status == 2


def test_it_is_shown_without_a_service(weir: Weir, connector: FakeConnector) -> None:
    """What was adopted is kept while nothing runs."""
    connector.is_running = False

    ran = weir("adopt")

    assert ran.status == 0
    assert connector.offline_used == 1
    assert "adapter" in ran.out
    assert weir("adopt", "--json").document()["version"] == "0.32.0"


def test_a_key_on_the_command_line_is_not_understood() -> None:
    """It would stand in the list of processes and in the shell's history."""
    done = piped("idle", "adopt", URL, "--key", "right")

    assert done.returncode == 2
    assert b"--key-file" in done.stderr
