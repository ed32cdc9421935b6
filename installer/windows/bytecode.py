"""Compiles sources to bytecode that needs no source beside it; run as a process of its own.

    PYTHONHASHSEED=0 python -m installer.windows.bytecode FOLDER

Each `x.py` in FOLDER becomes `x.pyc` at its place. A fixed seed, a fresh process and one order make
equal bytes of equal sources; the paths in it are those inside the folder, not the build machine's.
"""

import py_compile
import sys
from pathlib import Path


def compile_all(folder: Path) -> int:
    """Put bytecode in the place of every source; return how many there were.

    Raises: py_compile.PyCompileError.
    """
    sources = sorted(folder.rglob("*.py"))
    for source in sources:
        py_compile.compile(
            str(source),
            cfile=str(source.with_suffix(".pyc")),
            dfile=source.relative_to(folder).as_posix(),
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        source.unlink()
    return len(sources)


if __name__ == "__main__":
    sys.stdout.write(f"{compile_all(Path(sys.argv[1]))} modules\n")
