"""What a host is called in recipes."""

from studio.domain.hardware import HostSnapshot


def test_the_platform_is_what_recipes_name() -> None:
    """A recipe for another machine must not be chosen."""
    host = HostSnapshot(system="linux", machine="x86_64", os_name="Debian 12")

    assert host.platform == "linux-x86_64"


def test_nothing_is_known_of_a_host_that_was_not_asked() -> None:
    """Unknown memory is not no memory."""
    host = HostSnapshot(system="linux", machine="x86_64", os_name="Debian 12")

    assert host.memory_bytes is None
    assert host.disk_free_bytes is None
    assert host.gpus == ()
