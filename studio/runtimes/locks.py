"""Reading a lock: which distributions it pins, and the part of it that pins some of them."""

import re
from collections.abc import Collection, Iterable

_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)")


def plain(pin: str) -> str:
    """Return `name==version` in the form in which two spellings of one distribution are equal."""
    name, _equals, version = pin.partition("==")
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={re.sub(r'[-_+]+', '-', version).lower()}"


def named(owners: Iterable[str]) -> set[str]:
    """Return distributions as their folders name them, in plain form."""
    return {plain(owner) for owner in owners}


def pins(lock: str) -> set[str]:
    """Return every `name==version` that a lock pins, in plain form."""
    return {plain(found[0]) for line in lock.splitlines() if (found := _PIN.match(line))}


def part(lock: str, wanted: Collection[str]) -> str:
    """Return the lines of a lock, hashes included, that pin the distributions in `wanted`."""
    lines: list[str] = []
    is_wanted = False
    for line in lock.splitlines():
        if found := _PIN.match(line):
            is_wanted = plain(found[0]) in wanted
        elif not line.startswith((" ", "\t")):
            is_wanted = False
        if is_wanted:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)
