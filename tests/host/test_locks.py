"""Reading a lock."""

from studio.host.locks import named, part, pins, plain

LOCK = """\
# The runtime's packages.
agent-detector==2.0.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
torch==2.13.0+cpu ; sys_platform == 'linux' \\
    --hash=sha256:cc
# via nothing
typing_extensions==4.0 --hash=sha256:dd
"""


def test_pins_are_comparable_with_what_is_installed() -> None:
    """Folder names and locks spell one distribution in two ways."""
    assert pins(LOCK) == {"agent-detector==2.0.0", "torch==2.13.0-cpu", "typing-extensions==4.0"}
    assert named(["Agent_Detector==2.0.0"]) == {"agent-detector==2.0.0"}
    assert plain("torch==2.13.0+cpu") in pins(LOCK)


def test_a_part_keeps_every_hash_of_what_it_names() -> None:
    """A pin without its hashes would be refused, or worse, not checked."""
    text = part(LOCK, {"agent-detector==2.0.0", "typing-extensions==4.0"})

    assert text.splitlines() == [
        "agent-detector==2.0.0 \\",
        "    --hash=sha256:aa \\",
        "    --hash=sha256:bb",
        "typing_extensions==4.0 --hash=sha256:dd",
    ]
    assert part(LOCK, set()) == ""
