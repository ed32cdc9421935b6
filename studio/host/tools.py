"""The scripts of `runtimes/tools`, run by a runtime's own interpreter.

They are data beside the code: an interpreter that does not have the Studio's packages runs them.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from studio.domain.errors import NotFound
from studio.host import process
from studio.host.paths import Paths, bundled_root


def tool_file(paths: Paths, name: str) -> Path:
    """Return the script `name`, from the catalogue in use or else from the bundled one.

    Raises: NotFound (`tool-unknown`).
    """
    places = [root / "runtimes" / "tools" / name for root in (paths.catalogue, bundled_root())]
    for place in places:
        if place.is_file():
            return place
    raise NotFound("tool-unknown", f"There is no tool {places[0]}.")


async def run_tool(
    python: Path,
    script: Path,
    arguments: Sequence[str],
    *,
    timeout_s: float,
    on_line: Callable[[str], None] | None = None,
    variables: Mapping[str, str] | None = None,
) -> process.RunResult:
    """Run a script isolated from the person's Python settings, `variables` in its environment."""
    return await process.run(
        [str(python), "-I", "-X", "utf8", str(script), *arguments],
        env=process.helper_environment(variables),
        timeout_s=timeout_s,
        on_line=on_line,
    )
