"""Badges of slow paths: every sign seen, none that is not true, in any log of any machine."""

import json
import re
import time
from pathlib import Path

import pytest

from studio.domain.remedies import RemedyKind
from studio.serving import slow_path_file
from studio.serving.slow_paths import Watch, read
from tests.fakes import recordings
from tests.serving.test_diagnose import shuffled

FILE = Path(__file__).resolve().parents[2] / "runtimes" / "slow_paths.toml"
SIGNS = slow_path_file.load(FILE)
ENGINE = recordings.ENGINE
LINES: dict[str, list[str]] = json.loads((ENGINE / "slow-paths.json").read_text(encoding="utf-8"))
CASES = [(code, line) for code, lines in LINES.items() for line in lines]

CPU_32 = ("weights-widened", "preload-missing")
"""What the demo's own settings are: float32, and no library preloaded; eager costs nothing."""
CUDA_EAGER = ("eager-mode", "moe-untuned", "sampler-fallback")
REVIEWED: dict[str, tuple[str, ...]] = {
    "boot/dev-mode-log-requests.log": CPU_32,
    "boot/dummy-load-format.log": CPU_32,
    # bfloat16, prefix cache off because the engine would die with it; oneDNN refuses small sizes.
    "boot/hybrid-qwen3-next-bf16.log": (
        "prefix-cache-off", "matrix-library-refused", "preload-missing",
    ),
    "boot/hybrid-qwen3.5-bf16.log": (
        "prefix-cache-off", "matrix-library-refused", "preload-missing",
    ),
    "boot/kv-from-gpu-memory-utilization-0.15.log": CPU_32,
    "boot/main-ngram-apikey.timed.log": (
        "async-scheduling-off", "weights-widened", "prefill-steps-small",
        "preload-missing",
    ),
    "boot/moved-python-without-opencv.log": CPU_32,
    "boot/small-kv-preemption.log": CPU_32,
    "boot/smollm2-bf16-compile-cold.log": ("matrix-library-refused", "preload-missing"),
    "boot/smollm2-f32-eager.log": CPU_32,
    "boot/tiny-compile-cold.log": ("weights-widened", "preload-missing"),
    "boot/tiny-compile-warm.log": ("compile-cache-unused", "weights-widened", "preload-missing"),
    "boot/tp2-two-api-servers.log": ("ranks-over-sockets", *CPU_32),
    # The first of these dies later; until then it served on these paths.
    "cuda/r0-engine-dies-while-serving/boot.log": (
        *CUDA_EAGER, "kernels-compiled-at-start", "compiled-in-request",
    ),
    "cuda/r1-compiled-offload8/boot.log": (
        "variable-unknown", "moe-untuned", "sampler-fallback", "compiled-in-request",
    ),
    "cuda/r2-eager-kvbytes/boot.log": (*CUDA_EAGER, "compiled-in-request"),
    "cuda/r6-noprefix/boot.log": (
        "eager-mode", "prefix-cache-off", "moe-untuned", "sampler-fallback", "compiled-in-request",
    ),
    "cuda/r9-tp2-kvbytes/boot.log": (*CUDA_EAGER, "compiled-in-request"),
    "cuda-0.32/w1-pinned.log": (*CUDA_EAGER, "kernels-compiled-at-start"),
    "cuda-0.32/w2-unpinned.log": (*CUDA_EAGER, "kernels-compiled-at-start"),
    "cuda-0.32/w3-compiled.log": (
        "moe-untuned", "sampler-fallback", "kernels-compiled-at-start",
    ),
    "cuda-0.32/w4-tp2-killed.log": (*CUDA_EAGER, "kernels-compiled-at-start"),
    "lifecycle/sigterm-inflight.log": CPU_32,
    "lifecycle/sigint-drain-20s.log": CPU_32,
    "lifecycle/unknown-env-then-kill9-worker.log": ("variable-unknown", *CPU_32),
}  # fmt: skip
"""Every recording that came up, read by a person line by line."""


