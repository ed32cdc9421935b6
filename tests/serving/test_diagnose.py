"""Causes of failures, found in every recorded and assembled log, and in no healthy one."""

import json
import re
import time
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, EngineFailed, NotFound, from_info
from studio.serving import diagnose
from tests.fakes import recordings

FILE = Path(__file__).resolve().parents[2] / "runtimes" / "failures.toml"
SIGNATURES = diagnose.load(FILE)
ENGINE = recordings.ENGINE

EXIT_CODES: dict[str, dict[str, int]] = json.loads(
    (ENGINE / "failures" / "exit-codes.json").read_text(encoding="utf-8")
)

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
    ("assembled/engine-start-failed.log", 1, "engine-start-failed"),
    ("assembled/engine-exited.log", 1, "engine-exited"),
    ("assembled/engine-crashed.log", 0, "engine-crashed"),
    ("assembled/engine-aborted.log", -6, "engine-aborted"),
    ("assembled/worker-crashed.log", 0, "worker-crashed"),
    ("assembled/option-value.log", 2, "option-value"),
    *(
        (f"assembled/{code}.log", 1, code)
        for code in (
            "too-many-open-files",
            "engine-disk-full",
            "kv-cache-no-room",
            "gpu-memory-taken",
            "gpu-memory-exhausted",
            "model-damaged",
            "model-weights-missing",
            "model-unsupported",
            "tool-parser-unknown",
            "library-missing",
            "settings-refused",
        )
    ),
    ("boot/small-kv-preemption.log", -11, "engine-segfault"),
    ("boot/dummy-load-format.log", 132, "engine-illegal-instruction"),
    ("boot/tp2-two-api-servers.log", -7, "engine-bus-error"),
]
IDS = [f"{name} {code}" for name, _exit, code in CASES]


def load(name: str) -> list[str]:
    """Return the lines of a log in tests/data/engine."""
    return recordings.lines(ENGINE / name)


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
def test_every_failure_is_recognised(name: str, exit_code: int, code: str) -> None:
    """Recall: a cause and a remedy instead of a traceback."""
    error = diagnose.diagnose(load(name), exit_code, SIGNATURES)

    assert error is not None
    assert error.code == code
    assert "{" not in error.message
    assert error.hint
    assert error.exit_status == 5
    assert isinstance(from_info(error), EngineFailed)


@pytest.mark.parametrize(("name", "exit_code", "code"), CASES, ids=IDS)
def test_no_failure_is_recognised_by_process_time_or_place(
    name: str, exit_code: int, code: str
) -> None:
    """A stranger's log has other paths, other times and other line numbers."""
    error = diagnose.diagnose(shuffled(load(name)), exit_code, SIGNATURES)

    assert error is not None
    assert error.code == code


@pytest.mark.parametrize("path", recordings.healthy(), ids=recordings.name_of)
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


def test_every_signature_has_a_log() -> None:
    """A pattern that nobody ever saw match is a guess."""
    assert {signature.id for signature in SIGNATURES} == {code for _, _, code in CASES}


@pytest.mark.parametrize(("name", "exit_code", "code"), CASES, ids=IDS)
def test_evidence_is_the_cause_and_not_the_last_line(name: str, exit_code: int, code: str) -> None:
    """`Engine core initialization failed. See root cause above.` helps nobody."""
    error = diagnose.diagnose(load(name), exit_code, SIGNATURES)

    assert error is not None
    if exit_code in (0, 1, 2):
        assert error.evidence
    if code != "engine-start-failed":
        assert not any("See root cause above" in line for line in error.evidence)
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
    assert error.hint == "Lower max_model_len, or give the KV cache 1.0 GiB."


def test_an_unknown_failure_names_its_root_cause() -> None:
    """Also when there is no signature for it: the first exception, not the last."""
    error = diagnose.diagnose(load("assembled/engine-start-failed.log"), 1, SIGNATURES)

    assert error is not None
    assert error.message == (
        "The engine failed while starting: "
        "KeyError: 'model.layers.0.self_attn.qkv_proj.weight_scale'"
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

    started = time.perf_counter()
    diagnose.diagnose(lines, 0, SIGNATURES)

    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("schema_version = 2\nsignature = []", "schema_version"),
        ('schema_version = 1\n[[signature]]\nid = "one"\npatterns = ["x"]\ncause = ["c"]', "id is"),
        ('schema_version = 1\n[[signature]]\nid = "a-b"\ncause = ["c"]', "either patterns or"),
        (
            'schema_version = 1\n[[signature]]\nid = "a-b"\npatterns = ["("]\ncause = ["c"]',
            "pattern",
        ),
        (
            'schema_version = 1\n[[signature]]\nid = "a-b"\npatterns = ["x"]\ncause = ["{y}"]',
            "{y}",
        ),
        (
            'schema_version = 1\n[[signature]]\nid = "a-b"\npatterns = ["x"]\ncause = ["{"]',
            "`{`",
        ),
        (
            'schema_version = 1\n[[signature]]\nid = "a-b"\npattern = ["x"]\ncause = ["c"]',
            "pattern",
        ),
        (
            "schema_version = 1"
            + 2 * '\n[[signature]]\nid = "a-b"\npatterns = ["x"]\ncause = ["c"]',
            "twice",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    """People add signatures without touching the code; their mistakes must be found at once."""
    path = tmp_path / "failures.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadInput) as caught:
        diagnose.load(path)

    assert caught.value.code == "document-invalid"
    assert complaint in caught.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A catalogue of one's own may lack it."""
    with pytest.raises(NotFound):
        diagnose.load(tmp_path / "failures.toml")


def test_words_for_people_keep_the_house_style() -> None:
    """Sentence case, a full stop, no exclamation mark, no `please`, no `simply`."""
    for signature in SIGNATURES:
        for sentence in (*signature.cause, *signature.remedy):
            assert sentence[0].isupper()
            assert sentence.endswith((".", "}"))
            assert not re.search(r"!|\b[Pp]lease\b|\b[Ss]imply\b|\b[Ss]orry\b", sentence)


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

    started = time.perf_counter()
    diagnose.diagnose(lines, 1, SIGNATURES)

    assert time.perf_counter() - started < 1.0
