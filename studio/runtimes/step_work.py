"""The workshop of one build step: its folders, its environment, and the way back when it fails.

    <runtime>/steps/workshop/    source/ · out/ · home/ · tmp/ · saved/ (what it may replace)

What a step replaces among the packages lies in `saved` until it is done, so that a step that failed
or was killed leaves the packages as they were.
"""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from studio.domain.manifests import RuntimeRecipe
from studio.domain.runtimes import BuildStep
from studio.host import pip_config, process, uv
from studio.host.files import write_atomic
from studio.host.paths import Paths
from studio.runtimes import series, toolchain
from studio.runtimes.packages import site_packages

FOLDER = "steps"
_SAVED = "saved"
_DONE = "done"
_OUT = "out"
_PATTERNS = ".patterns"
Found = Mapping[str, toolchain.FoundTool]
_PLACE = re.compile(r"\{([a-z][a-z0-9-]*)\}")


class StepFailed(Exception):
    """A step that could not be done, and why: a piece of a sentence."""


class Workshop:
    """Where the steps of one runtime folder are done."""

    def __init__(
        self,
        recipe: RuntimeRecipe,
        paths: Paths,
        folder: Path,
        python: Path,
        environ: Mapping[str, str],
    ) -> None:
        self._recipe = recipe
        self._paths = paths
        self._folder = folder
        self._python = python
        self._site = site_packages(python)
        self._environ = environ
        self.work = folder / FOLDER / "workshop"

    def prepare(self, step: BuildStep) -> None:
        """Make the folders of a step, with what it builds and a copy of what it may replace.

        Raises: StepFailed; HostLacks (`series-missing`), Damaged (`series-damaged`).
        """
        shutil.rmtree(self.work, ignore_errors=True)
        for name in (_OUT, "home", "tmp", "source"):
            (self.work / name).mkdir(parents=True)
        if step.upstream is not None:
            self._lay_source(step.upstream)
        _require_inside(step.protects)
        partial = self.work / f"{_SAVED}.partial"
        partial.mkdir()
        for pattern in step.protects:
            for path in self._site.glob(pattern):
                _copy(path, partial / path.relative_to(self._site))
                _make_own(path)
        # What may be replaced is remembered by pattern too: new names have to go again.
        write_atomic(partial / _PATTERNS, "\n".join(step.protects).encode())
        partial.rename(self.work / _SAVED)

    def _lay_source(self, path: str) -> None:
        upstream = next((one.upstream for one in self._recipe.patches if one.upstream), None)
        if upstream is None or upstream.commit is None:
            raise StepFailed("the recipe has no series whose repository could hold its source")
        snapshot = series.load(self._paths, upstream, more=(path,))
        files = series.folder(snapshot, path)
        if not files:
            raise StepFailed(f"{upstream.repository} has no {path} at commit {upstream.commit}")
        for name, file in files.items():
            target = self.work / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.data)
            target.chmod(0o755 if file.is_executable else 0o644)

    def put_back(self) -> None:
        """Undo what the commands of a step that was not finished have done to the packages."""
        saved = self.work / _SAVED
        if not (saved / _PATTERNS).is_file():
            return
        for pattern in (saved / _PATTERNS).read_text("utf-8").split("\n"):
            for path in self._site.glob(pattern) if pattern else ():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in saved.iterdir():
            if path.name != _PATTERNS:
                _copy(path, self._site / path.name)
        self.clear()

    def wheels(self) -> list[Path]:
        """Return the wheels that were built."""
        return sorted((self.work / _OUT).glob("*.whl"))

    def finish(self, step: BuildStep, found: Found) -> None:
        """Look whether everything is there that should be, and keep what was done.

        Raises: StepFailed.
        """
        places = self.places(found)
        for pattern in step.produces:
            whole = Path(_filled(pattern, places))
            if not any(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor)))):
                raise StepFailed(f"it made no {whole.name}")
        self.clear()

    def clear(self) -> None:
        """Remove the workshop; from its first moment on nothing is put back any more."""
        if (self.work / _SAVED).exists():
            (self.work / _SAVED).rename(self.work / _DONE)
        shutil.rmtree(self.work, ignore_errors=True)

    def fill(self, text: str, found: Found) -> str:
        """Return a text of the recipe with its placeholders filled in."""
        return _filled(text, self.places(found))

    def places(self, found: Found) -> dict[str, str]:
        """Return what the placeholders stand for; a tool's name for where it was found."""
        return {
            **{name: str(one.path) for name, one in found.items()},
            "python": str(self._python),
            "runtime": str(self._folder),
            "site": str(self._site),
            "cache": str(self._paths.engine_cache),
            "uv": uv.binary(),
            "jobs": str(os.cpu_count() or 1),
            "source": str(self.work / "source"),
            "out": str(self.work / _OUT),
        }

    def environment(
        self,
        step: BuildStep,
        found: Found,
    ) -> dict[str, str]:
        """Return the engine's environment, the tools on the PATH, and no place of the person's."""
        places = self.places(found)
        _arguments, index = pip_config.uv_settings(pip_config.read_sources(), extra_indexes=())
        engine = {
            name: _filled(value, places)
            for name, value in self._recipe.serve.environment.items()
            if set(_PLACE.findall(value)) <= places.keys()
        }
        home = toolchain.cuda_home(found)
        cuda = {toolchain.CUDA_HOME: str(home)} if home is not None else {}
        bins = [self._python.parent, *(one.path.parent for one in found.values() if one.path)]
        path = self._environ.get("PATH", os.defpath)
        own = {
            "PATH": os.pathsep.join([*dict.fromkeys(str(one) for one in bins), path]),
            "HOME": str(self.work / "home"),
            "TMPDIR": str(self.work / "tmp"),
            "UV_CACHE_DIR": str(self._paths.cache / "uv"),
            "UV_PYTHON_DOWNLOADS": "never",
            "PIP_CACHE_DIR": str(self._paths.cache / "pip"),
            "PYTHONNOUSERSITE": "1",
            "MAX_JOBS": places["jobs"],
        }
        asked = {name: _filled(value, places) for name, value in step.environment.items()}
        kept = process.helper_environment({**index, **engine, **cuda, **own, **asked})
        return {name: value for name, value in kept.items() if not name.startswith("XDG_")}


def _filled(text: str, places: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda found: places.get(found[1], found[0]), text)


def _require_inside(patterns: tuple[str, ...]) -> None:
    """Refuse a pattern that means more than packages: what it names is removed one day."""
    for pattern in patterns:
        parts = PurePosixPath(pattern).parts
        if not parts or parts[0] == "/" or ".." in parts or "**" in parts or parts[0] == "*":
            raise StepFailed(f"its recipe may not protect `{pattern}`")


def _make_own(path: Path) -> None:
    """Give files that are links into a cache or another runtime bytes of their own.

    A script that copies over a file writes into it, and would change every other one.
    """
    for left in (path.with_name(f".{path.name}.own"), *path.rglob(".*.own")):
        left.unlink(missing_ok=True)  # of a run that was killed
    for file in (path, *path.rglob("*")):
        if file.is_file() and not file.is_symlink() and file.stat().st_nlink > 1:
            own = file.with_name(f".{file.name}.own")
            shutil.copy2(file, own)
            own.replace(file)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
