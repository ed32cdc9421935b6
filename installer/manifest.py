"""What a build was made of: `build-manifest.json` and an SBOM in CycloneDX.

`cyclonedx-py` reads the lock (name, version, hashes); here what is not in the folder is taken out,
licences are added, and what did not come from the lock: CPython, uv's binary, libraries of Debian.
"""

import hashlib
import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import uv

from installer import freeze, licences
from installer.licences import Part


def sbom(frozen: Path, version: str) -> dict[str, Any]:
    """Return the CycloneDX document of the frozen folder; the same folder, the same document."""
    return document(version, licences.parts(frozen), _others(frozen))


def document(version: str, inside: list[Part], others: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the CycloneDX document of a folder that holds `inside` of the lock, and `others`."""
    program = Path(sys.executable).with_name("cyclonedx-py")
    done = subprocess.run(
        [str(program), "requirements", "--output-reproducible", "--of", "JSON",
         str(freeze.ROOT / "requirements.lock")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    parts = {part.name.lower(): part for part in inside if part.kind == "pypi"}
    kept = {}
    for component in found["components"]:
        part = parts.get(component["name"].lower())
        if part is not None and part.version == component["version"]:
            kept[part.name] = _with_licence(component, part.licence)
    found["components"] = [kept[name] for name in sorted(kept)] + others
    found["dependencies"] = []
    found["metadata"]["component"] = {
        "type": "application", "bom-ref": "weir-studio", "name": "weir-studio",
        "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}],
    }  # fmt: skip
    return found


def manifest(
    frozen: Path, packages: list[Path], version: str, windows: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return how this build was made, and the sha256 of every file that lies in the folder.

    `windows`: the same of the folder for Windows, where one was made.
    """
    return {
        "schema_version": 1,
        "name": "weir-studio",
        "version": version,
        "source_date": freeze.source_date(),
        "commit": _commit(),
        "built_on": {
            "system": _system(),
            "machine": platform.machine(),
            "python": platform.python_version(),
            "pyinstaller": _version("PyInstaller"),
            "makeself": tool("makeself", "--version"),
            "dpkg-deb": tool("dpkg-deb", "--version"),
        },
        "locks": {
            name: digest(freeze.ROOT / name)
            for name in ("requirements.lock", "requirements-dev.lock")
        },
        "parts": [part._asdict() for part in licences.parts(frozen)],
        "packages": [
            {"file": path.name, "bytes": path.stat().st_size, "sha256": digest(path)}
            for path in sorted(packages)
        ],
        "files": {
            str(path.relative_to(frozen)): digest(path)
            for path in freeze.files(frozen)
            if not path.is_symlink()
        },
        **({"windows": windows} if windows is not None else {}),
    }


def digest(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path: Path, document: dict[str, Any]) -> Path:
    """Write a document as people read it, in one form everywhere."""
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _with_licence(component: dict[str, Any], licence: str | None) -> dict[str, Any]:
    if licence is not None:
        component = {**component, "licenses": [{"license": {"name": licence}}]}
    return component


def _others(frozen: Path) -> list[dict[str, Any]]:
    found = [
        {"type": "application", "bom-ref": "cpython", "name": "cpython",
         "version": platform.python_version(), "licenses": [{"license": {"id": "PSF-2.0"}}]},
        {"type": "application", "bom-ref": "uv-binary", "name": "uv (program)",
         "version": tool(uv.find_uv_bin(), "--version").split()[1],
         "hashes": [{"alg": "SHA-256", "content": digest(Path(uv.find_uv_bin()))}]},
    ]  # fmt: skip
    found += [
        {"type": "library", "bom-ref": f"deb-{part.name}", "name": part.name,
         "version": part.version, "purl": f"pkg:deb/debian/{part.name}@{part.version}"}
        for part in licences.parts(frozen)
        if part.kind == "deb"
    ]  # fmt: skip
    return found


def _commit() -> str | None:
    text = tool("git", "-C", str(freeze.ROOT), "rev-parse", "HEAD")
    return text if len(text) == 40 else None


def _version(module: str) -> str:
    return str(__import__(module).__version__)


def _system() -> str:
    try:
        about = platform.freedesktop_os_release()
    except OSError:
        return platform.system()
    return about.get("PRETTY_NAME", platform.system())


def tool(*command: str) -> str:
    """Return the first line that a program prints of itself."""
    if shutil.which(command[0]) is None:
        return "not here"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().partition("\n")[0]
