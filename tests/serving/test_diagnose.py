"""Causes of failures, found in every recorded and assembled log, and in no healthy one."""

import json
import re
import time
from pathlib import Path

import pytest

from studio.domain.errors import EngineFailed, from_info
from studio.domain.remedies import RemedyKind
from studio.serving import diagnose
from studio.serving.heard import Hearing
from studio.serving.signatures import Rank
from tests.fakes import recordings

FILE = Path(__file__).resolve().parents[2] / "runtimes" / "failures.toml"
SIGNATURES = diagnose.load(FILE)
ENGINE = recordings.ENGINE

EXIT_CODES: dict[str, dict[str, int]] = json.loads(
    (ENGINE / "failures" / "exit-codes.json").read_text(encoding="utf-8")
)

STATUSES: dict[str, int | None] = {
    "engine-aborted": -6,
    "card-assertion": -6,
    **dict.fromkeys(
        (signature.id for signature in SIGNATURES if signature.rank is Rank.REQUEST), None
    ),
    "option-value": 2,
    "option-unknown": 2,
    "option-missing": 2,
}
"""How the engines of assembled logs ended, where that is not with 1; None: they serve on."""

CASES: list[tuple[str, int | None, str]] = [
    *(
        (f"failures/{name}.log", EXIT_CODES[name]["exit"], code)
        for name, code in {
            "bad-flag": "option-unknown",
            "hub-offline": "model-not-here",
            "hub-unreachable": "hub-unreachable",
            "kv-offloading-unsupported-on-cpu": "kv-offloading-unsupported",
            "maxlen-over-config": "max-model-len-over-model",
            "maxlen-too-large-kv": "kv-cache-too-small",
            "model-missing": "model-missing",
            "oom-kvspace": "host-memory-for-kv",
            "oom-ulimit": "host-memory-exhausted",
            "port-in-use": "engine-port-in-use",
            "sleep-mode-unsupported": "sleep-mode-unsupported",
            "torchvision-missing-qwen3.5": "module-missing",
        }.items()
    ),
    ("lifecycle/hybrid-float32-crash-on-first-request.log", 0, "hybrid-needs-bfloat16"),
    ("lifecycle/hybrid-prefix-caching-crash-on-first-request.log", 0, "triton-missing"),
    ("lifecycle/unknown-env-then-kill9-worker.log", 0, "worker-killed"),
    ("lifecycle/main-then-kill9-enginecore.log", 0, "engine-core-died"),
    ("lifecycle/kill9-api-server.log", -9, "engine-killed"),
    ("cuda/r0-engine-dies-while-serving/boot.log", 0, "module-missing"),
    ("cuda/r3-refusal/boot.log", 1, "kv-cache-too-small"),
    ("cuda/r4-ngram7/boot.log", 1, "package-conflict"),
    ("cuda/r5-mtp3/boot.log", 1, "model-layers-missing"),
    ("cuda/r10-tp2-killed-workers-stay/boot.log", 137, "engine-killed"),
    *(
        (f"assembled/{path.stem}.log", STATUSES.get(path.stem, 1), path.stem)
        for path in sorted((ENGINE / "assembled").glob("*.log"))
    ),
    ("boot/small-kv-preemption.log", -11, "engine-segfault"),
    ("boot/dummy-load-format.log", 132, "engine-illegal-instruction"),
    ("boot/tp2-two-api-servers.log", -7, "engine-bus-error"),
    ("boot/tiny-compile-warm.log", 143, "engine-ended"),
    ("boot/tiny-compile-warm.log", 3221225781, "engine-library-not-loaded"),
    ("boot/tiny-compile-warm.log", -1073741801, "engine-memory-refused"),
    ("boot/tiny-compile-warm.log", 18446744072635812000, "engine-aborted"),
]
IDS = [f"{name} {code}" for name, _exit, code in CASES]


def load(name: str) -> list[str]:
    """Return the lines of a log in tests/data/engine."""
    return recordings.lines(ENGINE / name)


def healthy() -> list[Path]:
    """Return the logs of engines that failed at nothing, with all that they said."""
    return [*recordings.healthy(), *sorted((ENGINE / "cuda-0.32").glob("w[123]-*.log"))]


