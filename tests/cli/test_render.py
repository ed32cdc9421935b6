"""Records to text."""

import datetime
import json
import shlex
from typing import Any

import msgspec
import pytest

from studio.cli import key_text, render
from studio.domain.control import KeyInfo, Status, UpResult
from studio.domain.errors import ErrorInfo
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.hardware import Gpu, HostSnapshot
from studio.domain.metrics import Tick
from studio.domain.remedies import Remedy, RemedyKind
from studio.domain.server import BootPhase, EngineSnapshot, EngineState
from tests.cli.fake_service import FakeService
from tests.cli.serving_samples import KEY, PROCESSES, STARTED_AT, TICK, ready

RESULT = UpResult(
    base_url="http://127.0.0.1:18020/v1",
    api_key=KEY,
    preset="cpu-demo",
    served_name="smollm2",
    runtime="cpu-vllm-0.32.0",
    runtime_id="3f9a0c51b7d2e8644a1b",
    pool_tokens=46_592,
    boot_s=50.2,
)


def _stage(**fields: Any) -> StageProgress:
    given: dict[str, Any] = {
        "stage": Stage.RUNTIME,
        "state": StageState.RUNNING,
        "title": "Install",
        **fields,
    }
    return StageProgress(**given)


@pytest.mark.parametrize(
    ("progress", "figures"),
    [
        (
            _stage(done=97_936_998.0, total=613_416_960.0, unit="bytes", rate=36_909_875.0),
            "93.4 MiB of 585.0 MiB · 35.2 MiB/s",
        ),
        (_stage(done=1024.0, unit="bytes"), "1.0 KiB of –"),
        (_stage(done=31.0, total=148.0, unit="packages"), "31 of 148 packages"),
        (_stage(done=12.0, total=50.0, unit="s"), "12.0 s of 50.0 s"),
        (_stage(state=StageState.DONE, done=50.2, unit="s"), "50.2 s"),
        (_stage(), ""),
    ],
)
def test_stage_figures_show_amounts_and_unknown_totals(
    progress: StageProgress, figures: str
) -> None:
    """A total that is not known is shown as unknown, never as a guess."""
    assert render.stage_figures(progress) == figures


@pytest.mark.parametrize(
    ("progress", "share"),
    [
        (_stage(done=5.0, total=10.0), 0.5),
        (_stage(done=60.0, total=50.0), 1.0),
        (_stage(done=5.0), None),
        (_stage(done=5.0, total=0.0), None),
        (_stage(state=StageState.SKIPPED), 1.0),
    ],
)
def test_stage_share_stays_between_nothing_and_all(
    progress: StageProgress, share: float | None
) -> None:
    """A boot that takes longer than its forecast must not draw past the bar's end."""
    assert render.stage_share(progress) == share


def test_live_line_says_pool_speed_and_requests() -> None:
    """The three things a person leaves the terminal open for."""
    assert render.live_line(ready(), TICK) == (
        "pool 3 % of 46,592 tokens · 132 tok/s · 2 running, 0 waiting · TTFT 0.17 s"
    )


def test_live_line_shows_unknown_as_unknown() -> None:
    """An idle second has no rate; zero would be a lie."""
    line = render.live_line(ready(), None)

    assert line == "pool – of 46,592 tokens · – · – running, – waiting · TTFT –"


def test_live_line_drops_whole_pieces_when_narrow() -> None:
    """Half a number is worse than none."""
    assert render.live_line(ready(), TICK, 44) == "pool 3 % of 46,592 tokens · 132 tok/s"


def test_live_line_fits_80_columns_at_its_largest() -> None:
    """A line that wraps cannot be replaced in place."""
    large = Tick(
        at=0.0,
        pool_tokens=12_345_678,
        pool_used_share=1.0,
        running=1024,
        waiting=10_000,
        decode_tokens_per_s=123_456.0,
        ttft_s=123.45,
        spill_bytes=123 << 30,
    )

    assert len(render.live_line(ready(), large, 80)) < 80


def test_live_line_speaks_of_spill_only_when_there_is_some() -> None:
    """Spill is an alarm: its absence needs no words, its presence comes before the speed."""
    spilling = msgspec.structs.replace(TICK, spill_bytes=3 << 20)

    line = render.live_line(ready(), spilling)

    assert "spill 3.0 MiB · 132 tok/s" in line
    assert "spill" not in render.live_line(ready(), TICK)


def test_state_of_a_boot_has_phase_and_forecast() -> None:
    """While nothing can be asked yet, the person wants to know how long still."""
    engine = EngineSnapshot(
        state=EngineState.STARTING,
        preset="cpu-demo",
        phase=BootPhase.WEIGHTS,
        elapsed_s=12.0,
        expected_boot_s=50.0,
    )

    assert render.state_text(engine) == (
        "Starting: cpu-demo · loading weights · 12.0 s of about 50.0 s"
    )


