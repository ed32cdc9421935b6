"""A block of text in the fixed font, to read and to copy; differences have their lines marked."""

import re

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy

from studio.ui.theme import Look

_PAD = 28
_HEAD = re.compile(r"(?:---|\+\+\+|@@) ?")


class _Marks(QSyntaxHighlighter):
    """Added lines in one colour, removed ones in another; the signs before them say the same."""

    def __init__(self, look: Look, document: QTextDocument) -> None:
        super().__init__(document)
        self._look = look
        look.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        role = {"+": "ok", "-": "harm", "~": "water", "@": "quiet"}.get(text[:1])
        if role is None:
            return
        form = QTextCharFormat()
        form.setForeground(self._look.colour("quiet" if _HEAD.match(text) else role))
        self.setFormat(0, len(text), form)


class CodeBlock(QPlainTextEdit):
    """As high as its text, up to a number of lines; longer ones scroll."""

    def __init__(
        self, look: Look, name: str, words: str, *, lines: int, marks: bool = False
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(words)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(look.font("small", mono=True))
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._lines = lines
        self._marks = _Marks(look, self.document()) if marks else None

    def show_text(self, text: str) -> None:
        """Show `text`, where it is other than before."""
        if text != self.toPlainText():
            self.setPlainText(text)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of as many lines as there are, within bounds."""
        count = min(self._lines, max(1, self.blockCount()))
        height = count * self.fontMetrics().lineSpacing() + _PAD
        return QSize(super().sizeHint().width(), height + self.horizontalScrollBar().height() // 2)

    def minimumSizeHint(self) -> QSize:
        """Return the same: it never shrinks below its text."""
        return QSize(120, self.sizeHint().height())
