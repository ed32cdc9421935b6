"""The XML of `nvidia-smi -q -x` as a tree that answers to paths; refuses what a log never holds."""

import dataclasses
from xml.parsers import expat

_MOST_ELEMENTS = 100_000
_EMPTY = ("N/A", "[N/A]", "Not Supported", "[Not Supported]", "None", "Unknown Error", "")
"""What nvidia-smi prints for `not known`."""


class NotUnderstood(Exception):
    """The text is not what nvidia-smi prints; the message says what it is instead."""


@dataclasses.dataclass(slots=True)
class Element:
    """One element with its text and children."""

    name: str
    attributes: dict[str, str]
    children: list["Element"] = dataclasses.field(default_factory=list)
    words: str = ""

    def all(self, name: str) -> list["Element"]:
        """Return the children of that name."""
        return [child for child in self.children if child.name == name]

    def one(self, path: str) -> "Element | None":
        """Return the element at the end of `path`: names with slashes."""
        here: Element | None = self
        for step in path.split("/"):
            if here is None:
                return None
            here = next(iter(here.all(step)), None)
        return here

    def text(self, path: str) -> str | None:
        """Return the text at the end of `path`, None when it is missing or says `not known`."""
        found = self.one(path)
        words = found.words.strip() if found is not None else ""
        return None if words in _EMPTY or "deprecated" in words.lower() else words


def read_xml(text: str) -> Element:
    """Return the `nvidia_smi_log` in `text`.

    Raises: NotUnderstood.
    """
    start = text.find("<?xml")
    if start < 0:
        raise NotUnderstood(_first_line(text))
    builder = _Builder()
    try:
        builder.parse(text[start:])
    except expat.ExpatError as error:
        raise NotUnderstood(f"{error}.") from error
    log = builder.root
    if log is None or log.name != "nvidia_smi_log":
        raise NotUnderstood(f"it is a `{log.name if log else 'nothing'}`, no log.")
    return log


def _first_line(text: str) -> str:
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    printable = "".join(one for one in first if one.isprintable())[:120].rstrip(".")
    return f"{printable}." if printable else "nothing."


class _Builder:
    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def parse(self, text: str) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._words
        parser.EntityDeclHandler = self._entity
        parser.Parse(text.encode(), True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS:
            raise NotUnderstood("it does not end.")
        made = Element(name, attributes)
        if self._open:
            self._open[-1].children.append(made)
        elif self.root is None:
            self.root = made
        self._open.append(made)

    def _end(self, _name: str) -> None:
        self._open.pop()

    def _words(self, words: str) -> None:
        if self._open:
            self._open[-1].words += words

    def _entity(self, *_declared: object) -> None:
        raise NotUnderstood("it declares entities.")