def shuffled(lines: list[str]) -> list[str]:
    """Return the log as another machine, another version and another day would have printed it."""
    replacements = (
        (r"^\([A-Za-z_]+[-_0-9A-Za-z]* pid=\d+\)", "(Other_TP7 pid=4194304)"),
        (r"\d\d-\d\d \d\d:\d\d:\d\d \[[\w./-]+:\d+\]", "02-29 23:59:59 [else/where.py:9]"),
        (r"/srv/", "/home/某人/with blank/"),
        (r"/usr/lib/", "/opt/"),
        (r"line \d+, in", "line 1, in"),
    )
    for pattern, replacement in replacements:
        lines = [re.sub(pattern, replacement, line) for line in lines]
    return lines


@pytest.mark.parametrize(("name", "exit_code", "code"), CASES, ids=IDS)
def test_every_failure_is_recognised(name: str, exit_code: int | None, code: str) -> None:
    """Recall: a cause and a remedy instead of a traceback."""
    found = diagnose.matches(load(name), exit_code, SIGNATURES)

    assert found
    error = found[0]
    assert error.code == code
    assert "{" not in error.message
    assert error.remedies
    assert error.hint == error.remedies[0].text
    assert error.exit_status == 5
    assert isinstance(from_info(error), EngineFailed)


@pytest.mark.parametrize(("name", "exit_code", "code"), CASES, ids=IDS)
def test_no_failure_is_recognised_by_process_time_or_place(
    name: str, exit_code: int | None, code: str
) -> None:
    """A stranger's log has other paths, other times and other line numbers."""
    found = diagnose.matches(shuffled(load(name)), exit_code, SIGNATURES)

    assert found
    assert found[0].code == code


@pytest.mark.parametrize("path", healthy(), ids=recordings.name_of)
@pytest.mark.parametrize("exit_code", [None, 0])
def test_healthy_logs_raise_no_alarm(path: Path, exit_code: int | None) -> None:
    """Precision: warnings, aborted requests and the noise of a clean stop are no failures."""
    assert diagnose.matches(recordings.lines(path), exit_code, SIGNATURES) == []


@pytest.mark.parametrize("name", ["main-then-kill9-enginecore", "kill9-api-server"])
def test_requests_that_were_refused_are_no_failure_of_the_engine(name: str) -> None:
    """Clients send wrong models and wrong keys all the time."""
    lines = load(f"lifecycle/{name}.log")
    until = next((n for n, line in enumerate(lines) if "Parent process exited" in line), len(lines))

    assert diagnose.diagnose(lines[:until], None, SIGNATURES) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "java.lang.OutOfMemoryError: Java heap space",
        "OutOfMemoryError: Java heap space",
        "If you see OutOfMemoryError, lower the batch.",
        "torch.OutOfMemoryError is raised by the allocator",
        "except torch.cuda.OutOfMemoryError as error:",
        "What does CUDA out of memory mean?",
        "To avoid CUDA out of memory, lower gpu_memory_utilization.",
    ],
)
def test_a_sentence_about_memory_is_no_cards_failure(sentence: str) -> None:
    """A log of a whole pod holds other programs, and what people ask the model about."""
    assert diagnose.matches([sentence], None, SIGNATURES) == []


@pytest.mark.parametrize(
    "line",
    [
        "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory.",
        "  | torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB",
        "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 58.00 MiB.",
        "OutOfMemoryError: CUDA out of memory.",
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.77 GiB total)",
    ],
)
def test_a_cards_own_word_for_it_is_one(line: str) -> None:
    """However torch, its version and the collector of the log spell it."""
    assert [one.code for one in diagnose.matches([line], None, SIGNATURES)] == [
        "gpu-memory-exhausted"
    ]


def test_every_signature_has_a_log() -> None:
    """A pattern that nobody ever saw match is a guess."""
    assert {signature.id for signature in SIGNATURES} == {code for _, _, code in CASES}


@pytest.mark.parametrize(("name", "exit_code", "code"), CASES, ids=IDS)
def test_evidence_is_the_cause_and_not_the_last_line(
    name: str, exit_code: int | None, code: str
) -> None:
    """`Engine core initialization failed. See root cause above.` helps nobody."""
    error = diagnose.matches(load(name), exit_code, SIGNATURES)[0]

    if exit_code in (None, 0, 1, 2):
        assert error.evidence
    if code != "engine-start-failed":
        assert not any("See root cause above" in line for line in error.evidence)
    if code != "engine-dead":
        assert not any("EngineDeadError" in line for line in error.evidence)
    assert not any(re.match(r"\([\w-]+ pid=", line) for line in error.evidence)


