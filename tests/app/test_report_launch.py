"""What is kept of a start: the command, without any secret, and never in the way of serving."""

import dataclasses
import os
import signal
from pathlib import Path

from studio.app.report_launch import last, record, record_file, recorder
from studio.domain.server import EngineState
from studio.host import processes
from studio.serving.command import Launch
from tests.serving.keeping import fake_launch, keeping


def _launch(folder: Path) -> Launch:
    made = fake_launch(folder, folder / "model")
    return dataclasses.replace(
        made,
        argv=(*made.argv, "--api-key", "geheim-1", "--hf-token=geheim-2", "--max-num-seqs", "4"),
        environment={
            "HF_TOKEN": "geheim-3",
            "PROXY": "http://u:geheim-4@p",
            "OMP_NUM_THREADS": "2",
        },
    )


async def test_a_start_leaves_its_command_and_a_line_in_the_log(tmp_path: Path) -> None:
    """For the report, and for whoever reads the log."""
    notes: list[str] = []

    await recorder(tmp_path, notes.append)(_launch(tmp_path))

    assert notes == ["Starting fake-demo on fake (ffffffffffff)."]
    assert last(tmp_path) is not None
    assert record_file(tmp_path).stat().st_mode & 0o777 == 0o600


async def test_a_record_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    """Here a file lies where the folder should be."""
    (tmp_path / "logs").write_text("in the way")

    await recorder(tmp_path / "logs", lambda _text: None)(_launch(tmp_path))


async def test_a_restart_that_nobody_asked_for_is_recorded_too(tmp_path: Path) -> None:
    """A report after a night of restarts tells of the last one, and the log of each."""
    logs = tmp_path / "logs"
    notes: list[str] = []
    keep = recorder(logs, notes.append)
    seen: list[bool] = []

    async def before_start(launch: Launch) -> None:
        seen.append(bool(processes.marked(kept.home)))
        await keep(launch)

    async with keeping(tmp_path, before_start=before_start) as kept:
        first_engine = await kept.supervisor.ensure_ready(kept.launch())
        first = last(logs)
        assert first_engine.pid is not None
        os.kill(first_engine.pid, signal.SIGKILL)
        await kept.until(lambda now: now.state is EngineState.READY and now.restarts == 1)

        again = last(logs)
        assert first is not None
        assert again is not None
        assert again.at > first.at
        assert notes == ["Starting fake-demo on fake (ffffffffffff)."] * 2
        assert seen == [False, False]


def test_no_secret_is_kept(tmp_path: Path) -> None:
    """The file outlives the start."""
    kept = record(_launch(tmp_path), 7.0)

    assert "geheim" not in repr(kept)
    assert kept.argv[-5:] == ("--api-key", "***", "--hf-token=***", "--max-num-seqs", "4")
    assert kept.environment["OMP_NUM_THREADS"] == "2"


def test_numbers_of_tokens_and_tokenizers_stay(tmp_path: Path) -> None:
    """They are settings; whoever helps needs them."""
    plain = (
        *("--max-num-batched-tokens", "8192", "--long-prefill-token-threshold", "2k"),
        *("--tokenizer", "some/model", "--tokenizer-mode", "auto", "--hf-token=geheim", "model"),
    )
    made = dataclasses.replace(
        fake_launch(tmp_path, tmp_path / "model"),
        argv=(*plain, "--api-key", "8192", "--hf-token", "8192", "--api-tokens", "geheim"),
        environment={"TOKENIZERS_PARALLELISM": "false", "SERVICE_TOKEN": "12345"},
    )

    kept = record(made, 7.0)

    shown = tuple("--hf-token=***" if part == "--hf-token=geheim" else part for part in plain)
    secret = ("--api-key", "***", "--hf-token", "***", "--api-tokens", "***")
    assert kept.argv == (*shown, *secret)
    assert kept.environment == {"TOKENIZERS_PARALLELISM": "false", "SERVICE_TOKEN": "***"}


def test_no_start_is_no_record(tmp_path: Path) -> None:
    """A home in which nothing was ever started."""
    assert last(tmp_path) is None
