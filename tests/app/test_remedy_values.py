"""Settings of remedies: those of the preset that failed, or words."""

from pathlib import Path

import pytest

from studio.app.remedy_values import fitted, plain
from studio.domain.errors import ErrorInfo
from studio.domain.manifests import Preset
from studio.domain.remedies import Remedy, RemedyKind
from studio.host.paths import Paths
from studio.presets.store import PresetStore
from tests.fakes.catalogue import PRESET, make_catalogue


@pytest.fixture
def preset(tmp_path: Path) -> Preset:
    """Return the fake preset: max_num_seqs is 16 by default, at least 1."""
    catalogue = make_catalogue(tmp_path / "catalogue")
    return PresetStore(Paths(home=tmp_path, catalogue=catalogue)).get(PRESET)


def error(**settings: str) -> ErrorInfo:
    """Return an error with one remedy that sets these."""
    remedy = Remedy(kind=RemedyKind.RESTART_WITH, text="Change it.", settings=settings)
    return ErrorInfo(code="a-b", message="It failed.", remedies=(remedy,))


@pytest.mark.parametrize(
    ("setting", "overrides", "expected"),
    [
        ({"max_num_seqs": "4"}, {}, {"max_num_seqs": "4"}),
        ({"max_num_seqs": "*0.5"}, {}, {"max_num_seqs": "8"}),
        ({"max_num_seqs": "*0.5"}, {"max_num_seqs": "5"}, {"max_num_seqs": "2"}),
        ({"max_num_seqs": "*0.5"}, {"max_num_seqs": "1"}, None),
        ({"max_num_seqs": "*100"}, {}, None),
        ({"max_num_seqs": "16"}, {}, None),
        ({"max_num_seqs": "many"}, {}, None),
        ({"tokens_per_s": "-50.5"}, {}, {"tokens_per_s": "149.5"}),
        ({"tokens_per_s": "-500"}, {}, None),
        ({"enforce_eager": "false"}, {}, {"enforce_eager": "false"}),
        ({"fault": "*0.5"}, {}, None),
        ({"unknown_knob": "1"}, {}, None),
        ({"max_num_seqs": "4", "unknown_knob": "1"}, {}, None),
    ],
)
def test_values_are_those_that_the_preset_takes(
    preset: Preset,
    setting: dict[str, str],
    overrides: dict[str, str],
    expected: dict[str, str] | None,
) -> None:
    """A button that is refused, or that changes nothing, is worse than a sentence."""
    (made,) = fitted(error(**setting), preset, overrides).remedies

    assert made.text == "Change it."
    if expected is None:
        assert (made.kind, made.settings) == (RemedyKind.ADVICE, {})
    else:
        assert (made.kind, made.settings) == (RemedyKind.RESTART_WITH, expected)


def test_other_remedies_stay_as_they_are(preset: Preset) -> None:
    """Only settings depend on the preset."""
    restart = Remedy(kind=RemedyKind.RESTART, text="Start again.")
    before = ErrorInfo(code="a-b", message="It failed.", remedies=(restart,))

    assert fitted(before, preset, {}) == before
    assert fitted(before, None, {}) == before


def test_without_a_preset_settings_are_words(preset: Preset) -> None:
    """A preset may have been deleted since."""
    assert fitted(error(max_num_seqs="4"), None, {}).remedies[0].kind is RemedyKind.ADVICE
    assert plain(error(max_num_seqs="4")).remedies[0].settings == {"max_num_seqs": "4"}
    assert plain(error(max_num_seqs="*0.5")).remedies[0].kind is RemedyKind.ADVICE
