"""Machines with NVIDIA cards, for the stand-in of NVIDIA's library (nvml_stub.py).

Figures of the H200 are those of the recordings in tests/data; the others are the makers'.
"""

from typing import Any

MIB = 1 << 20
GIB = 1 << 30


def machine(*cards: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a machine with these cards and a driver."""
    return {"driver": "580.159.04", "cuda": 13000, "cards": list(cards), **more}


def uuid(number: int) -> str:
    """Return the id of the n-th card."""
    return f"GPU-00000000-0000-0000-0000-{number:012d}"


def card(name: str, total: int, **more: Any) -> dict[str, Any]:
    """Return a card at rest that supports everything."""
    return {
        "name": name,
        "uuid": uuid(0),
        "capability": "9.0",
        "total": total,
        "reserved": 616 * MIB,
        "used": 0,
        "gpu_util": 0,
        "memory_util": 0,
        "drawn_mw": 30_000,
        "power_mw": 350_000,
        "sm_clock": 210,
        "memory_clock": 405,
        "temperature": 36,
        "reasons": 1,
        "pcie_rx": 0,
        "pcie_tx": 0,
        "ecc_uncorrected": 0,
        "fan": 0,
        "persistence": True,
        "state": 0,
        "encoder_util": 0,
        "decoder_util": 0,
        **more,
    }


def rtx_3090(**more: Any) -> dict[str, Any]:
    """Return a GeForce RTX 3090 under a desktop: no ECC."""
    made = card("NVIDIA GeForce RTX 3090", 24576 * MIB, capability="8.6", **more)
    return {key: value for key, value in made.items() if key != "ecc_uncorrected"}


def rtx_4090_wsl2(**more: Any) -> dict[str, Any]:
    """Return a GeForce RTX 4090 as WSL2 shows it: no processes, links, ECC or throttling."""
    made = card("NVIDIA GeForce RTX 4090", 24564 * MIB, capability="8.9", **more)
    hidden = ("pcie_rx", "pcie_tx", "ecc_uncorrected", "reasons")
    errors = {
        "nvmlDeviceGetComputeRunningProcesses_v3": 3,
        "nvmlDeviceGetGraphicsRunningProcesses_v3": 3,
    }
    kept = {key: value for key, value in made.items() if key not in hidden}
    return {**kept, "errors": errors}


def v100(number: int, **more: Any) -> dict[str, Any]:
    """Return the n-th Tesla V100 of a machine."""
    made = {"capability": "7.0", "uuid": uuid(number), "power_mw": 300_000, **more}
    return card("Tesla V100-SXM2-32GB", 32768 * MIB, **made)


def h200(number: int = 0, **more: Any) -> dict[str, Any]:
    """Return the n-th H200 of a machine, at work as recorded: r1 under load, `dmon`."""
    made = {
        "uuid": uuid(number),
        "used": 86387 * MIB,
        "gpu_util": 100,
        "memory_util": 87,
        "drawn_mw": 573_000,
        "power_mw": 700_000,
        "sm_clock": 1980,
        "memory_clock": 3201,
        "temperature": 47,
        "processes": [{"pid": 825, "bytes": 86362 * MIB}],
        **more,
    }
    return card("NVIDIA H200", **{"total": 143771 * MIB, **made})
