"""How the cards of a machine reach each other: NVLink, PCIe, and whether they may at all."""

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any

import pynvml

from studio.domain.hardware import GpuLink, LinkKind
from studio.host.gpu_report import short_bus_id

_MOST_NVLINKS = 18
"""Of one card: Hopper and Blackwell have 18, older ones fewer."""
_PEER_READ = 0
_PEER_NVLINK = 2
_PEER_OK = 0
_PEER_NOT_KNOWN = 6
_ANCESTORS = {
    pynvml.NVML_TOPOLOGY_INTERNAL: LinkKind.SAME_BOARD,
    pynvml.NVML_TOPOLOGY_SINGLE: LinkKind.SWITCH,
    pynvml.NVML_TOPOLOGY_MULTIPLE: LinkKind.SWITCHES,
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: LinkKind.HOST_BRIDGE,
    pynvml.NVML_TOPOLOGY_NODE: LinkKind.NODE,
    pynvml.NVML_TOPOLOGY_SYSTEM: LinkKind.SYSTEM,
}
_MATRIX = {
    "PIX": LinkKind.SWITCH,
    "PXB": LinkKind.SWITCHES,
    "PHB": LinkKind.HOST_BRIDGE,
    "NODE": LinkKind.NODE,
    "SYS": LinkKind.SYSTEM,
    "PSB": LinkKind.SAME_BOARD,
}
_ROW = re.compile(r"^GPU(?P<index>\d+)\s+(?P<cells>.*)$")
_BONDED = re.compile(r"^NV(?P<count>\d+)$")


def links_between(
    handles: Mapping[int, Any], bus_ids: Mapping[int, str | None]
) -> tuple[GpuLink, ...]:
    """Return one link for each pair of cards, by NVML."""
    if len(handles) < 2:
        return ()
    partners = {index: _nvlink_partners(handle) for index, handle in handles.items()}
    return tuple(
        _link(first, second, handles, partners[first].count(bus_ids[second] or "?"))
        for first, second in itertools.combinations(sorted(handles), 2)
    )


def _link(first: int, second: int, handles: Mapping[int, Any], nvlinks: int) -> GpuLink:
    one, other = handles[first], handles[second]
    # Behind a switch the partner is the switch, so the links do not say which card they reach.
    over_nvlink = _ask(pynvml.nvmlDeviceGetP2PStatus, one, other, _PEER_NVLINK) == _PEER_OK
    ancestor = _ask(pynvml.nvmlDeviceGetTopologyCommonAncestor, one, other)
    reads = _ask(pynvml.nvmlDeviceGetP2PStatus, one, other, _PEER_READ)
    kind = LinkKind.NVLINK if nvlinks or over_nvlink else _ANCESTORS.get(ancestor)
    return GpuLink(
        first=first,
        second=second,
        kind=kind,
        nvlinks=None if over_nvlink and not nvlinks else nvlinks,
        peer=None if reads in (None, _PEER_NOT_KNOWN) else reads == _PEER_OK,
    )


def _nvlink_partners(handle: Any) -> list[str]:
    """Return the PCI addresses at the far ends of a card's active NVLinks."""
    partners = []
    for link in range(_MOST_NVLINKS):
        is_active = _ask(pynvml.nvmlDeviceGetNvLinkState, handle, link)
        if is_active is None:
            break
        far = _ask(pynvml.nvmlDeviceGetNvLinkRemotePciInfo, handle, link) if is_active else None
        if far is not None:
            text = far.busId.decode() if isinstance(far.busId, bytes) else far.busId
            partners.append(short_bus_id(text) or "?")
    return partners


def _ask(call: Callable[..., Any], *arguments: object) -> Any:
    try:
        return call(*arguments)
    except pynvml.NVMLError:
        return None


def links_of_matrix(text: str) -> tuple[GpuLink, ...]:
    """Return the links that `nvidia-smi topo -m` prints; nothing from what is not understood."""
    rows: dict[int, list[str]] = {}
    for line in text.splitlines():
        row = _ROW.match(re.sub(r"\x1b\[[0-9;]*m", "", line).strip())
        if row is not None and not row["cells"].startswith("GPU"):
            rows[int(row["index"])] = row["cells"].split()
    found = []
    for first, second in itertools.combinations(sorted(rows), 2):
        cell = rows[first][second] if second < len(rows[first]) else ""
        bonded = _BONDED.match(cell)
        if bonded is not None:
            count = int(bonded["count"])
            link = GpuLink(first=first, second=second, kind=LinkKind.NVLINK, nvlinks=count)
        elif cell in _MATRIX:
            link = GpuLink(first=first, second=second, kind=_MATRIX[cell], nvlinks=0)
        else:
            continue
        found.append(link)
    return tuple(found)