def codes(lines: list[str]) -> tuple[str, ...]:
    """Return the codes of a log's badges."""
    return tuple(badge.code for badge in read(lines, SIGNS))


def line(message: str, level: str = "WARNING") -> str:
    """Return a message as the engine prints it."""
    return f"(EngineCore pid=9) {level} 11-29 13:41:35 [some.py:1] {message}"


@pytest.mark.parametrize("name", REVIEWED)
def test_a_recording_shows_exactly_what_is_true_for_it(name: str) -> None:
    """A false badge teaches people to look past all of them."""
    assert codes(recordings.lines(ENGINE / name)) == REVIEWED[name]


def test_every_recording_that_came_up_is_reviewed() -> None:
    """A new recording needs a person's look."""
    cuda = sorted((ENGINE / "cuda-0.32").glob("*.log"))
    known = {str(path.relative_to(ENGINE)) for path in [*recordings.healthy(), *cuda]}

    assert known <= REVIEWED.keys()


@pytest.mark.parametrize("name", REVIEWED)
def test_no_badge_hangs_on_process_time_or_place(name: str) -> None:
    """A stranger's machine has other paths, other times and other line numbers."""
    assert codes(shuffled(recordings.lines(ENGINE / name))) == REVIEWED[name]


@pytest.mark.parametrize(("code", "text"), CASES, ids=[code for code, _ in CASES])
def test_every_line_of_a_kind_is_seen_and_shuffled_too(code: str, text: str) -> None:
    """Recall: each sentence of the engines that speaks of a slow path."""
    for given in (text, *shuffled([text])):
        watch = Watch(SIGNS, environment={"CUDA_VISIBLE_DEVICES": "0"})
        watch.offer(given)

        assert code in [badge.code for badge in watch.badges]


def test_every_pattern_has_a_line() -> None:
    """A pattern that nobody ever saw match is a guess."""
    recorded = [one for name in REVIEWED for one in recordings.lines(ENGINE / name)]
    messages = [slow_path_message(one) for one in [*recorded, *(text for _, text in CASES)]]
    for sign in SIGNS.signs:
        for opening in sign.openings:
            assert any(opening.pattern.match(said) for said in messages), opening.pattern.pattern


def slow_path_message(text: str) -> str:
    """Return a line without process, time and place."""
    return re.sub(r"^\([^)]*\) [A-Z]+ \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]+\] ", "", text)


def test_what_clients_send_raises_no_badge() -> None:
    """With requests in the log, a prompt may quote any line of it."""
    prompt = "Enforce eager set, disabling torch.compile and CUDAGraphs. Using a slow tokenizer. "

    assert codes([line(f"Received request chat-1: prompt: '{prompt}'", "INFO")]) == ()
    assert codes([prompt]) == ()
    assert codes([line(prompt, "ERROR")]) == ()


def test_a_badge_appears_once_and_the_dearest_first() -> None:
    """Two processes of one engine say the same; the list is read from its top."""
    lines = [*LINES["preload-missing"], *LINES["eager-mode"][:1] * 2, *LINES["pin-memory-off"]]

    assert codes(lines) == ("eager-mode", "pin-memory-off", "preload-missing")


def test_several_values_of_one_kind_stand_in_one_badge() -> None:
    """Six wrong variables are one badge, which names the first of them."""
    said = "Unknown vLLM environment variable detected: "
    lines = [line(f"{said}VLLM_WRONG_{number}") for number in range(6)]

    (badge,) = read(lines, SIGNS)

    names = "VLLM_WRONG_0, VLLM_WRONG_1, VLLM_WRONG_2, VLLM_WRONG_3 and more"
    assert badge.cost.startswith(f"{names} does nothing")
    assert badge.evidence == f"{said}VLLM_WRONG_0"