def test_a_kv_refusal_carries_the_engines_own_estimate() -> None:
    """The remedy button sets the context to a number that will work."""
    error = diagnose.diagnose(load("failures/maxlen-too-large-kv.log"), 1, SIGNATURES)

    assert error is not None
    assert error.message == (
        "A request of 32,768 tokens needs 0.12 GiB of KV cache; 0.06 GiB is available."
    )
    assert error.hint == "Lower max_model_len to 16256 or less, or give the KV cache 0.12 GiB."
    assert error.data == {
        "max_model_len": 32768,
        "needed_gib": 0.12,
        "available_gib": 0.06,
        "fitting_model_len": 16256,
        "needed_bytes": 130137509,
        "exit_code": 1,
    }
    assert error.evidence[0].startswith("ValueError: To serve at least one request")


def test_a_kv_refusal_without_estimate_still_has_a_remedy() -> None:
    """Older engines estimate nothing."""
    line = (
        "ValueError: To serve at least one request with the models's max seq len (8192), (1.00 GiB"
        " KV cache is needed, which is larger than the available KV cache memory (0.50 GiB)."
    )

    error = diagnose.diagnose([line], 1, SIGNATURES)

    assert error is not None
    assert error.hint == "Lower max_model_len by half, or give the KV cache 1.0 GiB."


def test_an_unknown_failure_names_its_root_cause() -> None:
    """Also when there is no signature for it: the first exception, not the last."""
    error = diagnose.diagnose(load("assembled/engine-start-failed.log"), 1, SIGNATURES)

    assert error is not None
    assert error.message == (
        "The engine failed while starting: "
        "AssertionError: a sentence that no entry of the catalogue knows"
    )


def test_what_an_engine_says_after_it_was_told_to_stop_counts_for_nothing() -> None:
    """A drained engine prints EngineDeadError; that is how it says goodbye."""
    lines = load("boot/smollm2-f32-eager.log")
    late = "(EngineCore pid=1) ERROR 11-29 13:00:00 [c.py:1] EngineCore encountered a fatal error."

    assert diagnose.diagnose([*lines, late], 0, SIGNATURES) is None


def test_of_a_log_with_several_boots_the_last_one_counts() -> None:
    """A pasted log often begins with yesterday."""
    lines = load("failures/maxlen-too-large-kv.log")
    stop = "(APIServer pid=1) INFO 11-29 13:00:00 [l:1] [shutdown] API server: shutdown triggered"

    healthy_after = [*lines, stop, *load("boot/smollm2-f32-eager.log")]
    failed_after = [*load("boot/smollm2-f32-eager.log"), *lines]

    assert diagnose.diagnose(healthy_after, 0, SIGNATURES) is None
    error = diagnose.diagnose(failed_after, 1, SIGNATURES)
    assert error is not None
    assert error.code == "kv-cache-too-small"


def test_a_running_engine_without_a_word_of_failure_has_no_diagnosis() -> None:
    """Nothing is ever guessed."""
    assert diagnose.diagnose([], None, SIGNATURES) is None
    assert diagnose.diagnose([], 0, SIGNATURES) is None
    assert diagnose.diagnose(["something went by"], 1, SIGNATURES) is None


def test_a_long_log_is_diagnosed_quickly() -> None:
    """The service must not stall while it looks at a whole ring of lines."""
    lines = (load("cuda/r0-engine-dies-while-serving/boot.log") * 4)[:5000]

    started = time.process_time()
    diagnose.diagnose(lines, 0, SIGNATURES)

    assert time.process_time() - started < 0.5


def test_root_causes_stand_before_what_follows_from_them() -> None:
    """Who reads the first match only must read the one that can be mended."""
    found = diagnose.matches(
        load("lifecycle/hybrid-float32-crash-on-first-request.log"), 0, SIGNATURES
    )

    assert [one.code for one in found] == [
        "hybrid-needs-bfloat16", "worker-crashed", "engine-crashed", "engine-dead",
    ]  # fmt: skip


def test_a_cause_that_was_said_late_stands_before_its_early_consequence() -> None:
    """NCCL's watchdog of one card speaks before the card that ran out of memory."""
    lines = [
        "RuntimeError: NCCL error: remote process exited or there was a network error",
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    ]

    found = diagnose.matches(lines, None, SIGNATURES)

    assert [one.code for one in found] == ["gpu-memory-exhausted", "nccl-failed", "engine-dead"]


