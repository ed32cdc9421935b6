"""A machine with whatever cards a test wants: pynvml over a stand-in for NVIDIA's library.

`tests/fakes/nvml/stub.c` is compiled once a session. Cards are described in JSON:

    {"driver": "580.95.05", "cuda": 13000,
     "cards": [{"name": "NVIDIA H200", "capability": "9.0", "total": 1024, "used": 0,
                "processes": [{"pid": 42, "bytes": 512, "draws": false}],
                "errors": {"nvmlDeviceGetName": 15}}],
     "errors": {"nvmlInitWithFlags": 9}, "hangs": ["nvmlDeviceGetCount_v2"],
     "links": {"0-1": {"ancestor": 10, "peer": {"0": 0, "2": 5}}}}

A list of numbers is told one after the other, question by question; the last one stays. `unplugged`
loses a card, and `"errors": {"*": 15}` lets every question fail.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from studio.domain.cards import CardsReading

SOURCE = Path(__file__).parent / "nvml" / "stub.c"
LIBRARY = "libnvidia-ml.so.1"
_MACHINE = ("driver", "cuda", "pcie_ms")
_ROOT = Path(__file__).resolve().parents[2]
Document = Mapping[str, Any]


def build(folder: Path) -> Path:
    """Compile the stand-in into `folder`; skips the test where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for the stand-in of NVIDIA's library: apt-get install gcc")
    library = folder / LIBRARY
    soname = f"-Wl,-soname,{LIBRARY}"
    command = [
        compiler,
        "-shared",
        "-fPIC",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-format-truncation",
        soname,
    ]
    subprocess.run([*command, "-O2", "-pthread", "-o", str(library), str(SOURCE)], check=True)
    return library


def text_of(document: Document) -> str:
    """Return the lines that the stand-in reads."""
    cards: Sequence[Document] = document.get("cards", ())
    lines = [f"count {len(cards)}"]
    lines += [f"{key} {document[key]}" for key in _MACHINE if key in document]
    lines += [f"error.{name} {code}" for name, code in document.get("errors", {}).items()]
    lines += [f"hang.{name} 1" for name in document.get("hangs", ())]
    for index, card in enumerate(cards):
        lines += [f"{index}.{line}" for line in _card_lines(card)]
    for pair, link in document.get("links", {}).items():
        lines += _link_lines(pair, link)
    return "\n".join(lines) + "\n"


def put(cards_file: Path, document: Document) -> None:
    """Make the stand-in see these cards from now on, all at once."""
    written = cards_file.with_suffix(".new")
    written.write_text(text_of(document), encoding="utf-8")
    written.replace(cards_file)


def _card_lines(card: Document) -> Iterator[str]:
    for key, value in card.items():
        match key:
            case "errors":
                yield from (f"error.{name} {code}" for name, code in value.items())
            case "processes":
                for place, one in enumerate(value):
                    held = -1 if one.get("bytes") is None else one["bytes"]
                    yield f"process.{place} {one['pid']} {held} {int(one.get('draws', False))}"
            case "nvlinks":
                yield from (f"nvlink.{place} {far}" for place, far in enumerate(value))
            case _ if isinstance(value, list):
                yield f"{key} {';'.join(str(one) for one in value)}"
            case _:
                yield f"{key} {int(value) if isinstance(value, bool) else value}"


def _link_lines(pair: str, link: Document) -> Iterator[str]:
    first, second = pair.split("-")
    start = f"link.{first}.{second}"
    if "ancestor" in link:
        yield f"{start}.ancestor {link['ancestor']}"
    for kind, status in link.get("peer", {}).items():
        yield f"{start}.peer.{kind} {status}"


class NvmlHost:
    """A process that looks at cards with the Studio's own code, over the stand-in."""

    def __init__(self, library: Path, folder: Path) -> None:
        self.cards_file = folder / "cards.txt"
        self.cards_file.write_text("", encoding="utf-8")
        self.environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(library.parent),
            "FAKE_NVML": str(self.cards_file),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.nvml_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=_ROOT,
            env=self.environment,
        )

    @property
    def pid(self) -> int:
        """Return the process's own id: one that NVML may name."""
        return self._process.pid

    def put_in(self, document: Document) -> None:
        """Change the machine's cards from now on."""
        put(self.cards_file, document)

    def ask(self, question: str) -> dict[str, Any]:
        """Return the worker's answer to a question (tests/fakes/nvml_worker.py)."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._process.stdout.readline(), type=dict[str, Any])

    def report(self, document: Document) -> dict[str, Any]:
        """Return what NVML tells of a machine with these cards."""
        self.put_in(document)
        return self.ask("report")

    def live(
        self, document: Document | None = None, *, later_s: float = 1.0, within_s: float = 20.0
    ) -> CardsReading:
        """Return what the sampler's reader tells so much later, after a change of the cards."""
        if document is not None:
            self.put_in(document)
        told = self.ask(f"live {later_s} {within_s}")
        return msgspec.convert(told["reading"], CardsReading)

    def close(self) -> None:
        """End the process, also one whose call hangs."""
        self._process.kill()
        self._process.communicate()


@contextlib.contextmanager
def nvml_host(folder: Path) -> Iterator[NvmlHost]:
    """Yield a machine whose cards can be changed."""
    host = NvmlHost(build(folder), folder)
    try:
        yield host
    finally:
        host.close()
