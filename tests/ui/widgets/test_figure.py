"""The big figures."""

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.theme import Look, ThemeChoice
from studio.ui.viewmodels.serve import FigureView
from studio.ui.viewmodels.words import Role
from studio.ui.widgets.figure import Figure

SPILL = FigureView(
    label="Spill", value="3.00", unit="GiB", meaning="in swap", role=Role.HARM, tooltip="Why"
)


def test_a_figure_is_read_out_whole(qtbot: QtBot, look: Look) -> None:
    """Number, unit and meaning belong together."""
    figure = Figure(look, "spill")
    qtbot.addWidget(figure)

    figure.show_figure(SPILL)

    assert figure.accessibleName() == "Spill: 3.00 GiB, in swap"
    assert figure.toolTip() == "Why"


def test_harm_has_its_colour_in_both_themes(qtbot: QtBot, look: Look) -> None:
    """A colour that stays from the other theme is unreadable."""
    figure = Figure(look, "spill")
    qtbot.addWidget(figure)
    figure.show_figure(SPILL)
    value = figure.findChild(QLabel, "spill-value")
    assert value is not None

    for choice in (ThemeChoice.LIGHT, ThemeChoice.DARK):
        look.choose(choice)
        assert look.colour("harm").name() in value.styleSheet()
