"""The longest text that a pattern cannot match without.

Pure. Looking for a plain text is a hundred times faster than trying a pattern, and most of the
known failures are not in a given log. Only what is certain counts: text outside of groups and
brackets that no quantifier makes optional.
"""

_ENDS_RUN = frozenset(".^$[(){}")


def needle_of(pattern: str) -> str:
    """Return the longest text that stands in every match of `pattern`; empty when there is none."""
    runs: list[str] = [""]
    depth, place = 0, 0
    while place < len(pattern):
        token, place = _token(pattern, place)
        if token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
        if depth:
            runs.append("")
        elif token == "|":
            return ""  # any of several texts
        elif token in ("?", "*", "{"):
            runs[-1] = runs[-1][:-1]
            place = pattern.index("}", place) + 1 if token == "{" else place
            runs.append("")
        elif (
            token == "+"
            or token in _ENDS_RUN
            or len(token) > 2
            or (len(token) == 2 and not _is_literal(token[1]))
        ):
            runs.append("")
        else:
            runs[-1] += token[-1]
    if pattern.startswith("(?i)"):
        return ""
    return max(runs, key=len)


def _token(pattern: str, place: int) -> tuple[str, int]:
    """Return one step of a pattern (`a`, `\\.`, `[...]`, `(`) and where the next begins."""
    character = pattern[place]
    if character == "\\":
        return pattern[place : place + 2], place + 2
    if character == "[":
        end = place + (3 if pattern[place + 1] == "^" else 2)  # a bracket may come first
        while pattern[end] != "]":
            end += 2 if pattern[end] == "\\" else 1
        return pattern[place : end + 1], end + 1
    return character, place + 1


def _is_literal(escaped: str) -> bool:
    """Tell whether a backslash before this character means the character itself."""
    return not escaped.isalnum()
