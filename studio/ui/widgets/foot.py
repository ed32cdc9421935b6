"""What stays at the foot of a page while the rest scrolls: what one press does, and the button."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy

from studio.ui.theme import Look
from studio.ui.viewmodels.words import ButtonView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.text import label, show_text


class Foot(QFrame):
    """Whoever makes it hears `button.clicked`."""

    def __init__(self, look: Look, name: str, button: str, *, icon: str | None = None) -> None:
        super().__init__()
        self.setObjectName(f"{name}-foot")
        self.setProperty("kind", "foot")
        self._lines = label("small", wrap=True)
        self._lines.setObjectName(f"{name}-lines")
        policy = self._lines.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)  # a long path takes no room from it
        self._lines.setSizePolicy(policy)
        self.button = Button(look, button, kind="primary", icon=icon)
        row = QHBoxLayout(self)
        margin, step = look.space("page_margin"), look.space("step")
        row.setContentsMargins(margin, step * 2, margin, step * 2)
        row.setSpacing(margin)
        row.addWidget(self._lines, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_lines(self, lines: tuple[str, ...], button: ButtonView) -> None:
        """Show what a press comes to."""
        show_text(self._lines, "\n".join(lines))
        self.button.show_view(button)
