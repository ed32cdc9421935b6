"""Preset, overrides and facts to values: order, rules, placeholders."""

from typing import Any

import msgspec
import pytest

from studio.domain.errors import BadInput
from studio.domain.rules import Facts
from studio.presets import resolve
from tests.presets.samples import FACTS, knob, preset, resolved

KNOBS = {
    "max_model_len": knob(default=2048, minimum=16, maximum=8192),
    "max_num_seqs": knob(default=4),
    "draft_tokens": knob(default=7, within="speculative_config.num_speculative_tokens"),
    "space": knob(environment="ENGINE_SPACE", default=1),
    "eager": knob("bool", environment="ENGINE_EAGER"),
    "offload": knob(flag="kv-offloading-size"),
    "mode": knob("str", default="off", internal=True),
}
STRUCTURED = {"speculative_config": {"method": "dflash", "model": "{drafter}"}}
WSL = msgspec.structs.replace(FACTS, is_wsl=True)


def with_rule(**rule: Any) -> Any:
    """Return a preset with one rule."""
    return preset(
        knobs=KNOBS, structured=STRUCTURED, environment={"A": "1"}, fixed={"seed": 0},
        rules=[{"name": "r", "why": "For tests.", **rule}],
    )  # fmt: skip


def test_knobs_become_arguments_variables_or_parts_of_json() -> None:
    """One list of knobs for a person, whatever carries them."""
    made = resolved(preset(knobs=KNOBS, structured=STRUCTURED, fixed={"seed": 0, "x": True}))

    assert made.arguments == (
        "--max-model-len", "2048", "--max-num-seqs", "4", "--seed", "0", "--x",
        "--speculative-config", '{"method":"dflash","model":"DRAFTER","num_speculative_tokens":7}',
    )  # fmt: skip
    assert made.environment == {"ENGINE_SPACE": "1"}
    assert made.settings["draft_tokens"] == 7
    assert made.settings["speculative_config"]["num_speculative_tokens"] == 7
    assert made.settings["seed"] == 0


def test_what_a_person_types_stays_whatever_the_rules_say() -> None:
    """A rule changes defaults."""
    chosen = with_rule(when={"wsl": True}, set={"max_model_len": 1024, "max_num_seqs": 2})

    made = resolved(chosen, WSL, max_model_len="4K", offload="8", eager="on")

    assert made.knobs["max_model_len"] == 4096
    assert made.knobs["max_num_seqs"] == 2
    assert made.rules == ("r",)
    assert made.overrides == {"max_model_len": "4K", "offload": "8", "eager": "on"}
    assert made.environment["ENGINE_EAGER"] == "1"
    assert made.arguments[4:6] == ("--kv-offloading-size", "8")


def test_a_rule_whose_condition_does_not_hold_does_nothing() -> None:
    """Not here, and not where nobody knows."""
    chosen = with_rule(when={"wsl": True}, set={"max_model_len": 1024}, badge="WSL")

    for facts in (FACTS, msgspec.structs.replace(FACTS, is_wsl=False)):
        made = resolved(chosen, facts)
        assert made.knobs["max_model_len"] == 2048
        assert made.rules == made.badges == ()


def test_a_rule_may_leave_things_out_and_lay_keys_over_json() -> None:
    """A knob loses its default, an argument, a variable and JSON go."""
    out = resolved(with_rule(unset=["max_num_seqs", "seed", "A", "speculative_config"]))
    over = resolved(with_rule(structured={"speculative_config": {"method": "mtp", "new": [1]}}))

    assert out.arguments == ("--max-model-len", "2048")
    assert "A" not in out.environment
    assert resolved(with_rule(unset=["max_num_seqs"]), max_num_seqs="3").knobs["max_num_seqs"] == 3
    assert over.settings["speculative_config"] == {
        "method": "mtp", "model": "DRAFTER", "new": [1], "num_speculative_tokens": 7,
    }  # fmt: skip


