"""A block of code or of a difference."""

from pytestqt.qtbot import QtBot

from studio.ui.theme import Look
from studio.ui.widgets.code import CodeBlock


def test_it_is_as_high_as_its_text_up_to_a_bound(qtbot: QtBot, look: Look) -> None:
    """A long difference scrolls instead of pushing all else away."""
    made = CodeBlock(look, "code", "Code", lines=5, marks=True)
    qtbot.addWidget(made)
    made.show_text("+a")
    one = made.sizeHint().height()

    made.show_text("\n".join(["-b"] * 100))

    assert one < made.sizeHint().height() < one + 5 * made.fontMetrics().lineSpacing()
    assert made.accessibleName() == "Code"


def test_added_and_removed_lines_differ_in_colour_and_in_their_sign(
    qtbot: QtBot, look: Look
) -> None:
    """Colour is never the only sign."""
    made = CodeBlock(look, "code", "Code", lines=5, marks=True)
    qtbot.addWidget(made)
    made.show_text("+a\n-b")
    colours = []
    block = made.document().firstBlock()
    while block.isValid():
        layout = block.layout()
        ranges = layout.formats()
        form = ranges[0].format
        brush = form.foreground()
        colours.append(brush.color().name())
        block = block.next()
    assert colours == [look.colour("ok").name(), look.colour("harm").name()]
