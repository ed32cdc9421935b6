"""What the fake service says about runtimes."""

from studio.domain.control import RuntimeVersions
from studio.domain.integrity import Collected, Removal, Repaired, Verdict
from studio.domain.manifests import InstalledRuntime
from studio.domain.runtimes import (
    Change,
    ChangeKind,
    InstallStopped,
    RuntimeInfo,
    RuntimeState,
    RuntimeUpdate,
    RuntimeUpdated,
    RuntimeUpdates,
    UpdateKind,
)

RUNTIMES = (
    RuntimeInfo(
        name="cpu-vllm-0.32.0",
        title="vLLM 0.32.0 for CPU",
        state=RuntimeState.INSTALLED,
        runtime_id="3f9a0c51b7d2e8644a1b",
        bytes=2 << 30,
        usable=True,
    ),
    RuntimeInfo(
        name="sm70-1cat-1.5.2",
        title="1Cat-vLLM 1.5.2 for V100",
        state=RuntimeState.UNVERIFIED,
        bytes=5_321_000_000,
        usable=False,
        reasons=("No source gives the sha256 of 1cat-vllm 1.5.2.",),
    ),
)

VERDICT = Verdict(
    runtime="cpu-vllm-0.32.0",
    runtime_id="3f9a0c51b7d2e8644a1b",
    is_full=False,
    is_known=True,
    files=120,
    bytes=1 << 20,
    seconds=0.02,
)
REPAIRED = Repaired(
    runtime="cpu-vllm-0.32.0",
    runtime_id="3f9a0c51b7d2e8644a1b",
    restored=3,
    removed=1,
    compiled=40,
    packages=("torch",),
    seconds=2.5,
)
COLLECTED = Collected(
    removals=(Removal(path="runtimes/old/1", what="two updates ago"),),
    bytes=3 << 30,
    is_dry_run=False,
)
VERSIONS = RuntimeVersions(
    name="cpu-vllm-0.32.0",
    current="3f9a0c51b7d2e8644a1b",
    kept=tuple(
        InstalledRuntime(
            name="cpu-vllm-0.32.0",
            runtime_id=identity,
            python="python/bin/python3",
            interpreter="CPython 3.11.17",
            interpreter_build="x",
            lock_digest="y",
            bytes=2 << 30,
            installed_at="2026-11-29T10:00:00+00:00",
        )
        for identity in ("0a9a0c51b7d2e8644a1b", "3f9a0c51b7d2e8644a1b")
    ),
)
UPDATES = RuntimeUpdates(
    updates=(
        RuntimeUpdate(
            kind=UpdateKind.RECIPE,
            runtime="cpu-vllm-0.32.0",
            runtime_id="3f9a0c51b7d2e8644a1b",
            target="cpu-vllm-0.32.0",
            title="vLLM 0.32.0 for CPU",
            usable=True,
            fetch_bytes=1 << 20,
            disk_bytes=5 << 20,
            packages=(
                Change(kind=ChangeKind.CHANGED, name="numpy", before="2.0", after="2.1"),
                Change(kind=ChangeKind.ADDED, name="zlib-ng", after="0.5"),
                Change(kind=ChangeKind.REMOVED, name="six", before="1.16"),
            ),
            patches=(Change(kind=ChangeKind.ADDED, name="0005-new.patch"),),
            presets=("cpu-demo",),
        ),
        RuntimeUpdate(
            kind=UpdateKind.RELEASE,
            runtime="sm70-1cat-1.5.0",
            runtime_id="5f9a0c51b7d2e8644a1b",
            target="sm70-1cat-1.5.2",
            title="1Cat-vLLM 1.5.2 for V100",
            usable=False,
            reasons=("No source gives the sha256 of 1cat-vllm 1.5.2.",),
            interpreter=Change(kind=ChangeKind.CHANGED, name="Python", before="a", after="b"),
            patches=(),
            knobs=(),
        ),
    )
)
UPDATED = RuntimeUpdated(
    runtime="cpu-vllm-0.32.0", before="3f9a0c51b7d2e8644a1b", after="9f9a0c51b7d2e8644a1b"
)
STOPPED = InstallStopped(
    runtime="cpu-vllm-0.32.0", was_running=True, current="3f9a0c51b7d2e8644a1b"
)
