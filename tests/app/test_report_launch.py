"""What is kept of a start: the command, without any secret, and never in the way of serving."""

import dataclasses
from pathlib import Path

from studio.app.report_launch import last, record, record_file, recorded
from studio.domain.server import EngineSnapshot, EngineState
from studio.serving.command import Launch
from tests.serving.keeping import fake_launch


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
    """The record is there before the engine is, so that a start that dies at once has one."""
    notes: list[str] = []
    seen: list[bool] = []

    async def ensure_ready(_launch: Launch) -> EngineSnapshot:
        seen.append(record_file(tmp_path).exists())
        return EngineSnapshot(state=EngineState.READY)

    engine = await recorded(ensure_ready, tmp_path, notes.append)(_launch(tmp_path))

    assert engine.state is EngineState.READY
    assert seen == [True]
    assert notes == ["Starting fake-demo on fake (ffffffffffff)."]
    assert record_file(tmp_path).stat().st_mode & 0o777 == 0o600


async def test_a_record_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    """Here a file lies where the folder should be."""
    (tmp_path / "logs").write_text("in the way")

    async def ensure_ready(_launch: Launch) -> EngineSnapshot:
        return EngineSnapshot(state=EngineState.READY)

    start = recorded(ensure_ready, tmp_path / "logs", lambda _text: None)

    assert (await start(_launch(tmp_path))).state is EngineState.READY


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
