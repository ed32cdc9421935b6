"""Every key that works everywhere in the window, and what it does. Pure."""

import msgspec

from studio.ui.language import marked, t
from studio.ui.viewmodels.frame import PageId, page_words


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """One key (or two that do the same) and its meaning; `name` is what the window calls it."""

    name: str
    keys: tuple[str, ...]
    words: str


DEEDS: tuple[Deed, ...] = (
    Deed(name="start", keys=("Ctrl+Return",), words=marked("Start the marked preset")),
    Deed(name="stop", keys=("Ctrl+.",), words=marked("Stop the engine")),
    Deed(name="restart", keys=("Ctrl+R",), words=marked("Restart the engine")),
    Deed(
        name="switch",
        keys=("Ctrl+P",),
        words=marked("Choose another preset, or go back to the weir"),
    ),
    Deed(name="copy", keys=("Ctrl+Shift+C",), words=marked("Copy the address for chat clients")),
    Deed(name="try", keys=("Ctrl+Shift+T",), words=marked("Try it: ask for one answer")),
    Deed(name="report", keys=("Ctrl+Shift+R",), words=marked("Collect a report")),
    Deed(name="search", keys=("Ctrl+F",), words=marked("Search this page, or the log")),
    Deed(name="settings", keys=("Ctrl+,",), words=marked("Open the settings")),
    Deed(name="theme", keys=("Ctrl+T",), words=marked("System theme, dark, light")),
    Deed(name="rail", keys=("Ctrl+B",), words=marked("Collapse the rail, or unfold it")),
    Deed(name="help", keys=("F1", "?"), words=marked("Show this sheet")),
    Deed(name="close", keys=("Ctrl+W",), words=marked("Close the window, or put it into the tray")),
    Deed(name="quit", keys=("Ctrl+Q",), words=marked("Quit; what is served goes on")),
)

_INSIDE: tuple[tuple[str, str], ...] = (
    (marked("Tab"), marked("Next field or button; with Shift the one before")),
    ("← →", marked("Step through choices that lie side by side, and along a chart")),
    ("+ ⌫", marked("Look closer at a chart of the monitor, and back")),
    (marked("Enter"), marked("Do what a field is for; next match in a search")),
    (marked("Space"), marked("Press the button, turn the switch")),
    (marked("Esc"), marked("Close a dialog")),
)


class KeyGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Keys that belong together, with what they do."""

    title: str
    keys: tuple[tuple[str, str], ...]


def key_groups(pages: tuple[PageId, ...]) -> tuple[KeyGroup, ...]:
    """Return the sheet: everywhere, pages, inside a page."""
    numbers = [
        (f"Ctrl+{number}", page_words(page).text)
        for number, page in enumerate(PageId, start=1)
        if page in pages
    ]
    return (
        KeyGroup(
            title=t("Everywhere"),
            keys=tuple((" / ".join(deed.keys), t(deed.words)) for deed in DEEDS),
        ),
        KeyGroup(title=t("Pages"), keys=tuple(numbers)),
        KeyGroup(
            title=t("Inside a page"), keys=tuple((t(key), t(words)) for key, words in _INSIDE)
        ),
    )
