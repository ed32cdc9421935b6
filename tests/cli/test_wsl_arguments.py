"""Which words `weir wsl` takes."""

from studio.cli.arguments import parse


def test_each_word_takes_its_own_options() -> None:
    """Bare, it shows how far it is."""
    assert parse(["wsl"]).command == "wsl"
    assert parse(["wsl", "setup", "--rootfs", "x", "-y"]).rootfs == "x"
    assert parse(["wsl", "memory", "--gib", "20"]).memory_gib == 20