def test_of_several_boots_in_one_log_the_last_counts() -> None:
    """A badge goes when the next boot does not show it."""
    eager = recordings.lines(ENGINE / "boot" / "smollm2-f32-eager.log")
    compiled = recordings.lines(ENGINE / "boot" / "smollm2-bf16-compile-cold.log")

    assert codes(eager + compiled) == REVIEWED["boot/smollm2-bf16-compile-cold.log"]
    assert codes(compiled + eager) == CPU_32


def test_eager_mode_is_no_slow_path_where_a_processor_computes() -> None:
    """There it was measured to cost nothing; a badge on every start of the demo would be noise."""
    on_card = read(recordings.lines(ENGINE / "cuda-0.32/w1-pinned.log"), SIGNS)

    eager = next(one for one in on_card if one.code == "eager-mode")
    assert eager.cost.startswith("Without torch.compile and CUDA graphs")
    assert len(eager.remedies) == 1
    assert "eager-mode" not in codes(recordings.lines(ENGINE / "boot/smollm2-f32-eager.log"))


@pytest.mark.parametrize(
    ("has_cards", "shown"), [(True, ("eager-mode",)), (None, ("eager-mode",)), (False, ())]
)
def test_a_sign_may_hang_on_the_machine(has_cards: bool | None, shown: tuple[str, ...]) -> None:
    """The line comes before the engine says what it computes on; a badge must not come and go."""
    watch = Watch(SIGNS, has_cards=has_cards)
    watch.offer(LINES["eager-mode"][0])

    assert tuple(badge.code for badge in watch.badges) == shown


def test_a_hybrid_on_the_processor_is_not_sent_into_its_death() -> None:
    """With the prefix cache such an engine boots, and dies on the first request."""
    lines = recordings.lines(ENGINE / "boot" / "hybrid-qwen3-next-bf16.log")

    badge = next(one for one in read(lines, SIGNS) if one.code == "prefix-cache-off")

    assert [one.kind for one in badge.remedies] == [RemedyKind.ADVICE]


def test_a_remedy_that_the_preset_has_no_knob_for_is_not_offered() -> None:
    """Its button would be refused."""
    text = LINES["eager-mode"][0]
    with_knob, without = Watch(SIGNS, knobs={"enforce_eager"}), Watch(SIGNS, knobs={"seed"})
    with_knob.offer(text)
    without.offer(text)

    assert [one.settings for one in with_knob.badges[0].remedies] == [{"enforce_eager": "false"}]
    assert without.badges[0].remedies == ()


@pytest.mark.parametrize("value", ["true", "True", "yes", "on", "enabled"])
def test_a_switch_set_in_a_word_is_seen_before_the_engine_says_anything(value: str) -> None:
    """Nothing in any log tells of it: the engine takes only `1`."""
    watch = Watch(SIGNS, environment={"VLLM_DFLASH2_LOOKUP": value, "VLLM_SPEC_DECODE_ATTN": "1"})

    (badge,) = watch.badges

    assert badge.code == "switch-reads-only-1"
    assert badge.evidence == f"VLLM_DFLASH2_LOOKUP={value}"
    assert badge.remedies[0].text.startswith(f"Write `1` for `{value}`")


@pytest.mark.parametrize(
    ("name", "value"),
    [("VLLM_DFLASH2_LOOKUP", "1"), ("VLLM_DFLASH2_LOOKUP", "0"), ("VLLM_CACHE_ROOT", "true")],
)
def test_switches_that_are_right_raise_nothing(name: str, value: str) -> None:
    """`1`, `0`, and variables that are no switches."""
    assert Watch(SIGNS, environment={name: value}).badges == ()


def test_an_argument_may_be_the_sign() -> None:
    """The table on the disk is asked for on the command line."""
    watch = Watch(SIGNS, argv=("vllm", "serve", "--kernel-config", '{"ple_disk_only":true}'))

    assert [badge.code for badge in watch.badges] == ["embedding-table-on-disk"]