def test_later_rules_see_what_earlier_ones_did() -> None:
    """That is how `two cards` and `no pin on two cards` are two rules."""
    chosen = preset(
        knobs=KNOBS,
        rules=[
            {"name": "a", "why": "", "when": {"wsl": True}, "set": {"max_num_seqs": 2}},
            {
                "name": "b", "why": "",
                "when": {"settings": {"max_num_seqs": {"below": 3}}},
                "set": {"mode": "two"},
            },
        ],
    )  # fmt: skip

    assert resolved(chosen, WSL).knobs["mode"] == "two"
    assert resolved(chosen).knobs["mode"] == "off"
    assert resolved(chosen, max_num_seqs="1").rules == ("b",)


def test_numbers_are_derived_and_keep_their_kind_in_json() -> None:
    """The largest graph is what all seats need, at most 64."""
    chosen = preset(
        knobs=KNOBS,
        derived={
            "verify": {"of": ["draft_tokens"], "plus": 1},
            "graph": {"of": ["max_num_seqs", "verify"], "at_most": 64},
            "none": {"of": ["missing"]},
        },
        structured={"compilation_config": {"size": "{graph}", "gone": "{none}"}},
        environment={"QMAX": "{verify}", "TEXT": "up to {graph}"},
    )

    assert resolved(chosen).settings["compilation_config"] == {"size": 32}
    assert resolved(chosen).environment == {
        "QMAX": "8", "TEXT": "up to 32", "ENGINE_SPACE": "1",
    }  # fmt: skip
    assert resolved(chosen, max_num_seqs="9").settings["compilation_config"] == {"size": 64}


def test_folders_are_filled_in_and_doubled_braces_are_the_engine_s_own() -> None:
    """A path may hold blanks and other letters."""
    chosen = preset(
        knobs=KNOBS, structured=STRUCTURED, environment={"LUT": "{cache}/t-{{device}}.json"},
        arguments=["--extra", "{model}"],
    )  # fmt: skip
    places = {"model": "/m ü", "drafter": "/d", "cache": "/c"}

    made = resolve.resolve(chosen, FACTS, {}, places)

    assert made.settings["speculative_config"]["model"] == "/d"
    assert made.environment["LUT"] == "/c/t-{device}.json"
    assert made.arguments[-2:] == ("--extra", "/m ü")


def test_what_a_person_types_is_never_taken_for_a_placeholder() -> None:
    """Regular expressions have braces."""
    chosen = preset(knobs={"layers": knob("str", environment="LAYERS")})

    assert resolved(chosen, layers="a{2} {moon}").environment == {"LAYERS": "a{2} {moon}"}


def test_an_unknown_placeholder_is_refused() -> None:
    """A preset from a newer version must not run with a hole in its command."""
    with pytest.raises(BadInput) as caught:
        resolved(preset(environment={"A": "{moon}"}))

    assert caught.value.code == "placeholder-unknown"


def test_sentences_say_the_values() -> None:
    """Numbers as people read them, switches in words."""
    chosen = preset(
        knobs=KNOBS,
        refusals=[
            {
                "name": "no",
                "when": {"settings": {"max_model_len": {"above": 4000}}},
                "sentence": "{max_model_len} with {eager} and {mode}, {offload}",
                "hint": "Less than {max_model_len}.",
            }
        ],
    )

    (finding,) = resolved(chosen, max_model_len="8192", eager="off").refusals

    assert finding.sentence == "8,192 with off and off, –"
    assert finding.hint == "Less than 8,192."
    assert resolved(chosen).refusals == ()


def test_a_refusal_is_raised_when_it_is_required() -> None:
    """With its name, for programs."""
    chosen = preset(
        knobs=KNOBS,
        refusals=[
            {"name": "one", "when": {}, "sentence": "First.", "hint": "Do."},
            {"name": "two", "when": {}, "sentence": "Second."},
        ],
    )

    with pytest.raises(BadInput, match=r"First\.") as caught:
        resolve.require(resolved(chosen))

    assert caught.value.data == {"refusal": "one"}
    assert caught.value.evidence == ("Second.",)


def test_cards_and_badges_are_carried_along() -> None:
    """What the command and the list need."""
    chosen = preset(badges=["A"], rules=[{"name": "r", "why": "", "badge": "B"}])

    made = resolved(chosen, Facts(runtime="x", gpus=(1, 0)))

    assert made.gpus == (1, 0)
    assert made.badges == ("A", "B")
