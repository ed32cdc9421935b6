"""What is proposed for `.wslconfig`, and how it is put in; other lines stay as they are. Pure."""

import difflib
import re

_GIB = 1 << 30
_WINDOWS_KEEPS = 4 * _GIB
"""Windows itself gets slow with less."""
_LINUX_TAKES = 2 * _GIB
"""The kernel, the Studio's service, and room for pages of the model's files while it is loaded."""
_SECTION = re.compile(r"^\s*\[(?P<name>[^\]]+)\]\s*(?:#.*)?$")
_MEMORY = re.compile(r"^\s*memory\s*=", re.IGNORECASE)


def proposal(total_bytes: int, needed_bytes: int | None, given_bytes: int | None) -> int | None:
    """Return how much memory WSL should have, in whole GiB; None: it has enough, or nobody knows.

    `needed_bytes`: of what is to be served, by the planner; the machine's size alone proposes
    nothing. Without a word in the file WSL takes half of the machine (Microsoft, "Advanced settings
    configuration in WSL").
    """
    has_bytes = given_bytes if given_bytes is not None else total_bytes // 2
    if needed_bytes is None:
        return None
    wanted = needed_bytes + _LINUX_TAKES
    most = (total_bytes - _WINDOWS_KEEPS) // _GIB * _GIB
    proposed = min(-(-wanted // _GIB) * _GIB, most)
    return proposed if proposed > has_bytes else None


def lines(memory_bytes: int) -> tuple[str, ...]:
    """Return what is proposed, as a person would type it."""
    return ("[wsl2]", f"memory={memory_bytes // _GIB}GB")


def changed(text: str, memory_bytes: int) -> str:
    """Return the file with another memory; a value that was there is kept as a comment."""
    new = lines(memory_bytes)[1]
    ending = "\r\n" if "\r\n" in text or not text else "\n"
    found: list[str] = []
    section, is_done = "", False
    for line in text.splitlines():
        match = _SECTION.match(line)
        if match is not None:
            section = match["name"].strip().lower()
        if section == "wsl2" and _MEMORY.match(line):
            found.append(f"# {line.strip()}")
            found += [] if is_done else [new]
            is_done = True
            continue
        found.append(line)
        if match is not None and section == "wsl2" and not _has_memory(text):
            found.append(new)
            is_done = True
    if not is_done:
        found += ["[wsl2]", new]
    return ending.join(found) + ending


def difference(text: str, memory_bytes: int) -> tuple[str, ...]:
    """Return the lines that would go (`-`), come (`+`) or stay around them, as `diff` says it."""
    after = changed(text, memory_bytes)
    found = [*difflib.unified_diff(text.splitlines(), after.splitlines(), n=1, lineterm="")]
    return tuple(one for one in found[2:] if not one.startswith("@@"))


def _has_memory(text: str) -> bool:
    """Tell whether `[wsl2]` names a memory anywhere."""
    section = ""
    for line in text.splitlines():
        match = _SECTION.match(line)
        if match is not None:
            section = match["name"].strip().lower()
        elif section == "wsl2" and _MEMORY.match(line):
            return True
    return False