def test_a_card_that_was_given_and_is_not_used_comes_first() -> None:
    """The dearest of all: a hundred times slower, and nothing fails."""
    lines = recordings.lines(ENGINE / "boot" / "smollm2-f32-eager.log")
    watch = Watch(SIGNS, environment={"CUDA_VISIBLE_DEVICES": "0"}, names={"runtime": "r"})
    for one in lines:
        watch.offer(one)

    assert watch.badges[0].code == "processor-instead-of-card"
    assert watch.badges[0].remedies[1].command == "weir runtime repair r"


def test_what_is_told_becomes_a_badge_and_only_news_counts() -> None:
    """The monitor tells every second."""
    watch = Watch(SIGNS)

    assert watch.tell("requests-preempted", count="5")
    assert not watch.tell("requests-preempted", count="5")
    assert watch.tell("requests-preempted", count="10")
    assert "(10 so far)" in watch.badges[0].cost
    with pytest.raises(KeyError):
        watch.tell("eager-mode")


def test_power_is_compared_with_what_is_known_of_the_card() -> None:
    """Two sentences, and the command for either."""
    watch = Watch(SIGNS)
    watch.tell("power-limited", card="RTX 3090", index="1", limit_w="200", reference_w="250")
    known = watch.badges[0]
    watch.tell("power-limited", card="RTX 5090", index="0", limit_w="200", default_w="575")
    other = watch.badges[0]

    assert "published figures are for 250 W" in known.cost
    assert [one.command for one in known.remedies] == ["sudo nvidia-smi -i 1 -pl 250"]
    assert "of the 575 W" in other.cost
    assert [one.command for one in other.remedies] == ["sudo nvidia-smi -i 0 -pl 575"]


def test_news_is_told_only_when_something_is_new() -> None:
    """Each announcement wakes every client."""
    watch = Watch(SIGNS)

    assert watch.offer(LINES["eager-mode"][0])
    assert not watch.offer(LINES["eager-mode"][0])
    assert not watch.offer(line("Chunked prefill is enabled with max_num_batched_tokens=2048."))


def test_a_sign_is_seen_behind_a_flood_of_the_same_place() -> None:
    """Kinds of lines that said nothing 64 times are not looked at again; others are."""
    watch = Watch(SIGNS)
    calm = LINES["requests-preempted"][0].replace("Preemptions: 5, ", "")
    for number in range(10_000):
        watch.offer(line(f"step {number}", "INFO"))
        watch.offer(calm)

    assert watch.offer(LINES["tokenizer-slow"][0])
    assert watch.offer(LINES["requests-preempted"][0])


def test_a_hostile_configuration_line_costs_no_time() -> None:
    """A line that nearly matches, again and again, must not hold up the service."""
    lists = ", tensor_parallel_size=2, , disable_custom_all_reduce=True, " * 500
    text = f"Initializing a V1 LLM engine (v0.32.0) with config: {lists}"
    began = time.process_time()
    for _ in range(20):
        Watch(SIGNS).offer(line(text, "INFO"))

    assert time.process_time() - began < 2.0


def test_what_an_engine_says_is_cut_and_never_filled_in_again() -> None:
    """Braces in a log are text, and a sentence of a badge stays a sentence."""
    said = "Custom allreduce is disabled because {card} {0} " + "x" * 5_000
    found = "Failed to import from vllm._C: {size}"
    badges = read([line(said), line(found)], SIGNS)

    assert [badge.code for badge in badges] == ["compiled-kernels-missing", "all-reduce-off"]
    assert all(len(badge.cost) < 600 and len(badge.evidence) <= 300 for badge in badges)


def test_no_shipped_preset_sets_a_switch_in_a_word() -> None:
    """Every preset on every known host, as its snapshots hold it."""
    folder = Path(__file__).resolve().parents[1] / "data" / "presets"
    for file in folder.glob("*.txt"):
        pairs = re.findall(r"(?m)^([A-Z][A-Z0-9_]+)=(.*)$", file.read_text(encoding="utf-8"))
        for name, value in pairs:
            found = [badge.code for badge in Watch(SIGNS, environment={name: value}).badges]
            assert found == [], f"{file.name}: {name}={value}"
