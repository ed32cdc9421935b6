"""Prints, as JSON, what this interpreter can do: run by a runtime's own python, isolated.

    python -I probe.py '{"imports": ["torch"], "versions": ["torch"]}'

Modules are looked for, not imported: importing torch takes seconds and proves nothing that the
first boot does not prove better.
"""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import sys
import sysconfig

TAG = f".{sys.implementation.cache_tag}.pyc"
STANDARD = ("ssl", "sqlite3", "pyexpat", "ctypes", "zlib", "lzma", "bz2", "fcntl", "venv")


def version(name):
    """Return the version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def is_importable(name):
    """Tell whether a standard module really loads: its C library may be missing."""
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def bytecode_share(folder):
    """Return how many of the sources under `folder` have bytecode beside them, 0 to 1.

    Some never will: templates and files in the syntax of other versions.
    """
    sources = compiled = 0
    for _root, _folders, names in os.walk(folder):
        for name in names:
            sources += name.endswith(".py")
            compiled += name.endswith(TAG)
    return compiled / sources if sources else 1.0


def main():
    """Answer the question in the first argument."""
    asked = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    specs = {name: importlib.util.find_spec(name) for name in asked.get("imports", ())}
    answer = {
        "version": platform.python_version(),
        "implementation": sys.implementation.name,
        "machine": platform.machine(),
        "system": platform.system(),
        "build": sys.version,
        "soabi": sysconfig.get_config_var("SOABI"),
        "executable": sys.executable,
        "base": sys.base_prefix,
        "is_venv": sys.prefix != sys.base_prefix,
        "lacking": [name for name in STANDARD if not is_importable(name)],
        "missing": sorted(name for name, spec in specs.items() if spec is None),
        "uncompiled": sorted(
            name
            for name, spec in specs.items()
            if spec is not None and spec.cached and not pathlib.Path(spec.cached).is_file()
        ),
        "bytecode_share": bytecode_share(sysconfig.get_path("purelib")) if asked else None,
        "versions": {name: version(name) for name in asked.get("versions", ())},
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