def test_what_one_request_ran_into_is_no_death_of_the_engine() -> None:
    """A client without a tool parser did not kill the engine that the system killed later."""
    lines = [*load("assembled/tools-not-enabled.log")]

    assert diagnose.diagnose(lines, None, SIGNATURES) is None
    error = diagnose.diagnose(lines, -9, SIGNATURES)
    assert error is not None
    assert error.code == "engine-killed"


def test_a_container_that_starts_again_and_again_is_diagnosed_by_its_last_whole_boot() -> None:
    """Such a log ends in the middle of a boot that says nothing yet."""
    begun = load("boot/smollm2-f32-eager.log")[:20]

    error = diagnose.diagnose([*load("failures/maxlen-too-large-kv.log"), *begun], None, SIGNATURES)

    assert error is not None
    assert error.code == "kv-cache-too-small"


def test_an_echo_is_no_cause() -> None:
    """The core says that its executor failed because a worker was killed; that names nobody."""
    echo = "RuntimeError: Executor failed."
    unnamed = ["WorkerProc hit an exception.", echo]
    named = ["Worker proc VllmWorker-1 died unexpectedly, shutting down executor.", echo]

    found = [diagnose.diagnose(lines, None, SIGNATURES) for lines in (unnamed, named)]

    assert [one.message for one in found if one is not None] == [
        "A process of the engine died.",
        "The engine's process VllmWorker-1 died.",
    ]
    assert all("`weir report`" in one.remedies[1].text for one in found if one is not None)


@pytest.mark.parametrize("code", ["engine-core-died", "worker-crashed", "engine-killed"])
def test_a_restart_is_called_one(code: str) -> None:
    """`weir fix 1` does what it says and nothing else; what a person can do stands apart."""
    signature = next(one for one in SIGNATURES if one.id == code)

    taken = [one for one in signature.remedies if one.kind is RemedyKind.RESTART]

    assert [one.text.split(",")[0].rstrip(".") for one in taken] == ["Start it again as it was"]
    assert not [
        one
        for one in signature.remedies
        if one.kind is RemedyKind.RESTART_WITH and "Look for" in one.text
    ]


def test_a_full_card_is_told_by_when_it_was_full() -> None:
    """What a boot needs and what a long prompt needs are mended in different ways."""
    line = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 58.00 MiB."
    served = "INFO:     Application startup complete."

    at_boot = diagnose.diagnose([line], None, SIGNATURES)
    later = diagnose.diagnose([served, line], None, SIGNATURES)

    assert at_boot is not None
    assert later is not None
    assert (at_boot.code, later.code) == ("gpu-memory-exhausted", "gpu-memory-while-serving")


def test_a_remedy_sets_what_the_engine_itself_found() -> None:
    """The button lowers the share to what is free, not to a guess."""
    line = (
        "ValueError: Free memory on device cuda:0 (12.1/31.74 GiB) on startup is less than desired "
        "GPU memory utilization (0.9, 28.57 GiB)."
    )

    error = diagnose.diagnose([line], 1, SIGNATURES)

    assert error is not None
    assert error.remedies[0].kind is RemedyKind.RESTART_WITH
    assert error.remedies[0].settings == {"gpu_memory_utilization": "0.38"}
    assert error.remedies[0].can_apply


def test_a_very_long_log_takes_little_memory_and_keeps_what_counts() -> None:
    """A cause between two million lines of noise is still found."""
    noise = (f"RuntimeError: request {number} was aborted" for number in range(60_000))
    cause = "OSError: [Errno 28] No space left on device"
    more = (f"RuntimeError: another {number} was aborted" for number in range(60_000))
    hearing = Hearing()

    hearing.take([*noise, cause, *more])

    assert len(hearing.boot.messages) < 10_000
    found = diagnose.matches_heard(hearing, None, SIGNATURES)
    assert found[0].code == "engine-disk-full"


def test_a_hostile_log_cannot_hold_the_service_up() -> None:
    """Prompts and client input reach the log; patterns must stay linear on them."""
    baits = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ",
        "HFValidationError: Repo id must be in the form ",
        "To serve at least one request with the model's max seq len (1), (",
        "OSError: [Errno 98] ",
        "  Value error, ",
        "A" * 40 + ".",
    )
    lines = [bait * (60_000 // len(bait)) for bait in baits for _ in range(20)]

    started = time.process_time()
    diagnose.diagnose(lines, 1, SIGNATURES)

    assert time.process_time() - started < 1.0
