"""Compilers: which runtimes build something here, and whether they find what they need."""

from collections.abc import Iterator, Sequence

from studio.doctor.verdicts import good, is_own_linux, listed, look, names, stops, unknown, wanted
from studio.domain.doctor import Area, Check
from studio.domain.hardware import HostSnapshot, Program, Toolchain
from studio.domain.manifests import RuntimeRecipe
from studio.domain.runtimes import Tool
from studio.domain.wsl import DISTRIBUTION

_AREA = Area.TOOLS
_TITLES = {"nvcc": "CUDA compiler (nvcc)", "compiler": "C compiler"}
_OWN_LINUX = (
    "Install one, in a terminal of Windows: "
    f"`wsl -d {DISTRIBUTION} -u root apt-get install -y gcc libc6-dev`; where that finds none, "
    f"`wsl -d {DISTRIBUTION} -u root apt-get update` first."
)
"""The Studio's own Linux has no `sudo`; `-u root` asks for nothing."""
_INSTALL = {
    "compiler": "Install one: on Debian or Ubuntu `sudo apt install gcc`.",
    "nvcc": "Install NVIDIA's CUDA toolkit of the version named, and put its `bin` on the PATH.",
}


def checks(host: HostSnapshot, recipes: Sequence[RuntimeRecipe]) -> Iterator[Check]:
    """Yield what runtimes for this host's cards want of compilers; nothing without such cards."""
    asked: dict[tuple[str, Tool], list[RuntimeRecipe]] = {}
    for recipe in wanted(host, recipes):
        for tool in recipe.tools:
            if tool.programs:
                # Two releases of one runtime say the same and are told together.
                alike = Tool(
                    name=tool.name,
                    purpose="",
                    programs=tool.programs,
                    min_version=tool.min_version,
                    below_version=tool.below_version,
                    is_bundled=tool.is_bundled,
                    without=tool.without,
                )
                asked.setdefault((tool.name, alike), []).append(recipe)
    if not asked:
        return
    if host.toolchain is None:
        yield unknown("tools", _AREA, "Compilers", "They were not looked for.")
        return
    for (_, tool), wanting in asked.items():
        yield _tool(tool, wanting, host.toolchain, _install(tool, host))


def _tool(tool: Tool, wanting: Sequence[RuntimeRecipe], chain: Toolchain, install: str) -> Check:
    code, title = f"tool-{tool.name}", _TITLES.get(tool.name, tool.name)
    users = listed(names(wanting))
    found = _found(tool, chain)
    if found is not None and _fits(found, tool):
        text = f"{found.path}, version {found.version or '–'}: right for {users}."
        return good(code, _AREA, title, text)
    said = "None is on the PATH"
    if found is not None:
        said = f"{found.path} is {found.version}, and {tool.wanted} is needed"
    if tool.is_bundled:
        return _bundled(tool, found, chain, (code, title, said, users))
    if tool.without is not None:
        advice = f"If you want it: {install}"
        return look(code, _AREA, title, f"{said}. Without it, {tool.without} ({users}).", advice)
    return stops(
        code, _AREA, title, f"{said}. {users} cannot start without.", install,
        what=names(wanting),
    )  # fmt: skip


def _bundled(
    tool: Tool, found: Program | None, chain: Toolchain, words: tuple[str, str, str, str]
) -> Check:
    """Return the verdict where the packages bring one: only an explicit wrong choice hurts.

    Source: HyperQwen's documentation on CUDA_HOME: an explicit value always wins.
    """
    code, title, said, users = words
    if tool.name == "nvcc" and chain.cuda_home and found is not None:
        text = f"{said}, but CUDA_HOME is {chain.cuda_home}, which {users} would obey."
        return look(code, _AREA, title, text, "Unset CUDA_HOME; the runtime brings the right one.")
    return good(code, _AREA, title, f"{said}; {users} bring their own.")


def _found(tool: Tool, chain: Toolchain) -> Program | None:
    if tool.name == "nvcc" or "nvcc" in tool.programs:
        return chain.nvcc
    if "ninja" in tool.programs:
        return chain.ninja
    return chain.compiler


def _fits(found: Program, tool: Tool) -> bool:
    return found.version is None or tool.accepts(found.version)


def _install(tool: Tool, host: HostSnapshot) -> str:
    if tool.name == "compiler" and is_own_linux(host):
        return _OWN_LINUX
    return _INSTALL.get(tool.name, f"Install {listed(tool.programs)} and put it on the PATH.")
