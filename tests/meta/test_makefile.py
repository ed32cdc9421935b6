"""The Makefile as a program would use it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHATTY = "#!/bin/sh\necho 'Looking in indexes: everywhere'\n"
WEIR = """#!/bin/sh\necho '{"ready": true}'\n"""


def test_the_first_run_prints_nothing_but_the_answer(tmp_path: Path) -> None:
    """`make up ARGS=--json | jq` has to work before anything is set up, too."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name, text in (("python", CHATTY), ("weir", WEIR)):
        program = tmp_path / ".venv" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)

    # As at a prompt: a make above this one would be told of.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    environment.pop("MFLAGS", None)
    done = subprocess.run(
        ["make", "up", "ARGS=--json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout) == {"ready": True}
    assert "Looking in indexes" in done.stderr
