"""The chooser."""

import msgspec

from studio.ui.state import Known, Link
from studio.ui.viewmodels.presets import chooser_view, proposed
from studio.ui.viewmodels.words import Shape
from tests.ui.fake_service import BARE_HOST, DEMO, FAST, HOST, READY

LIVE = Known(link=Link.LIVE, presets=(FAST, DEMO))


def test_the_first_that_fits_is_proposed() -> None:
    """The service sorts by rank; a preset that cannot run is no proposal."""
    assert proposed((FAST, DEMO)) == DEMO.id
    assert proposed((FAST,)) is None
    assert proposed(None) is None


def test_a_row_says_what_it_is_for_whom_and_whether_it_fits() -> None:
    """Title for the user, expert words beside, licence and origin always."""
    fast, demo = chooser_view(LIVE, DEMO.id).rows

    assert demo.chosen
    assert demo.verdict == "Suits this hardware"
    assert demo.download == "Downloads 584.6 MiB first"
    assert "licence Apache-2.0" in demo.origin
    assert fast.verdict == FAST.reasons[0]
    assert fast.verdict_shape is Shape.TRIANGLE
    assert fast.download == "Download size not known"


def test_nothing_to_download_is_said_as_such() -> None:
    """0 B would read like an error."""
    here = msgspec.structs.replace(DEMO, download_bytes=0)
    known = msgspec.structs.replace(LIVE, presets=(here,))

    assert chooser_view(known, None).rows[0].download == "All of it is on this machine"


def test_while_one_runs_the_chooser_switches() -> None:
    """The running one is marked and cannot be chosen again."""
    known = msgspec.structs.replace(LIVE, engine=READY)

    view = chooser_view(known, DEMO.id)

    assert view.heading == "Switch to another preset"
    assert view.button.text == "Switch to this preset"
    assert view.button.tooltip == "This preset runs now."
    assert not view.button.enabled
    assert view.rows[1].running


def test_the_button_says_why_not() -> None:
    """Each grey has its reason."""
    assert chooser_view(LIVE, DEMO.id).button.enabled
    assert chooser_view(LIVE, FAST.id).button.tooltip == FAST.reasons[0]
    assert chooser_view(LIVE, None).button.tooltip == "Choose a preset first."
    assert chooser_view(Known(), None).button.tooltip == "The service does not answer yet."
    assert chooser_view(Known(), None).empty == "The presets appear when the service answers."


def test_the_machine_is_told_card_by_card() -> None:
    """None, one or eight."""
    cards = tuple(msgspec.structs.replace(HOST.gpus[0], index=index) for index in range(8))
    eight = msgspec.structs.replace(HOST, gpus=cards)

    bare = dict(chooser_view(msgspec.structs.replace(LIVE, host=BARE_HOST), None).facts)
    many = dict(chooser_view(msgspec.structs.replace(LIVE, host=eight), None).facts)
    unknown = dict(chooser_view(LIVE, None).facts)

    assert bare["Card"].text == "No NVIDIA driver answers on this machine."
    assert many["Card 7"].text == "NVIDIA GeForce RTX 4090, 24.00 GiB"
    assert many["Card 0"].tooltip == "22.00 GiB free, driver 580.95.05"
    assert unknown["Memory"].text == "–"
