"""New files as a patch, so that they are applied, recorded and taken back like one. Pure."""

from collections.abc import Mapping

from studio.runtimes.upstream.objects import BLOB, File, name_of

_NONE = b"0" * 40
_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\')


def as_patch(files: Mapping[str, File], *, strip: int = 1) -> bytes:
    """Return a patch that adds each file; `strip` is what whoever applies it takes off the paths.

    At least one part is taken off. A file that is there already counts as applied when it is
    equal, and is a reject otherwise.
    """
    old, new = ("/".join([side, *["x"] * (strip - 1), ""]) for side in ("a", "b"))
    return b"".join(
        _diff(_quoted(old + path), _quoted(new + path), file)
        for path, file in sorted(files.items())
    )


def _diff(old: bytes, new: bytes, file: File) -> bytes:
    mode = b"100755" if file.is_executable else b"100644"
    # The digest tells an empty file from one whose lines are left out.
    blob = name_of(BLOB, file.data).encode()
    head = b"diff --git %s %s\nnew file mode %s\nindex %s..%s\n" % (old, new, mode, _NONE, blob)
    if not file.data:
        return head
    lines = file.data.split(b"\n")
    is_ended = not lines[-1]
    lines = lines[:-1] if is_ended else lines
    span = b"1" if len(lines) == 1 else b"1,%d" % len(lines)
    body = b"".join(b"+%s\n" % line for line in lines)
    end = b"" if is_ended else b"\\ No newline at end of file\n"
    return head + b"--- /dev/null\n+++ %s\n@@ -0,0 +%s @@\n%s%s" % (new, span, body, end)


def _quoted(path: str) -> bytes:
    """Return a path as git writes it into a diff: quoted when anything in it is unusual."""
    data = path.encode("utf-8", "surrogateescape")
    if all(byte in _PLAIN for byte in data):
        return data
    escaped = "".join(
        chr(byte) if byte in _PLAIN else f"\\{chr(byte)}" if byte in b'"\\' else f"\\{byte:03o}"
        for byte in data
    )
    return f'"{escaped}"'.encode()
