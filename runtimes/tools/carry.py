"""Prints, as JSON, what of the machine a runtime's interpreter stands on: run by it, isolated.

    python -I carry.py '["libnuma.so.1"]'

That is its program and standard library, when the runtime is an environment over another Python,
and the files of the system libraries that are named.
"""

import ctypes
import json
import os
import pathlib
import sys
import sysconfig


def loaded(soname):
    """Return the file of a shared library, or None when it cannot be loaded."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return None
    for line in pathlib.Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines():
        path = line[line.find("/") :] if "/" in line else ""
        # The name that was asked for is often a link: libnuma.so.1 to libnuma.so.1.0.0.
        if pathlib.PurePath(path).name.startswith(soname):
            return path
    return None


def main():
    """Answer for the libraries in the first argument."""
    asked = json.loads(sys.argv[1]) if len(sys.argv) > 1 else []
    variables = sysconfig.get_config_vars()
    shared = variables.get("INSTSONAME") if variables.get("Py_ENABLE_SHARED") else None
    places = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})
    print(
        json.dumps(
            {
                "base": sys.base_prefix if sys.prefix != sys.base_prefix else None,
                "executable": os.path.realpath(sys._base_executable),
                "stdlib": os.path.realpath(places["stdlib"]),
                "platstdlib": os.path.realpath(places["platstdlib"]),
                "include": os.path.realpath(places["include"]),
                "shared": loaded(shared) if shared else None,
                "needs_shared": shared,
                "libraries": {name: loaded(name) for name in asked},
            }
        )
    )


if __name__ == "__main__":
    main()
