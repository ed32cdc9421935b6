"""Sentences of `weir report`."""

from studio.domain.units import bytes_text, counted

ABOUT = "Write one file that says what runs or failed, without keys, prompts and names."
HELP_FILE = "The zip to write, or a folder (default: weir-report-….zip in this folder)."
HELP_REPLACE = "Overwrite the file if it is there."
HELP_SHOW = "Print the whole text of the report instead of writing it."


def written(path: str, size_bytes: int, files: int) -> str:
    """Say where the report lies."""
    return f"{path}: {counted(files, 'file', 'files')}, {bytes_text(size_bytes)}."


LOOK = "Look into it before you pass it on: `weir report --show` prints the same kind of text."