def test_the_services_sentence_about_a_boot_is_shown_instead_of_the_phase() -> None:
    """It says how long, and whether that is usual."""
    note = "about 40 s left: compiling, cold cache (normal)"
    engine = EngineSnapshot(
        state=EngineState.STARTING, preset="x", phase=BootPhase.COMPILE, note=note, elapsed_s=20.0
    )
    boot = _stage(stage=Stage.BOOT, title="Start the engine", note=note)

    assert render.state_text(engine) == f"Starting: x · {note} · 20.0 s"
    assert render.boot_sentence(boot) == "About 40 s left: compiling, cold cache (normal)"
    done = msgspec.structs.replace(boot, state=StageState.DONE)
    assert render.boot_sentence(done) is None
    assert render.boot_sentence(msgspec.structs.replace(boot, note="weights")) is None
    assert render.boot_sentence(msgspec.structs.replace(boot, stage=Stage.MODEL)) is None


def test_a_ready_engine_says_whether_its_boot_was_cold() -> None:
    """And what was tried, why the pool differs, and what could be done, in the status."""
    offer = Remedy(kind=RemedyKind.COMMAND, text="Pin it. " * 20, command="weir presets pin x")
    engine = msgspec.structs.replace(
        ready(), is_cold=True, tries=("Tried.",), pool_note="Larger.", offers=(offer,)
    )
    status = msgspec.structs.replace(FakeService(engine=engine).status(), tick=None)

    text = render.status_text(status, STARTED_AT)

    assert "booted cold in 50.2 s" in text
    assert "Tried       Tried." in text
    assert "Pool change Larger." in text
    assert "Offer       Pin it." in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "booted in 50.2 s" in render.state_text(ready())


def test_status_says_what_the_last_death_was() -> None:
    """`restarted once` alone leaves the question open; while it is down the error says it."""
    healed = msgspec.structs.replace(ready(), restarts=1, died_of="It was killed.")
    down = msgspec.structs.replace(healed, error=ErrorInfo(code="x", message="It was killed."))

    texts = [
        render.status_text(FakeService(engine=engine).status(), STARTED_AT)
        for engine in (healed, down)
    ]

    assert ["Last death  It was killed." in text for text in texts] == [True, False]
    at = datetime.datetime(2026, 11, 30, 3, 12).astimezone().timestamp()
    known = FakeService(engine=msgspec.structs.replace(healed, died_at=at)).status()
    assert "Last death  2026-11-30 03:12: It was killed." in render.status_text(known, STARTED_AT)


def test_summary_says_what_was_changed_and_what_is_offered() -> None:
    """Above the snippets: below them nobody reads on."""
    offer = Remedy(kind=RemedyKind.COMMAND, text="Pin it. " * 20, command="weir presets pin x")
    result = msgspec.structs.replace(RESULT, notes=("It was tried again.",), offers=(offer,))

    text = render.up_summary(result)

    head = text.split("curl", 1)[0]
    assert "It was tried again." in head
    assert "Pin it." in head
    assert all(len(line) <= 80 for line in head.splitlines())


def test_summary_shows_the_key_once_and_says_so() -> None:
    """The key is never shown again, so the person has to be told now."""
    text = render.up_summary(RESULT)

    assert text.count(f"API key     {KEY}") == 1
    assert "Shown this once only. Make another: weir keys create NAME" in text


def test_summary_without_a_new_key_shows_a_place_for_it() -> None:
    """A snippet with an empty key would fail in a way that explains nothing."""
    text = render.up_summary(msgspec.structs.replace(RESULT, api_key=None, already_running=True))

    assert text.startswith("cpu-demo is already running.")
    assert "Bearer YOUR-API-KEY" in text
    assert "Shown this once" not in text


def test_curl_snippet_survives_the_shell() -> None:
    """A name with quotes or spaces must reach the server as it is."""
    words = shlex.split(
        render.curl_snippet("http://127.0.0.1:1/v1", KEY, "it's 模型").replace("\\\n", "")
    )

    assert words[:3] == ["curl", "-N", "http://127.0.0.1:1/v1/chat/completions"]
    assert f"Authorization: Bearer {KEY}" in words
    body = json.loads(words[-1])
    assert body["model"] == "it's 模型"
    assert body["stream"] is True


def test_python_snippet_is_a_program() -> None:
    """Pasted, it must compile whatever the served name holds."""
    source = render.python_snippet("http://127.0.0.1:1/v1", KEY, 'a "quoted" \\ name')

    compile(source, "snippet", "exec")
    assert '"a \\"quoted\\" \\\\ name"' in source


def test_status_of_a_serving_engine_reads_at_a_glance() -> None:
    """`weir status` answers: is it up, where, how full, how fast."""
    status = FakeService(engine=ready()).status()

    text = render.status_text(status, STARTED_AT + 3600)

    assert text.splitlines() == [
        "  Engine      Ready: cpu-demo · booted in 50.2 s",
        "  Address     http://127.0.0.1:18020/v1",
        "  Model name  smollm2",
        "  Context     2,048 tokens at most for one conversation",
        "  Pool        3 % of 46,592 tokens",
        "  Speed       decode 132 tok/s · prefill 812 tok/s · TTFT 0.17 s",
        "  Requests    2 running, 0 waiting · 0 since start",
        "  Runtime     cpu-vllm-0.32.0 (3f9a0c51b7d2)",
        "  Keys        none: make one with `weir keys create NAME`",
        "  Service     version 0.1.0, process 4241, running for 1 h 00 min",
        "  Folder      /home/ada/weir-studio",
    ]


