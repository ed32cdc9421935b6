"""A full screen on a terminal, taken and given back."""

import io

import pytest

from studio.cli.cells import Span, line
from studio.cli.screen import Screen, keys_of


class Output(io.StringIO):
    """A stream that is no terminal."""

    def taken(self) -> str:
        """Return what was written since the last time."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


def test_only_lines_that_changed_are_written() -> None:
    """A second over SSH costs some hundred bytes."""
    out = Output()
    screen = Screen(out, None, has_colour=False)
    screen.draw([line("one"), line("two")])
    assert "one" in out.taken()

    screen.draw([line("one"), line("2")])

    changed = out.taken()
    assert "one" not in changed
    assert "\x1b[2;1H\x1b[K2" in changed
    screen.draw([line("one"), line("2")])
    assert out.taken() == ""


def test_another_number_of_lines_draws_everything_anew() -> None:
    """After a new size nothing stands where it stood."""
    out = Output()
    screen = Screen(out, None, has_colour=False)
    screen.draw([line("one")])
    out.taken()

    screen.draw([line("one"), line("two")])

    assert "\x1b[2J" in (text := out.taken())
    assert "one" in text


@pytest.mark.parametrize(
    ("has_colour", "written"), [(True, "\x1b[31;1mbad\x1b[0m ok"), (False, "bad ok")]
)
def test_styles_are_left_out_where_no_colour_is_wanted(written: str, *, has_colour: bool) -> None:
    """NO_COLOR means no escape in the text at all."""
    out = Output()
    Screen(out, None, has_colour=has_colour).draw([line(Span("bad", "bad"), " ok")])

    assert written in out.getvalue()


def test_a_stream_without_a_size_has_the_usual_one() -> None:
    """80 × 24, as ever."""
    assert Screen(Output(), None, has_colour=False).size() == (80, 24)


@pytest.mark.parametrize(
    ("sent", "keys"),
    [("q", ["q"]), ("Q?", ["q", "?"]), ("\x1b[A", []), ("\x1b", ["esc"]), ("\r", []), ("é", ["é"])],
)
def test_arrows_are_no_letters(sent: str, keys: list[str]) -> None:
    """An arrow key sends an `A`, which would open the alarms."""
    assert keys_of(sent) == keys
