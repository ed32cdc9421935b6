"""Whether a runtime can work on a host: the recipe's facts against the host's, in words. Pure.

An unknown fact never counts against a host.
"""

from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.manifests import RuntimeNeeds, RuntimeRecipe
from studio.domain.units import bytes_text


def reasons_against(
    recipe: RuntimeRecipe, host: HostSnapshot, *, is_installed: bool = False
) -> tuple[str, ...]:
    """Return why the runtime cannot work on `host`, nothing if it can.

    The disk only counts while it is still to be installed.
    """
    needs = recipe.needs
    reasons = []
    if host.platform not in needs.platforms:
        reasons.append(f"It is for {', '.join(needs.platforms)}; this is {host.platform}.")
    if _is_older(host.glibc, needs.min_glibc):
        reasons.append(f"It needs glibc {needs.min_glibc} or newer; this is {host.glibc}.")
    if _is_less(host.memory_bytes, needs.memory_bytes):
        reasons.append(
            f"It needs {bytes_text(needs.memory_bytes)} of memory; this machine has "
            f"{bytes_text(host.memory_bytes)}."
        )
    if not is_installed and _is_less(host.disk_free_bytes, needs.disk_bytes):
        reasons.append(
            f"It needs {bytes_text(needs.disk_bytes)} on the disk; "
            f"{bytes_text(host.disk_free_bytes)} is free."
        )
    if needs.gpu:
        reasons += _card_reasons(needs, host)
    return tuple(reasons)


def warnings_about(recipe: RuntimeRecipe, host: HostSnapshot) -> tuple[str, ...]:
    """Return what about `host` is beyond what is known to work."""
    newest = recipe.needs.newest_driver_known
    if newest is None or host.driver is None or not _is_newer_branch(host.driver, newest):
        return ()
    text = f"The NVIDIA driver is {host.driver}; the newest branch known to work is {newest}."
    return (text,)


def requirements(recipe: RuntimeRecipe) -> tuple[str, ...]:
    """Return in words what a host must have."""
    needs = recipe.needs
    said = [", ".join(needs.platforms), f"{bytes_text(needs.disk_bytes)} on the disk"]
    if needs.memory_bytes is not None:
        said.append(f"{bytes_text(needs.memory_bytes)} of memory")
    if needs.min_glibc is not None:
        said.append(f"glibc {needs.min_glibc} or newer")
    if needs.gpu:
        said.append(f"an NVIDIA card{_range_text(needs)}")
    if needs.min_driver is not None:
        said.append(f"NVIDIA driver {needs.min_driver} or newer")
    return tuple(said)


def _card_reasons(needs: RuntimeNeeds, host: HostSnapshot) -> list[str]:
    if not host.gpus:
        return [host.gpu_note or "It needs an NVIDIA card; none was found."]
    reasons = []
    whole = [card for card in host.gpus if not _is_withheld(card)]
    if not whole:
        reasons.append("It needs a whole card; those here are split by MIG or let nobody compute.")
    elif not any(_is_able(card, needs) for card in whole):
        here = ", ".join(dict.fromkeys(f"{one.name} ({one.compute_capability})" for one in whole))
        reasons.append(f"It needs a card{_range_text(needs)}; here: {here}.")
    if _is_older(host.driver, needs.min_driver):
        reasons.append(
            f"It needs NVIDIA driver {needs.min_driver} or newer; this is {host.driver}."
        )
    return reasons


def _range_text(needs: RuntimeNeeds) -> str:
    low, high = needs.min_compute_capability, needs.max_compute_capability
    if low is not None and low == high:
        return f" of compute capability {low}"
    if low is not None and high is not None:
        return f" of compute capability {low} to {high}"
    if low is not None:
        return f" of compute capability {low} or newer"
    return f" of compute capability {high} or older" if high is not None else ""


def _is_able(card: Gpu, needs: RuntimeNeeds) -> bool:
    found = card.compute_capability
    if found is None:
        return True
    return not (
        _is_older(found, needs.min_compute_capability)
        or _is_older(needs.max_compute_capability, found)
    )


def _is_withheld(card: Gpu) -> bool:
    return card.mig_enabled is True or card.compute_mode == "prohibited"


def _is_newer_branch(driver: str, branch: str) -> bool:
    """Tell whether a driver is of a newer branch: 590.44 is, 580.173 is not newer than 580."""
    parts = _version(branch)
    return _version(driver)[: len(parts)] > parts


def _is_older(found: str | None, floor: str | None) -> bool:
    return found is not None and floor is not None and _version(found) < _version(floor)


def _is_less(found: int | None, needed: int | None) -> bool:
    return found is not None and needed is not None and found < needed


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
