"""What else draws: named, never counted."""

from pathlib import Path

from studio.host.adapters import adapters


def device(root: Path, address: str, kind: str, vendor: str, number: str = "0x1234") -> None:
    """Make one PCI device in /sys."""
    folder = root / "sys/bus/pci/devices" / address
    folder.mkdir(parents=True)
    for name, text in (("class", kind), ("vendor", vendor), ("device", number)):
        (folder / name).write_text(text + "\n", encoding="ascii")


def test_an_integrated_chip_is_named_and_marked(tmp_path: Path) -> None:
    """People wonder whether its gigabytes count: they do not."""
    device(tmp_path, "0000:00:02.0", "0x030000", "0x8086", "0xa780")
    device(tmp_path, "0000:00:1f.3", "0x040300", "0x8086")
    device(tmp_path, "0000:0b:00.0", "0x030000", "0x10de")

    (chip,) = adapters(frozenset(("0000:0b:00.0",)), root=tmp_path)

    assert chip.name == "Intel display adapter a780"
    assert chip.vendor == "intel"
    assert chip.is_integrated is True


def test_an_nvidia_card_without_its_driver_is_seen(tmp_path: Path) -> None:
    """`No card` would be wrong, and the remedy another."""
    device(tmp_path, "0000:01:00.0", "0x030200", "0x10de", "0x2204")

    (card,) = adapters(frozenset(), root=tmp_path)

    assert (card.vendor, card.pci_bus_id) == ("nvidia", "0000:01:00.0")
    assert card.is_integrated is None


def test_other_makers_are_named_by_their_number(tmp_path: Path) -> None:
    """A virtual machine's adapter, for example."""
    device(tmp_path, "0000:00:01.0", "0x030000", "0x1af4")

    (one,) = adapters(frozenset(), root=tmp_path)

    assert one.vendor == "0x1af4"
    assert one.name.startswith("0x1af4")


def test_no_list_of_devices_is_no_device(tmp_path: Path) -> None:
    """WSL, containers, other systems."""
    assert adapters(frozenset(), root=tmp_path) == ()
