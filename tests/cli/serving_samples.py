"""What a service that serves the demo says."""

from studio.domain.control import ProcessInfo
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.metrics import Tick
from studio.domain.server import EngineSnapshot, EngineState

KEY = "sk-weir-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
STARTED_AT = 1_760_000_000.0

TICK = Tick(
    at=STARTED_AT + 60,
    pool_tokens=46_592,
    pool_used_tokens=1_397,
    pool_used_share=0.03,
    running=2,
    waiting=0,
    decode_tokens_per_s=131.6,
    prefill_tokens_per_s=812.0,
    ttft_s=0.174,
)

STAGES = (
    StageProgress(stage=Stage.DETECT, state=StageState.DONE, title="Look at this machine"),
    StageProgress(
        stage=Stage.RUNTIME,
        state=StageState.RUNNING,
        title="Install the runtime",
        note="Downloading torch",
        done=97_936_998.0,
        total=613_416_960.0,
        unit="bytes",
        rate=36_909_875.0,
    ),
    StageProgress(
        stage=Stage.RUNTIME,
        state=StageState.DONE,
        title="Install the runtime",
        done=613_416_960.0,
        total=613_416_960.0,
        unit="bytes",
    ),
    StageProgress(stage=Stage.MODEL, state=StageState.SKIPPED, title="Get the model"),
    StageProgress(
        stage=Stage.BOOT,
        state=StageState.RUNNING,
        title="Start the engine",
        note="loading weights",
        done=12.0,
        total=50.0,
        unit="s",
    ),
    StageProgress(
        stage=Stage.BOOT, state=StageState.DONE, title="Start the engine", done=50.2, unit="s"
    ),
    StageProgress(stage=Stage.GATEWAY, state=StageState.DONE, title="Open the gateway"),
)


PROCESSES = [
    ProcessInfo(pid=4241, parent=1, role="service", command="weir service run"),
    ProcessInfo(
        pid=4242,
        parent=4241,
        role="engine",
        command="python -m vllm serve /models/smollm2 --uds /run/engine.sock",
        rss_bytes=1 << 30,
        cpu_s=61.0,
        started_at=STARTED_AT,
    ),
]


def ready(preset: str = "cpu-demo") -> EngineSnapshot:
    """Return an engine that serves."""
    return EngineSnapshot(
        state=EngineState.READY,
        preset=preset,
        served_name="smollm2",
        runtime="cpu-vllm-0.32.0",
        runtime_id="3f9a0c51b7d2e8644a1b",
        pid=4242,
        boot_s=50.2,
        pool_tokens=46_592,
        max_model_len=2048,
    )
