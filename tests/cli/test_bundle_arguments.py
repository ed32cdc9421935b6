"""The options of `weir runtime export`, `import` and `signers`."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import TextAsked


def test_each_takes_its_own_options() -> None:
    """And keeps the others at their defaults."""
    export = parse(["runtime", "export", "tiny", "--to", "x", "--key", "k", "--json"])
    taken = parse(["runtime", "import", "x", "--trust", "f"])
    signers = parse(["runtime", "signers", "trust", "f", "--name", "N"])

    assert (export.command, export.name, export.to, export.key) == (
        "runtime export",
        "tiny",
        "x",
        "k",
    )
    assert export.json
    assert (taken.command, taken.name, taken.trust) == ("runtime import", "x", "f")
    assert (signers.action, signers.reference, signers.signer_name) == ("trust", "f", "N")
    assert parse(["runtime", "signers"]).action == "list"


@pytest.mark.parametrize("command", ["export", "import", "signers"])
def test_help_fits_a_narrow_terminal(command: str) -> None:
    """As all help does."""
    with pytest.raises(TextAsked) as asked:
        parse(["runtime", command, "--help"])

    assert all(len(line) <= 80 for line in asked.value.text.splitlines())
