"""Every text that a window shows or says at this moment, with the widget that has it."""

from collections.abc import Iterator

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTableView,
    QWidget,
)

_ROLES = (
    Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole,
)  # fmt: skip


def seen(root: QWidget) -> Iterator[tuple[str, str]]:
    """Yield the name of a visible widget and a text of it: shown, on hover, or for a reader."""
    for widget in (root, *root.findChildren(QWidget)):
        if widget.isVisible():
            for text in _texts(widget):
                if text.strip():
                    yield widget.objectName() or type(widget).__name__, text


def _texts(widget: QWidget) -> Iterator[str]:
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
    match widget:
        case QLabel() | QAbstractButton():
            yield widget.text()
        case QLineEdit():
            yield from (widget.text(), widget.placeholderText())
        case QComboBox():
            yield from (widget.itemText(number) for number in range(widget.count()))
        case QPlainTextEdit():
            yield widget.toPlainText()
        case QTableView():
            yield from _cells(widget.model())


def _cells(model: QAbstractItemModel) -> Iterator[str]:
    nowhere = QModelIndex()
    for column in range(model.columnCount(nowhere)):
        yield str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        for row in range(model.rowCount(nowhere)):
            found = (model.data(model.index(row, column), role) for role in _ROLES)
            yield from (str(text) for text in found if text is not None)
