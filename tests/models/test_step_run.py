"""One step: scripts without tensors, optional ones that do not fit, what the system ended."""

import msgspec
import pytest

from studio.domain.errors import HostLacks
from studio.domain.preparing import Change, DoneWhen, PreparationStep
from studio.host import wsl
from studio.models import library
from studio.models.step_run import memory_short
from tests.models.checkpoints import HEAD, Kitchen, put
from tests.models.test_prepare import made

__all__ = ["made"]

WRITER = b"""
import pathlib, sys
folder, out = map(pathlib.Path, sys.argv[1:3])
assert (folder / "config.json").is_file()
if sys.argv[3] == "write":
    (out / "ids.bin").write_bytes(b"40960")
"""
STEP = PreparationStep(
    name="draft", what="Cut rows.", tool="writer.py", outputs=("ids.bin",),
    arguments=("{folder}", "{out}", "write"), done=DoneWhen(files=("ids.bin",)),
)  # fmt: skip


def test_a_script_may_write_files_of_its_own(made: Kitchen) -> None:
    """Such as a list of rows; what it read and wrote is kept by digest."""
    put(made.paths.catalogue / "runtimes" / "tools", {"writer.py": WRITER})

    folder = made.run(msgspec.structs.replace(made.spec, preparation=(STEP,)))

    assert (folder / "ids.bin").read_bytes() == b"40960"
    record = library.read_prepared(folder)
    assert record is not None
    assert record.steps[0].outputs.keys() == {"ids.bin"}
    assert "config.json" in record.steps[0].inputs


def test_a_script_that_writes_nothing_is_refused(made: Kitchen) -> None:
    """It ended well and did nothing."""
    put(made.paths.catalogue / "runtimes" / "tools", {"writer.py": WRITER})
    idle = msgspec.structs.replace(STEP, arguments=("{folder}", "{out}", "idle"))

    with pytest.raises(HostLacks) as caught:
        made.run(msgspec.structs.replace(made.spec, preparation=(idle,)))

    assert caught.value.code == "prepare-step-failed"
    assert "ids.bin" in caught.value.message


def test_an_optional_step_that_does_not_fit_is_left_out_with_its_reason(made: Kitchen) -> None:
    """A template that lies elsewhere must not cost the model."""
    change = Change(file="chat_template.jinja", prepend="{# #}")
    effort = PreparationStep(name="effort", what="E.", optional=True, changes=(change,))

    folder = made.run(msgspec.structs.replace(made.spec, preparation=(HEAD, effort)))

    record = library.read_prepared(folder)
    assert record is not None
    assert "chat_template.jinja" in (record.steps[1].skipped or "")


def test_short_memory_says_what_to_do_on_each_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """WSL has half of the memory unless it is told otherwise."""
    monkeypatch.setattr(wsl, "is_wsl", lambda _kernel: False)
    plain = memory_short(STEP, ())
    monkeypatch.setattr(wsl, "is_wsl", lambda _kernel: True)
    windows = memory_short(STEP, ())

    assert "swap" in (plain.hint or "")
    assert ".wslconfig" in (windows.hint or "")
