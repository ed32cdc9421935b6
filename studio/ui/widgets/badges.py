"""Small triangles for the engine's slow paths, each with its words as tooltip."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.ui.language import t
from studio.ui.theme import Look
from studio.ui.viewmodels.badges import MOST_SIGNS, BadgesView
from studio.ui.viewmodels.words import Role, Shape
from studio.ui.widgets.sign import Sign
from studio.ui.widgets.text import Elided


class BadgeSigns(QWidget):
    """Hidden while there is nothing to say."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("badges")
        self._signs = [Sign(look) for _ in range(MOST_SIGNS)]
        self._text = Elided("small")
        self._text.setObjectName("badges-text")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self._gap = look.space("step")
        row.setSpacing(self._gap)
        for sign in self._signs:
            sign.show_sign(Shape.TRIANGLE, Role.WARN)
            sign.hide()
            row.addWidget(sign)
        row.addWidget(self._text)
        self.hide()

    def words_width(self) -> int:
        """Return the room that the signs alone would save."""
        return 0 if self.isHidden() else self._text.sizeHint().width() + self._gap

    @property
    def is_compact(self) -> bool:
        """Tell whether only the signs are shown."""
        return self._text.isHidden()

    def be_compact(self, compact: bool) -> None:
        """Show the signs alone, or signs and words; what they say stays in their tooltips."""
        self._text.setVisible(not compact)

    def show_badges(self, view: BadgesView) -> None:
        """Show `view`."""
        for index, sign in enumerate(self._signs):
            sign.setVisible(index < len(view.signs))
            if index < len(view.signs):
                sign.setToolTip(view.signs[index].tooltip)
                sign.setAccessibleName(view.signs[index].name)
        self._text.show_text(view.text, view.tooltip)
        self._text.setAccessibleName(t("Slow paths: {value}").format(value=view.text))
        self.setVisible(bool(view.signs))
