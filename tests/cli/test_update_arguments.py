"""Which words `weir update` takes."""

from studio.cli.arguments import parse


def test_each_word_takes_its_own_options() -> None:
    """And none of the others'."""
    checked = parse(["update", "check", "--from", "/media/stick"])
    assert (checked.command, checked.source) == ("update check", "/media/stick")
    applied = parse(["update", "apply", "-y", "--later", "--json"])
    assert (applied.consent, applied.later, applied.json, applied.forget) == (
        True, True, True, False
    )  # fmt: skip
    assert parse(["update", "apply", "--cancel"]).forget
    assert parse(["update"]).command == "update"
