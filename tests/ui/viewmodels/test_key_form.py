"""What a key may do, as a form."""

import msgspec
import pytest

from studio.domain.keys import KeyLimits
from studio.ui.viewmodels.key_form import FIELDS, Form, form_of, limit_words, read
from tests.ui.fake_service import KEY

ALL = KeyLimits(
    models=("chat", "chat-long"),
    routes=("openai",),
    addresses=("192.168.1.0/24",),
    requests_per_minute=30,
    max_concurrent=2,
    tokens_per_day=2_000_000,
    warn_tokens_per_day=1_000_000,
    max_context=32_000,
    expires_at="2027-01-31T00:00:00+00:00",
    only_running=True,
)


def test_every_limit_of_a_key_is_in_the_form() -> None:
    """What the command line can set, this can; a limit that is added later must come in too."""
    fields = {field.id for field in FIELDS} | {"only_running"}

    assert fields == set(KeyLimits.__struct_fields__)


def test_a_key_that_is_opened_and_saved_is_the_same() -> None:
    """Nothing is lost on the way through text."""
    form = form_of(msgspec.structs.replace(KEY, limits=ALL))

    assert read(form).limits == ALL
    assert read(form).name == KEY.name


def test_an_empty_form_limits_nothing() -> None:
    """Blanks are as good as nothing."""
    form = Form(name=" Zed ", values={"models": " , ", "max_context": "  "})

    assert read(form) == msgspec.structs.replace(read(form), name="Zed", limits=KeyLimits())
    assert read(form).problems == {}


@pytest.mark.parametrize(
    ("text", "tokens"), [("20000", 20_000), ("32k", 32_000), ("2M", 2_097_152), ("4_096", 4_096)]
)
def test_numbers_are_written_as_on_the_command_line(text: str, tokens: int) -> None:
    """One reading everywhere."""
    assert read(Form(name="x", values={"max_context": text})).limits.max_context == tokens


@pytest.mark.parametrize("text", ["viel", "0", "-5", "1.5", "٣x"])
def test_what_is_no_number_is_told_at_its_field(text: str) -> None:
    """And nothing is sent."""
    filled = read(Form(name="x", values={"max_context": text, "models": "chat"}))

    assert list(filled.problems) == ["max_context"]
    assert filled.limits == KeyLimits()


def test_names_in_chinese_commas_are_names_too() -> None:
    """A Chinese keyboard types them."""
    assert read(Form(name="x", values={"models": "甲，乙"})).limits.models == ("甲", "乙")


def test_a_key_needs_a_name_of_bearable_length() -> None:
    """As the service says, but at once."""
    assert "name" in read(Form(name="  ")).problems
    assert "name" in read(Form(name="x" * 65)).problems


def test_limits_are_told_in_lines() -> None:
    """On hover over the state."""
    lines = limit_words(ALL)

    assert len(lines) == len(FIELDS) + 1
    assert lines[0] == "Models: chat, chat-long"
    assert "Tokens a day: 2,000,000" in lines
    assert limit_words(KeyLimits()) == ()
