"""A stand-in for Windows' `wsl.exe`, as a program: its encodings, its exit statuses, its codes.

Speaks UTF-16 without a mark unless `WSL_UTF8=1` and new; words are German, so that whoever reads
words fails. What it knows lies in a JSON file that a test may change meanwhile.
"""

import dataclasses
import fcntl
import json
import os
import sys
from pathlib import Path
from typing import Any

_SCRIPT = """\
#!{python} -IS
import fcntl, json, os, pathlib, sys
place = pathlib.Path({state!r})
alone = open({state!r} + ".lock", "w")  # a window asks more than one at a time
fcntl.flock(alone, fcntl.LOCK_EX)
state = json.loads(place.read_text())
words = sys.argv[1:]
state["asked"].append(words)

def say(text, status=0):
    place.write_text(json.dumps(state))
    is_new = state["version"] is not None and os.environ.get("WSL_UTF8") == "1"
    data = text.encode("utf-8" if is_new else "utf-16-le")
    sys.stdout.buffer.write(data)
    sys.exit(status & 0xFF if status >= 0 else 255)

def refuse(code):
    say("Das hat nicht geklappt.\\r\\nFehlercode: Wsl/Service/" + code + "\\r\\n", -1)

if state["error"] and words[0] in state["failing"]:
    refuse(state["error"])
if words == ["--status"]:
    say("Standardversion: 2\\r\\n")
if words == ["--version"]:
    if state["version"] is None:
        say("Ung\\u00fcltige Befehlszeilenoption: --version\\r\\n", -1)
    say("WSL-Version: " + state["version"] + "\\r\\nKernelversion: 6.6.87.2-1\\r\\n")
if words == ["--list", "--quiet"]:
    if not state["names"]:
        refuse("WSL_E_DEFAULT_DISTRO_NOT_FOUND")
    say("".join(name + "\\r\\n" for name in state["names"]))
if words[0] == "--import":
    if words[1] in state["names"]:
        refuse("ERROR_ALREADY_EXISTS")
    state["names"].append(words[1])
    state["disk"] = words[2] + "/ext4.vhdx"
    pathlib.Path(state["disk"]).write_bytes(b"x" * 4096)
    say("Der Vorgang wurde erfolgreich beendet.\\r\\n")
if words[0] == "--unregister":
    state["names"].remove(words[1])
    say("Registrierung wird aufgehoben.\\r\\n")
if words[0] == "--update":
    state["version"] = "2.6.1.0"
    say("Aktualisiert.\\r\\n")
if words[0] == "--manage" and not state["can_compact"]:
    refuse("E_INVALIDARG")
if words[0] == "--manage" and state["compacted"] is not None:
    pathlib.Path(state["disk"]).write_text(state["compacted"])
if words[0] == "--distribution":
    if words[1] not in state["names"]:
        refuse("WSL_E_DISTRO_NOT_FOUND")
    inside = " ".join(words[words.index("--exec") + 1:])
    for known, answer in state["inside"].items():
        if inside.startswith(known):
            place.write_text(json.dumps(state))
            sys.stdout.write(answer)
            sys.exit(0)
    sys.exit(1)
say("")
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class FakeWsl:
    """The program and what it knows."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, **known: Any) -> "FakeWsl":
        """Write the program into `folder/bin`."""
        fake = cls(folder=folder)
        (folder / "bin").mkdir(parents=True)
        state = {
            "version": "2.6.1.0", "names": ["Ubuntu"], "error": None, "failing": ["--status"],
            "can_compact": True, "compacted": None, "disk": None, "inside": {}, "asked": [],
            **known,
        }  # fmt: skip
        fake._state.write_text(json.dumps(state), encoding="utf-8")
        program = folder / "bin/wsl.exe"
        program.write_text(
            _SCRIPT.format(python=sys.executable, state=str(fake._state)), encoding="utf-8"
        )
        program.chmod(0o755)
        return fake

    @property
    def _state(self) -> Path:
        return self.folder / "state.json"

    @property
    def environ(self) -> dict[str, str]:
        """Return what a session of Windows has, as far as it is needed."""
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "USERPROFILE": str(self.folder),
        }

    def know(self, **known: Any) -> None:
        """Change what it knows."""
        with Path(f"{self._state}.lock").open("w", encoding="utf-8") as alone:
            fcntl.flock(alone, fcntl.LOCK_EX)
            state = json.loads(self._state.read_text(encoding="utf-8"))
            self._state.write_text(json.dumps({**state, **known}), encoding="utf-8")

    @property
    def asked(self) -> list[list[str]]:
        """Return every call so far."""
        return list(self.known["asked"])

    @property
    def known(self) -> dict[str, Any]:
        """Return what it knows."""
        with Path(f"{self._state}.lock").open("w", encoding="utf-8") as alone:
            fcntl.flock(alone, fcntl.LOCK_EX)
            return dict(json.loads(self._state.read_text(encoding="utf-8")))
