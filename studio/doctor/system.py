"""The machine around the cards: system, processor, memory, container, limits, clock."""

import datetime
from collections.abc import Iterator, Sequence

from studio.doctor.verdicts import good, is_own_linux, listed, look, names, stops, unknown, version
from studio.domain.doctor import EVERYTHING, Area, Check
from studio.domain.hardware import UNLIMITED, HostSnapshot
from studio.domain.manifests import RuntimeRecipe
from studio.domain.units import GIB, bytes_text
from studio.domain.wsl import DISTRIBUTION

_AREA = Area.SYSTEM
_SHM_BYTES = GIB
"""Docker's own 64 MB fail (HyperQwen's documentation); engines with several processes want more."""
_OPEN_FILES = 4096
_WANTED_OPEN_FILES = 65_536
"""Below it vLLM warns, harmlessly."""
_LOCKED_BYTES = GIB
_CORE_BYTES = GIB
_LOW_MEMORY_SHARE = 0.15
_CLOCK_SLACK = datetime.timedelta(days=1)


def checks(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Iterator[Check]:
    """Yield what there is to say about the machine."""
    yield _platform(host, recipes)
    yield from _glibc(host, recipes)
    yield from _processor(host, recipes)
    yield _memory(host, recipes)
    yield from _swap(host)
    yield from _shared_memory(host)
    yield from _container(host)
    yield from _limits(host)
    yield from _locked_memory(host)
    yield from _core_dumps(host)
    yield from _clock(host)
    yield from _locale(host)


def _platform(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Check:
    kernel = f", kernel {host.kernel}" if host.kernel else ""
    found = f"{host.os_name} ({host.platform}{kernel})."
    if any(host.platform in recipe.needs.platforms for recipe in recipes):
        return good("platform", _AREA, "System", found)
    known = sorted({one for recipe in recipes for one in recipe.needs.platforms})
    advice = f"Runtimes of this version are for {listed(known)}."
    if not known:
        advice = "The catalogue holds no runtime: install the Studio anew."
    if host.system.lower() == "windows":
        advice = "Engines run in a Linux of the Studio's own: `weir wsl setup` sets it up."
    return stops("platform", _AREA, "System", found, advice, what=(EVERYTHING,))


def _glibc(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Iterator[Check]:
    if host.glibc is None or not version(host.glibc):
        return
    old = [
        recipe
        for recipe in recipes
        if recipe.needs.min_glibc and version(host.glibc) < version(recipe.needs.min_glibc)
    ]
    if not old:
        yield good("glibc", _AREA, "C library", f"glibc {host.glibc}.")
        return
    floor = min((recipe.needs.min_glibc or "" for recipe in old), key=version)
    what = (EVERYTHING,) if len(old) == len(recipes) else names(old)
    found = f"glibc {host.glibc}; {floor} or newer is needed."
    yield stops("glibc", _AREA, "C library", found, "Use a newer distribution.", what=what)


def _processor(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Iterator[Check]:
    threads = f"{host.cpu_count} threads" if host.cpu_count else ""
    name = ", ".join(one for one in (host.cpu_name, threads) if one) or "Not named"
    flags = host.cpu_flags
    if flags is None or host.machine != "x86_64":
        if host.cpu_name or host.cpu_count:
            yield good("processor", _AREA, "Processor", f"{name}.")
        return
    if "avx512f" in flags:
        yield good("processor", _AREA, "Processor", f"{name}, with AVX-512.")
    elif "avx2" in flags:
        yield good("processor", _AREA, "Processor", f"{name}, with AVX2.")
    else:
        found = f"{name}, without AVX2."
        on_processor = [recipe for recipe in recipes if not recipe.needs.gpu]
        advice = "vLLM for the processor needs AVX2; in a virtual machine pass the real one on."
        yield stops("processor", _AREA, "Processor", found, advice, what=names(on_processor))


def _memory(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Check:
    available, free = host.available_memory_bytes, host.memory_free_bytes
    if available is None:
        return unknown("memory", _AREA, "Memory", "How much there is could not be found out.")
    is_limited = host.memory_bytes is not None and available < host.memory_bytes
    by = " by its control group" if is_limited else ""
    found = f"{bytes_text(available)}{by}"
    if free is not None:
        found += f", {bytes_text(min(free, available))} free"
    small = [recipe for recipe in recipes if (recipe.needs.memory_bytes or 0) > available]
    if small:
        needed = min(recipe.needs.memory_bytes or 0 for recipe in small)
        what = (EVERYTHING,) if len(small) == len(recipes) else names(small)
        text = f"{found}; {bytes_text(needed)} is needed."
        return stops("memory", _AREA, "Memory", text, _more_memory(host), what=what)
    if free is not None and free < available * _LOW_MEMORY_SHARE:
        advice = "End programs that you do not need; loading a model takes as much as it can get."
        return look("memory", _AREA, "Memory", f"{found}.", advice)
    return good("memory", _AREA, "Memory", f"{found}.")


def _more_memory(host: HostSnapshot) -> str:
    if host.is_wsl:
        return "Give WSL more: `memory=` under `[wsl2]` in `.wslconfig`, then `wsl --shutdown`."
    if host.container is not None:
        return "Give the container more memory."
    return "More memory has to be put in."


def _swap(host: HostSnapshot) -> Iterator[Check]:
    size, free = host.swap_bytes, host.swap_free_bytes
    if size is None or free is None:
        return
    if size and free < size / 2:
        found = f"{bytes_text(size - free)} of {bytes_text(size)} swap is in use."
        advice = "The machine is short of memory: end programs that you do not need."
        yield look("swap", _AREA, "Swap", found, advice)
    else:
        text = f"{bytes_text(size)}, hardly used." if size else "None, and none is needed."
        yield good("swap", _AREA, "Swap", text)


def _shared_memory(host: HostSnapshot) -> Iterator[Check]:
    size = host.shm_bytes
    if size is None:
        return
    if size >= _SHM_BYTES:
        yield good("shared-memory", _AREA, "Shared memory", f"{bytes_text(size)} in /dev/shm.")
        return
    found = (
        f"Only {bytes_text(size)} in /dev/shm: engines with several cards, or with KV in the "
        "machine's memory, fail."
    )
    advice = "Enlarge it: `sudo mount -o remount,size=16G /dev/shm`."
    if is_own_linux(host):
        advice = (
            f"Enlarge it, in a terminal of Windows: `wsl -d {DISTRIBUTION} -u root "
            "mount -o remount,size=16G /dev/shm`."
        )
    if host.container is not None:
        advice = "Start the container with `--ipc=host` or `--shm-size=16g`."
    yield look("shared-memory", _AREA, "Shared memory", found, advice)


def _container(host: HostSnapshot) -> Iterator[Check]:
    around = host.container
    if around is None:
        return
    said = []
    if around.memory_limit_bytes not in (None, UNLIMITED):
        said.append(f"{bytes_text(around.memory_limit_bytes)} of memory")
    if around.cpu_limit not in (None, UNLIMITED):
        said.append(f"{around.cpu_limit:.1f} processors")
    limit = f"limited to {listed(said)}" if said else "without a limit on memory or processors"
    if around.kind == "control-group":
        yield good("container", _AREA, "Container", f"None; this session is {limit}.")
    else:
        yield good("container", _AREA, "Container", f"Inside {around.kind}, {limit}.")


def _limits(host: HostSnapshot) -> Iterator[Check]:
    limits = host.limits
    if limits is None or limits.open_files_hard is None:
        return
    hard = limits.open_files_hard
    if hard != UNLIMITED and hard < _OPEN_FILES:
        found = f"A program may open {hard:,} files at most; an engine under load needs more."
        advice = f"Raise it for your user: `ulimit -n {_WANTED_OPEN_FILES}`, or in limits.conf."
        yield look("open-files", _AREA, "Open files", found, advice)
    else:
        most = "without a limit" if hard == UNLIMITED else f"up to {hard:,}"
        usual = limits.open_files
        is_raised = usual is not None and usual != UNLIMITED and usual != hard
        tail = f"; the service raises the usual {usual:,} by itself" if is_raised else ""
        yield good("open-files", _AREA, "Open files", f"A program may open files {most}{tail}.")


def _locked_memory(host: HostSnapshot) -> Iterator[Check]:
    """Yield a word where memory that cards read directly may be refused.

    The driver's own pinned memory is not counted by this limit; what an engine locks by itself
    (a tier for the KV cache, shared experts) is. Containers are given 64 KiB or 8 MiB of it.
    """
    limits = host.limits
    if limits is None or limits.locked_bytes_hard is None or not host.gpus:
        return
    hard, around = limits.locked_bytes_hard, host.container
    if hard == UNLIMITED or hard >= _LOCKED_BYTES or around is None:
        return
    if around.kind == "control-group":
        return
    found = (
        f"A program may lock {bytes_text(hard)} of memory; KV offload and experts in the "
        "machine's memory want all that they are given."
    )
    advice = "Start the container with `--ulimit memlock=-1`."
    yield look("locked-memory", _AREA, "Locked memory", found, advice)


def _core_dumps(host: HostSnapshot) -> Iterator[Check]:
    """Yield a word where a crash of an engine would write all its memory to the disk."""
    limits = host.limits
    if limits is None or limits.core_bytes is None or limits.core_pattern is None:
        return
    is_large = limits.core_bytes == UNLIMITED or limits.core_bytes > _CORE_BYTES
    if is_large and not limits.core_pattern.startswith("|"):
        found = "A program that crashes leaves all its memory in a file: an engine, many GiB."
        advice = "Switch it off in the shell that starts the service: `ulimit -c 0`."
        yield look("core-dumps", _AREA, "Core dumps", found, advice)


def _clock(host: HostSnapshot) -> Iterator[Check]:
    clock = host.clock
    if clock is None:
        return
    now, not_before = _moment(clock.now), _moment(clock.not_before)
    if now is None:
        yield unknown("clock", _AREA, "Clock", "What time it is could not be found out.")
    elif not_before is not None and now < not_before - _CLOCK_SLACK:
        found = f"It says {clock.now}, but files of this program are from {clock.not_before}."
        advice = "Set it right: with a wrong clock no certificate is valid, and downloads fail."
        yield look("clock", _AREA, "Clock", found, advice)
    else:
        kept = {True: ", kept by a time server", False: ", kept by no time server"}
        tail = kept.get(clock.is_synchronized, "") if clock.is_synchronized is not None else ""
        yield good("clock", _AREA, "Clock", f"{clock.now}{tail}.")


def _moment(iso: str | None) -> datetime.datetime | None:
    try:
        moment = datetime.datetime.fromisoformat(iso) if iso else None
    except ValueError:
        return None
    if moment is not None and moment.tzinfo is None:
        return moment.replace(tzinfo=datetime.UTC)
    return moment


def _locale(host: HostSnapshot) -> Iterator[Check]:
    name = host.locale
    if not name:
        return
    encoding = name.partition(".")[2].partition("@")[0].lower().replace("-", "")
    if encoding and encoding != "utf8":
        found = f"{name}: file names and chats outside it may be garbled."
        yield look("locale", _AREA, "Language", found, "Use UTF-8: `export LC_ALL=C.UTF-8`.")
    else:
        yield good("locale", _AREA, "Language", f"{name}.")
