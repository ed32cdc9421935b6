"""What a person sees goes through the catalogues."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

UI = Path(__file__).resolve().parents[2] / "studio/ui"
FOLDERS = ("viewmodels", "pages", "widgets", "controllers")
TRANSLATED = frozenset({"t", "nt", "marked", "plural"})
NOT_SHOWN = frozenset(
    {
        "Weir Studio", "Hugging Face", "Python",
        "JanFebMarAprMayJunJulAugSepOctNovDec",
        "bytes on each card",
    }
)  # fmt: skip
"""Names that stay the same, a table that is cut into pieces, a unit as presets say it."""


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that look like words for people and are not translated."""
    tree = ast.parse(source)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    yield from _walk(tree, documented, in_call=False)


def _walk(node: ast.AST, documented: set[int], *, in_call: bool) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if not in_call and id(node) not in documented and looks_shown(node.value):
            yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        yield from _of_f_string(node, documented)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in TRANSLATED:
        for child in node.args:
            yield from _walk(child, documented, in_call=isinstance(child, ast.Constant))
    elif not _is_annotation(node):
        for child in ast.iter_child_nodes(node):
            yield from _walk(child, documented, in_call=False)


def _of_f_string(node: ast.JoinedStr, documented: set[int]) -> Iterator[tuple[int, str]]:
    """Yield its words, and translations inside it: Babel does not collect those."""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            yield from _walk(part.value, documented, in_call=False)
            calls = (one for one in ast.walk(part.value) if isinstance(one, ast.Call))
            for call in calls:
                has_text = any(isinstance(one, ast.Constant) for one in call.args)
                if getattr(call.func, "id", "") in TRANSLATED and has_text:
                    yield call.lineno, ast.unparse(call)
        elif isinstance(part, ast.Constant) and looks_shown(str(part.value)):
            yield node.lineno, str(part.value)


def _is_annotation(node: ast.AST) -> bool:
    """Tell names of types in quotes: `-> "Thing"`."""
    return isinstance(node, ast.arguments)


def looks_shown(text: str) -> bool:
    """Tell words for people from names, units and formats."""
    if text in NOT_SHOWN or not re.search("[A-Za-z]{2}", text):
        return False
    return bool(re.match(r"[A-Z][a-z]+( |$|[.…:])", text) or re.search("[a-z]{2,} [a-z]", text))


MODULES = sorted(path for folder in FOLDERS for path in (UI / folder).glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_shown_text_bypasses_the_catalogues(path: Path) -> None:
    """It would stay English for everybody."""
    assert list(literals(path.read_text(encoding="utf-8"))) == []


SHOWING = frozenset(
    {"drawText", "setText", "setToolTip", "setPlaceholderText", "setWindowTitle", "addAction",
     "setAccessibleName", "setAccessibleDescription", "setTitle"}
)  # fmt: skip
"""Calls of Qt's that put their text before a person."""


def shown_as_they_stand(source: str) -> list[str]:
    """Return words that are handed to what shows them, however short and plain they are."""
    return [
        argument.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in SHOWING
        for argument in node.args
        if isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and re.search("[A-Za-z]{2}", argument.value)
        and argument.value not in NOT_SHOWN
        and "://" not in argument.value  # an address is the same everywhere
    ]


def test_no_short_word_is_shown_as_it_stands() -> None:
    """Seen under two charts: `now` stayed English in a Chinese window."""
    assert shown_as_they_stand('painter.drawText(box, flags, "now")') == ["now"]
    assert shown_as_they_stand('painter.drawText(box, flags, t("now"))') == []
    assert shown_as_they_stand('field.setPlaceholderText("http://127.0.0.1:8000")') == []

    found = {
        str(path.relative_to(UI)): wrong
        for path in sorted(UI.rglob("*.py"))
        if (wrong := shown_as_they_stand(path.read_text(encoding="utf-8")))
    }

    assert found == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('label("Stop it")', ["Stop it"]),
        ('label(t("Stop it"))', []),
        ('label(f"stop the {name}")', ["stop the "]),
        ("label(f\"{t(x)} {plural(n, 'a', 'b')}\")", ["plural"]),
        ('"""Stop it."""', []),
        ('widget.setObjectName("log-follow")', []),
        ('STOP = marked("Stop it")', []),
    ],
)
def test_the_check_sees_what_it_is_for(source: str, found: list[str]) -> None:
    """A check that never fails checks nothing."""
    said = [text for _, text in literals(source)]

    assert len(said) == len(found)
    assert all(one in text for one, text in zip(found, said, strict=True))


def marked_names(source: str) -> set[str]:
    """Return the constants of a module that hold a text for later."""
    found = set()
    for node in ast.parse(source).body:
        value = getattr(node, "value", None)
        if (
            isinstance(node, ast.Assign)
            and getattr(getattr(value, "func", None), "id", "") == "marked"
        ):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def untranslated(source: str, names: set[str]) -> list[tuple[int, str]]:
    """Return where a text for later is used as it stands."""
    tree = ast.parse(source)
    inside = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in TRANSLATED
        for child in node.args
        for argument in ast.walk(child)
    }
    return [
        (node.lineno, node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in names
        and id(node) not in inside
    ]


def test_a_text_kept_for_later_is_translated_where_it_is_used() -> None:
    """Seen in two fields: the placeholder stayed English in a Chinese window."""
    names = marked_names((UI / "viewmodels/words.py").read_text(encoding="utf-8"))
    assert len(names) > 20

    found = {
        str(path.relative_to(UI)): wrong
        for path in MODULES
        if (wrong := untranslated(path.read_text(encoding="utf-8"), names))
    }

    assert found == {}
