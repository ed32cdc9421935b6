"""How several cards reach each other, and what follows for presets that use more than one."""

from collections.abc import Iterator

from studio.doctor.verdicts import good, look, unknown
from studio.domain.doctor import Area, Check
from studio.domain.hardware import GpuLink, HostSnapshot, LinkKind

_TITLE = "Between the cards"
_WAYS = {
    LinkKind.NVLINK: "NVLink",
    LinkKind.SAME_BOARD: "the same board",
    LinkKind.SWITCH: "one PCIe switch",
    LinkKind.SWITCHES: "several PCIe switches",
    LinkKind.HOST_BRIDGE: "PCIe and the processor's bridge",
    LinkKind.NODE: "PCIe within one processor",
    LinkKind.SYSTEM: "PCIe and the connection between processors",
}


def checks(host: HostSnapshot) -> Iterator[Check]:
    """Yield the verdict on the ways between the cards; nothing for one card."""
    if len(host.gpus) < 2:
        return
    known = [link for link in host.gpu_links if link.kind is not None]
    pairs = len(host.gpus) * (len(host.gpus) - 1) // 2
    if len(known) < pairs:
        found = "How they reach each other could not be found out."
        yield unknown("gpu-links", Area.CARDS, _TITLE, found)
        return
    if all(link.kind is LinkKind.NVLINK for link in known):
        yield good("gpu-links", Area.CARDS, _TITLE, f"NVLink between all {len(host.gpus)} cards.")
    else:
        yield _over_pcie(known)
    cut = [link for link in known if link.peer is False]
    if cut:
        yield _cut_off(cut)


def _over_pcie(links: list[GpuLink]) -> Check:
    farthest = max((link.kind for link in links if link.kind), key=list(LinkKind).index)
    is_mixed = any(link.kind is LinkKind.NVLINK for link in links)
    some = "Some reach each other only" if is_mixed else "They reach each other"
    # 1Cat-vLLM's documentation: two PCIe cards must not use its own all-reduce; more do not.
    return look(
        "gpu-links",
        Area.CARDS,
        _TITLE,
        f"{some} over {_WAYS[farthest]}, slower than NVLink.",
        "Presets for several cards switch the engine's own all-reduce off here; expect less speed "
        "from a second card than with NVLink.",
    )


def _cut_off(links: list[GpuLink]) -> Check:
    pairs = ", ".join(f"{link.first}–{link.second}" for link in links[:6])
    return look(
        "gpu-peer",
        Area.CARDS,
        _TITLE,
        f"Cards cannot read each other's memory: {pairs}.",
        "What they exchange goes through the machine's memory, which works. GeForce drivers allow "
        "no more without NVLink.",
    )
