"""`weir keys prompts` as a person types it: a red sign as long as it is on."""

import io
import json

from studio.cli.console import Console
from studio.cli.prompts import entry_text, state_text, warn
from studio.domain.keys import PromptEntry, PromptLogState
from tests.cli.typed import Typed


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        """Return that it is."""
        return True


def test_it_is_switched_on_for_a_while_shown_and_cleared(typed: Typed) -> None:
    """Everything that concerns one key says so meanwhile."""
    typed("keys", "create", "laptop")
    assert "not kept" in typed("keys", "prompts", "laptop").stdout

    on = typed("keys", "prompts", "laptop", "on", "--for", "2h")
    assert "PROMPTS ARE KEPT" in on.stdout
    assert "Tell the people" in on.stderr
    assert "PROMPTS KEPT till" in typed("keys", "list").stdout
    assert "PROMPTS KEPT till" in typed("keys", "show", "laptop").stdout
    assert json.loads(typed("keys", "prompts", "laptop", "--json").stdout)["until"]
    assert "No prompt" in typed("keys", "prompts", "laptop", "show").stdout
    assert json.loads(typed("keys", "prompts", "laptop", "show", "--json").stdout) == []

    assert "not kept" in typed("keys", "prompts", "laptop", "off").stdout
    assert "deleted" in typed("keys", "prompts", "laptop", "clear").stdout
    assert "works" in typed("keys", "list").stdout


def test_mistakes_say_what_to_do(typed: Typed) -> None:
    """A span that is none, a key that is none."""
    typed("keys", "create", "laptop")
    for span in ("0h", "8d", "for ever", "-1h"):
        said = typed("keys", "prompts", "laptop", "on", f"--for={span}", status=2)
        assert "no span of time" in said.stderr
    assert "No key is called" in typed("keys", "prompts", "lap", "on", status=3).stderr


def test_the_sign_is_red_where_colours_can_be_shown() -> None:
    """And a word everywhere else."""
    out, err = Terminal(), Terminal()
    console = Console(out, err, environ={"TERM": "xterm"})

    warn([PromptLogState(key_id="k", key="laptop", until="2026-11-30T12:30:00+00:00"),
          PromptLogState(key_id="k", key="other")], console)  # fmt: skip

    assert "\x1b[31;1m" in err.getvalue()
    assert "laptop" in err.getvalue()
    assert "other" not in err.getvalue()


def test_a_prompt_moves_no_cursor() -> None:
    """It is what anybody may have sent."""
    entry = PromptEntry(
        at="2026-11-30T12:30:00+00:00", request_id="r1", route="/v1/messages", body_bytes=5,
        body="a\x1b[2Jb\nc",
    )  # fmt: skip

    text = entry_text(entry)

    assert "\x1b" not in text
    assert text.endswith("a[2Jb\nc")


def test_what_lies_there_is_said_with_its_size() -> None:
    """And how to get rid of it."""
    text = state_text(PromptLogState(key_id="k", key="laptop", kept=3, bytes=2_048, folder="/h/p"))

    assert "3 lie in /h/p, 2.0 KiB. `weir keys prompts laptop clear` deletes them." in text
    one = state_text(PromptLogState(key_id="k", key="laptop", kept=1, bytes=2, folder="/h/p"))
    assert "One lies in /h/p" in one
