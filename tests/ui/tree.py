"""A widget tree as text, for snapshots: no fonts, no colours, no pixels."""

from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QTableView, QWidget


def tree_text(root: QWidget) -> str:
    """Return a line a visible widget: class, name, text in quotes, and what it cannot do now."""
    lines: list[str] = []
    _add(root, 0, lines)
    return "\n".join(lines) + "\n"


def _add(widget: QWidget, depth: int, lines: list[str]) -> None:
    named = widget.objectName() and not widget.objectName().startswith("qt_")
    text = _text(widget)
    if named or text:
        name = f" #{widget.objectName()}" if named else ""
        said = f' "{text}"' if text else ""
        spoken = widget.accessibleName()
        heard = f" ({spoken})" if spoken and spoken != text else ""
        lines.append(f"{'  ' * depth}{type(widget).__name__}{name}{said}{heard}{_marks(widget)}")
        depth += 1
    if isinstance(widget, QComboBox | QTableView | QLineEdit):
        return  # what Qt keeps inside is its own affair
    for child in widget.children():
        if isinstance(child, QWidget) and not child.isHidden() and not child.isWindow():
            _add(child, depth, lines)


def _text(widget: QWidget) -> str:
    match widget:
        case QLabel() | QAbstractButton() | QLineEdit():
            return widget.text().strip()
        case QComboBox():
            return widget.currentText()
        case QTableView():
            model = widget.model()
            return f"{model.rowCount()} rows, {model.columnCount()} columns"
    return ""


def _marks(widget: QWidget) -> str:
    marks = []
    if not widget.isEnabled():
        marks.append("off")
    if isinstance(widget, QAbstractButton) and widget.isCheckable() and widget.isChecked():
        marks.append("checked")
    return f" [{', '.join(marks)}]" if marks else ""