def test_status_during_an_install_says_how_far_it_is() -> None:
    """An install of minutes that says only `Preparing` looks stuck."""
    installing = StageProgress(
        stage=Stage.RUNTIME, state=StageState.RUNNING, title="vLLM", done=1 << 30, total=2 << 30,
        unit="bytes", rate=50 << 20, note="Downloading torch",
    )  # fmt: skip
    status = msgspec.structs.replace(FakeService().status(), stages=(installing,))

    text = render.status_text(status, STARTED_AT)

    shown = "vLLM: 1.00 GiB of 2.00 GiB · 50.0 MiB/s · Downloading torch"
    assert f"  Stage       {shown}" in text


def test_status_of_a_failed_engine_names_the_error() -> None:
    """The reason belongs beside the state, with the code that a person can search for."""
    failed = EngineSnapshot(
        state=EngineState.FAILED,
        error=ErrorInfo(code="kv-refused", message="The KV cache does not fit."),
    )
    status = FakeService(engine=failed).status()

    text = render.status_text(status, STARTED_AT)

    assert "  Error       The KV cache does not fit. (kv-refused)" in text
    assert "What can be done about it: `weir fix`." in text
    assert "  Address     closed" in text


def test_status_lists_cards_and_memory_that_are_known() -> None:
    """Each card has its own line; what the driver does not say is shown as unknown."""
    status: Status = msgspec.structs.replace(
        FakeService(engine=ready()).status(),
        host=HostSnapshot(
            system="linux",
            machine="x86_64",
            os_name="Debian",
            gpus=(
                Gpu(index=0, name="Card A", total_bytes=24 << 30, free_bytes=4 << 30),
                Gpu(index=1, name="Card B"),
            ),
        ),
        tick=msgspec.structs.replace(TICK, memory_bytes=8 << 30, memory_used_bytes=2 << 30),
    )

    text = render.status_text(status, STARTED_AT)

    assert "  Memory      engine –; machine 2.00 GiB of 8.00 GiB" in text
    assert "  Cards       0: Card A, 20.00 GiB of 24.00 GiB" in text
    assert "              1: Card B, – of –" in text


def test_an_empty_list_says_so() -> None:
    """Nothing at all on screen looks like a fault."""
    assert "weir keys create NAME" in key_text.keys_text([])


def test_processes_are_cut_at_the_terminal_and_whole_in_a_pipe() -> None:
    """In a terminal a line is a process; in a pipe the command must be findable."""
    cut = render.processes_text(PROCESSES, STARTED_AT + 60, 80)
    whole = render.processes_text(PROCESSES, STARTED_AT + 60, None)

    assert all(render.cells_of(line) <= 80 for line in cut.splitlines())
    assert "engine   1.00 GiB  1 min 01 s  1 min 00 s" in cut
    assert "--uds /run/engine.sock" in whole


def test_keys_show_usage_but_only_the_beginning_of_a_key() -> None:
    """The list is for telling keys apart, not for using them."""
    key = KeyInfo(
        id="k1",
        name="客户端",
        prefix="sk-weir-0123",
        created_at="2026-11-29T10:00:00+00:00",
        requests=1234,
        prompt_tokens=1000,
        generated_tokens=500,
    )
    revoked = msgspec.structs.replace(key, name="old", revoked_at="2026-11-29T11:00:00+00:00")

    lines = key_text.keys_text([key, revoked]).splitlines()

    assert lines[1] == "k1  客户端  sk-weir-0123…  1,234     1,500   never      works"
    assert lines[2].endswith("revoked")


def test_wide_characters_count_twice() -> None:
    """Chinese names must not push the columns apart."""
    assert render.cells_of("模型a") == 5
    assert render.padded("模型", 6) == "模型  "
    assert render.cut("模型模型", 6) == "模型…"


def test_a_moment_that_is_no_moment_is_shown_as_it_is() -> None:
    """A list must not fail over one odd value."""
    assert render.moment_text("yesterday") == "yesterday"


def test_a_failed_stage_leaves_the_reason_to_the_error_below() -> None:
    """The same sentence twice on screen makes people look for a difference."""
    failed = _stage(state=StageState.FAILED, note="The disk is full.")

    assert render.stage_line(failed) == "Install: failed"
    assert render.stage_line(_stage(note="Downloading torch")) == "Install: Downloading torch"


def test_a_boot_phase_is_shown_in_words() -> None:
    """The service sends the phase's name; people read what happens."""
    boot = _stage(stage=Stage.BOOT, title="Start the engine", note="kv-cache")

    assert render.stage_line(boot) == "Start the engine: sizing the KV cache"
