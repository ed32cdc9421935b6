"""Prints, as JSON, what this interpreter can do: run by a runtime's own python, isolated.

    python -I probe.py '{"imports": ["torch"], "versions": ["torch"]}'

Modules are looked for, not imported: importing torch takes seconds and proves nothing that the
first boot does not prove better. Where a recipe asks for what only the engine can tell (a card, its
flags, its variables), it is imported, once for all of that.
"""

import contextlib
import importlib
import importlib.metadata
import importlib.util
import io
import json
import os
import pathlib
import platform
import re
import runpy
import sys
import sysconfig

TAG = f".{sys.implementation.cache_tag}.pyc"
FLAG = re.compile(r"(?<![\w-])--[A-Za-z0-9][\w.-]*")
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


def in_words(error):
    """Return what went wrong in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def card_fault():
    """Return why torch cannot use a card, or None: something is computed on it."""
    try:
        torch = importlib.import_module("torch")
        if not torch.cuda.is_available():
            return f"PyTorch {torch.__version__} finds no card"
        torch.zeros(1, device="cuda").add_(1).item()
    except (ImportError, OSError, RuntimeError, AssertionError) as error:
        return in_words(error)
    return None


def unknown_variables(registry, wanted):
    """Return which names the engine's registry (`module:mapping`) does not have, and the fault."""
    module, _, name = registry.partition(":")
    try:
        known = getattr(importlib.import_module(module), name)
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        return [], in_words(error)
    return [one for one in wanted if one not in known], None


def unknown_flags(command, wanted):
    """Return which flags the help does not name, and the fault; `command` is module and words."""
    out = io.StringIO()
    before = sys.argv
    sys.argv = [command[0], *command[1:]]
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            return [], f"`{' '.join(command[1:])}` ended with {end.code}"
    except (ImportError, OSError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        return [], in_words(error)
    finally:
        sys.argv = before
    known = set(FLAG.findall(out.getvalue()))
    if not known:
        return [], "its help names no flag at all"
    return [one for one in wanted if one not in known], None


def engine(asked):
    """Return what the engine itself says."""
    flags = unknown_flags(asked["help"], asked["flags"]) if asked["flags"] else ([], None)
    variables = ([], None)
    if asked["variables"]:
        variables = unknown_variables(asked["registry"], asked["variables"])
    return {
        "card": card_fault() if asked["cuda"] else None,
        "flags": flags[0],
        "flags_fault": flags[1],
        "variables": variables[0],
        "variables_fault": variables[1],
    }


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
    if asked.get("engine"):
        answer["engine"] = engine(asked["engine"])
    print("\n" + json.dumps(answer), flush=True)
    if asked.get("engine"):
        os._exit(0)  # what an engine says at its end would follow the answer


if __name__ == "__main__":
    main()
