"""NVIDIA's driver: whether it is there and answers, and which runtimes it is new enough for."""

from collections.abc import Iterator, Sequence

from studio.doctor.verdicts import (
    for_cards,
    good,
    listed,
    look,
    names,
    stops,
    unknown,
    version,
    wanted,
)
from studio.domain.doctor import Area, Check
from studio.domain.hardware import HostSnapshot
from studio.domain.manifests import RuntimeRecipe

_TITLE = "NVIDIA driver"
_CUDA_TITLE = "CUDA of the driver"
_RESTART = "Restart the machine; if it happens again, look for `Xid` in the output of `dmesg`."
_ADVICE = {
    "not-loaded": "Load it with `sudo modprobe nvidia`, or restart. With Secure Boot the module "
    "has to be signed.",
    "version-mismatch": "The driver was updated while in use: restart the machine.",
    "no-answer": _RESTART,
    "no-sense": "Run `nvidia-smi` yourself; if it fails too, install the driver again.",
    "other": _RESTART,
}


def checks(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Iterator[Check]:
    """Yield what there is to say about the driver."""
    if not host.gpus:
        yield _without_cards(host, recipes)
        return
    if host.driver is None or not version(host.driver):
        yield unknown("driver", Area.CARDS, _TITLE, "Its version could not be found out.")
    else:
        yield _driver(host.driver, wanted(host, recipes))
    if host.cuda_version is not None and version(host.cuda_version):
        yield from _cuda(host.cuda_version, wanted(host, recipes))


def _without_cards(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Check:
    note = host.gpu_note or "No NVIDIA card was found."
    blocked = names(for_cards(recipes))
    if host.gpu_fault in _ADVICE:
        advice = _ADVICE[host.gpu_fault]
        return stops("driver", Area.CARDS, _TITLE, note, advice, what=blocked)
    seen = [
        one for one in host.adapters if one.vendor == "nvidia" and one.is_integrated is not True
    ]
    if seen:
        place = f" ({seen[0].pci_bus_id})" if seen[0].pci_bus_id else ""
        found = f"An NVIDIA card is in the machine{place}, but its driver is not installed."
        return stops("driver", Area.CARDS, _TITLE, found, _install(host), what=blocked)
    found = f"{note} Models are served on the processor, which is slow."
    return look("driver", Area.CARDS, "Cards", found, _expected(host))


def _install(host: HostSnapshot) -> str:
    if host.is_wsl:
        return (
            "Install NVIDIA's driver in Windows, none inside WSL, then run `wsl --shutdown` there."
        )
    return (
        "Install the driver from your distribution (on Ubuntu: `sudo ubuntu-drivers install`), "
        "then restart."
    )


def _expected(host: HostSnapshot) -> str:
    if host.is_wsl:
        return (
            "If there is a card in this PC: install NVIDIA's driver in Windows, none inside WSL, "
            "then run `wsl --shutdown` there."
        )
    if host.container is not None and host.container.kind in ("docker", "podman"):
        return "If the machine has a card: start the container with `--gpus all`."
    return "If the machine has an NVIDIA card: install its driver, then restart."


def _driver(driver: str, recipes: Sequence[RuntimeRecipe]) -> Check:
    old = [
        recipe
        for recipe in recipes
        if recipe.needs.min_driver and version(driver) < version(recipe.needs.min_driver)
    ]
    if old:
        floor = max((recipe.needs.min_driver or "" for recipe in old), key=version)
        found = f"It is {driver}. {listed(names(old))} need {floor} or newer."
        advice = f"Update NVIDIA's driver to branch {floor}, then restart."
        return stops("driver", Area.CARDS, _TITLE, found, advice, what=names(old))
    for recipe in recipes:
        newest = recipe.needs.newest_driver_known
        if newest and version(driver)[: len(version(newest))] > version(newest):
            found = f"It is {driver}. The newest branch that {recipe.name} is known to work with is"
            advice = f"If the card is not found, go back to branch {newest}."
            return look("driver", Area.CARDS, _TITLE, f"{found} {newest}.", advice)
    floors = {recipe.needs.min_driver for recipe in recipes if recipe.needs.min_driver}
    floor = max(floors, key=version, default="")
    text = f"It is {driver}" + (f"; {floor} or newer is needed." if floor else ".")
    return good("driver", Area.CARDS, _TITLE, text)


def _cuda(cuda: str, recipes: Sequence[RuntimeRecipe]) -> Iterator[Check]:
    """Compare by major version: within one, an older driver runs what a newer CUDA built.

    Source: NVIDIA's rule of minor version compatibility, from CUDA 11 on.
    """
    known = [(recipe, recipe.needs.cuda) for recipe in recipes if recipe.needs.cuda]
    if not known:
        return
    old = [recipe for recipe, built in known if version(cuda)[:1] < version(built)[:1]]
    if old:
        newest = max((built for _, built in known), key=version)
        found = f"It knows CUDA up to {cuda}. {listed(names(old))} are built for {newest}."
        advice = "Update NVIDIA's driver, then restart."
        yield stops("cuda", Area.CARDS, _CUDA_TITLE, found, advice, what=names(old))
        return
    built = listed(sorted({one for _, one in known}, key=version))
    yield good("cuda", Area.CARDS, _CUDA_TITLE, f"It knows {cuda}; {built} is needed.")
