"""The Windows Subsystem for Linux: its version, what it leaves us, and its traps."""

from collections.abc import Iterator, Sequence

from studio.doctor.verdicts import for_cards, good, is_own_linux, listed, look, names, stops
from studio.domain.doctor import Area, Check
from studio.domain.hardware import HostSnapshot, WslFacts
from studio.domain.manifests import RuntimeRecipe
from studio.domain.units import bytes_text
from studio.domain.wsl import DISTRIBUTION

_AREA = Area.SYSTEM
_SHUTDOWN = "then run `wsl --shutdown` in Windows"


def checks(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Iterator[Check]:
    """Yield what there is to say about WSL; nothing elsewhere."""
    if not host.is_wsl:
        return
    facts = host.wsl or WslFacts()
    yield _version(facts, recipes)
    yield from _memory(facts)
    yield from _config(facts)
    yield from _driver(facts, is_own=is_own_linux(host))
    yield from _network(facts)
    if host.gpus:
        # HyperQwen's documentation, measured; and nothing in any log.
        found = (
            "Windows moves what does not fit on a card into the machine's memory without a word, "
            "and steps become 2 to 6 times slower, prompts 5 to 10 times. Plans stay below that "
            "line."
        )
        yield good("wsl-spill", _AREA, "Memory of cards under WSL", found)


def _version(facts: WslFacts, recipes: Sequence[RuntimeRecipe]) -> Check:
    name = facts.distribution or "This distribution"
    if facts.version == 1:
        found = f"{name} runs in WSL 1, which has no cards."
        advice = f"Convert it in Windows: `wsl --set-version {facts.distribution or 'NAME'} 2`."
        blocked = names(for_cards(recipes))
        return stops("wsl", _AREA, "WSL", found, advice, what=blocked)
    text = f"{name} runs in WSL {facts.version}." if facts.version else f"{name} runs in WSL."
    return good("wsl", _AREA, "WSL", text)


def _memory(facts: WslFacts) -> Iterator[Check]:
    if facts.config_memory_bytes is not None:
        said = [f"{bytes_text(facts.config_memory_bytes)} of memory"]
        if facts.config_swap_bytes is not None:
            said.append(f"{bytes_text(facts.config_swap_bytes)} of swap")
        if facts.config_processors is not None:
            said.append(f"{facts.config_processors} processors")
        text = f"`.wslconfig` gives it {listed(said)}."
        yield good("wsl-memory", _AREA, "Memory of WSL", text)
    elif facts.has_config is not None:
        found = "WSL has half of the PC's memory, because `.wslconfig` does not say how much."
        advice = (
            f"If models load slowly or stop while loading: put `memory=` under `[wsl2]` into "
            f"`.wslconfig` in your Windows folder, {_SHUTDOWN}."
        )
        yield look("wsl-memory", _AREA, "Memory of WSL", found, advice)


def _config(facts: WslFacts) -> Iterator[Check]:
    if facts.config_faults:
        lines = ", ".join(f"`{line}`" for line in facts.config_faults[:4])
        found = f"`.wslconfig` holds what WSL does not understand: {lines}."
        advice = f"Correct it, {_SHUTDOWN}. Sizes are written like `memory=20GB`."
        yield look("wsl-config", _AREA, "Configuration of WSL", found, advice)


def _driver(facts: WslFacts, *, is_own: bool) -> Iterator[Check]:
    if facts.has_linux_driver:
        found = "A Linux driver is installed inside WSL and hides the one that Windows lends."
        advice = f"Remove it (`sudo apt purge 'libnvidia-*' 'nvidia-*'`), {_SHUTDOWN}."
        if is_own:
            advice = (
                f"Become its root by `wsl -d {DISTRIBUTION} -u root` in Windows and remove it "
                f"there (`apt-get purge 'libnvidia-*' 'nvidia-*'`), {_SHUTDOWN}."
            )
        yield look("wsl-driver", _AREA, "Driver inside WSL", found, advice)


def _network(facts: WslFacts) -> Iterator[Check]:
    mode = facts.networking_mode or facts.config_networking_mode
    if mode == "none":
        found = "WSL has no network: nothing can be downloaded."
        advice = f"Take `networkingMode=none` out of `.wslconfig`, {_SHUTDOWN}."
        yield look("wsl-network", _AREA, "Network of WSL", found, advice)
    elif mode is not None:
        reach = "programs of Windows reach it at localhost"
        if mode != "mirrored":
            reach += ", other machines do not"
        yield good("wsl-network", _AREA, "Network of WSL", f"Mode {mode}: {reach}.")
