"""The strip, in every state."""

import msgspec
import pytest

from studio.domain.control import GatewayInfo
from studio.domain.events import Stage, StageProgress, StageState
from studio.domain.server import AdoptedInfo, EngineSnapshot, EngineState
from studio.ui.state import Action, Known, Link
from studio.ui.viewmodels.frame import FrameView, banner_view, frame_view, state_view
from studio.ui.viewmodels.words import Role, Shape
from tests.ui.fake_service import BASE_URL, BOOT_FAILED, CONSENT, DEMO, FAST, READY, booting

LIVE = Known(link=Link.LIVE, presets=(DEMO, FAST))


def view(known: Known, *, chosen: str | None = DEMO.id, home: bool = False) -> FrameView:
    """Return the strip at second 0."""
    return frame_view(known, 0.0, chosen=chosen, choosing=False, home=home)


def at(state: EngineState, **fields: object) -> Known:
    """Return a live window with an engine in `state`."""
    engine = EngineSnapshot(state=state, preset=DEMO.id)
    return msgspec.structs.replace(LIVE, engine=engine, **fields)


@pytest.mark.parametrize(
    ("known", "words", "shape"),
    [
        (Known(), "Looking for the service", Shape.RING),
        (Known(link=Link.ENDED), "Service ended", Shape.RING),
        (LIVE, "Stopped", Shape.RING),
        (at(EngineState.PREPARING), "Preparing", Shape.HALF),
        (at(EngineState.STARTING), "Starting, –", Shape.HALF),
        (at(EngineState.READY), "Ready", Shape.DOT),
        (at(EngineState.DRAINING), "Finishing the last answers", Shape.HALF),
        (at(EngineState.STOPPING), "Stopping", Shape.HALF),
        (at(EngineState.FAILED), "Failed", Shape.CROSS),
        (at(EngineState.BACKING_OFF), "Failed, trying again soon", Shape.TRIANGLE),
        (at(EngineState.ADOPTED), "Adopted", Shape.DOT),
        (at(EngineState.GONE), "Adopted, and gone", Shape.CROSS),
        (at(EngineState.STOPPED, problem=CONSENT), "Waits for your yes", Shape.TRIANGLE),
        (at(EngineState.STOPPED, problem=BOOT_FAILED), "Stopped after a problem", Shape.CROSS),
        (at(EngineState.STOPPED, pending=frozenset({Action.UP})), "Preparing", Shape.HALF),
    ],
)
def test_every_state_is_words_and_a_shape(known: Known, words: str, shape: Shape) -> None:
    """Colour is never the only sign."""
    state = state_view(known, 0.0)

    assert state.text == words
    assert state.shape is shape


@pytest.mark.parametrize("state", [EngineState.ADOPTED, EngineState.GONE])
def test_an_engine_of_others_has_its_name_and_no_buttons(state: EngineState) -> None:
    """It is neither started nor stopped from here."""
    adopted = AdoptedInfo(name="Bob's", url="http://127.0.0.1:8000")
    known = msgspec.structs.replace(LIVE, engine=EngineSnapshot(state=state, adopted=adopted))

    view = frame_view(known, 0.0, chosen=DEMO.id, choosing=False)

    assert (view.title, view.expert) == ("Bob's", "http://127.0.0.1:8000")
    shown = [one.visible for one in (view.start, view.stop, view.restart, view.switch)]
    assert shown == [False, False, False, False]


def test_an_installation_beside_an_engine_of_others_brings_no_stop() -> None:
    """What is under way then is no start, and the engine is not ours to stop."""
    adopted = AdoptedInfo(name="Bob's", url="http://127.0.0.1:8000")
    engine = EngineSnapshot(state=EngineState.ADOPTED, adopted=adopted)
    stage = StageProgress(stage=Stage.RUNTIME, state=StageState.RUNNING, title="Tiny")
    known = msgspec.structs.replace(LIVE, engine=engine, stages=(stage,))

    assert not frame_view(known, 0.0, chosen=DEMO.id, choosing=False).stop.visible


def test_a_boot_says_how_long_and_of_how_much() -> None:
    """The one question of who waits."""
    known = msgspec.structs.replace(LIVE, engine=booting(4, elapsed_s=30.0), engine_at_s=10.0)

    assert state_view(known, 12.5).text == "Loading weights, 32.5 s of about 50.2 s"


def test_start_says_why_it_cannot() -> None:
    """A grey button without a reason is a riddle."""
    assert view(LIVE).start.enabled
    assert view(LIVE, chosen=FAST.id).start.tooltip == FAST.reasons[0]
    assert view(LIVE, chosen=None).start.tooltip == "Choose a preset first."
    assert not view(Known()).start.enabled


def test_the_buttons_follow_the_engine() -> None:
    """What makes no sense now is not there."""
    ready = msgspec.structs.replace(LIVE, engine=READY)
    starts = msgspec.structs.replace(LIVE, engine=booting(2, elapsed_s=10.0))

    assert not view(LIVE).stop.visible
    assert view(starts).stop.enabled
    assert not view(starts).start.visible
    assert not view(starts).restart.visible
    assert view(ready).restart.enabled
    assert view(ready).switch.enabled
    stopping = msgspec.structs.replace(ready, pending=frozenset({Action.STOP}))
    assert view(stopping).stop.text == "Stopping"
    assert not view(stopping).stop.enabled


def test_at_home_the_chooser_has_the_only_start() -> None:
    """Two buttons for one deed make one wonder what the other does."""
    assert view(LIVE).start.visible
    assert not view(LIVE, home=True).start.visible


def test_the_address_is_there_only_while_somebody_answers_at_it() -> None:
    """A copied address that is dead costs an evening."""
    gateway = GatewayInfo(base_url=BASE_URL)
    known = msgspec.structs.replace(LIVE, gateway=gateway)
    lost = msgspec.structs.replace(known, link=Link.LOST)

    assert view(known).address.text == BASE_URL
    assert view(known).can_copy_address
    assert view(lost).address.text == "–"
    assert not view(lost).can_copy_address
    assert view(LIVE).address.tooltip == "The address appears when the gateway is open."


def test_the_window_title_tells_other_windows_what_runs() -> None:
    """The task bar is read too."""
    known = msgspec.structs.replace(LIVE, engine=READY)

    title = view(known).window_title

    assert title == "Try it, on any machine · Ready, booted in 49.8 s · Weir Studio"
    assert view(LIVE).window_title == "Weir Studio"


def test_the_banner_is_calm_and_offers_a_start_only_after_a_goodbye() -> None:
    """What repairs itself needs no button."""
    lost = banner_view(Known(link=Link.LOST, farewell="Gone."))
    ended = banner_view(Known(link=Link.ENDED))

    assert banner_view(LIVE) is None
    assert lost is not None
    assert lost.text == "The service does not answer; trying again. Gone."
    assert lost.button is None
    assert ended is not None
    assert ended.button == "Start it again"


def test_roles_agree_with_shapes() -> None:
    """Red is for what failed, and for nothing else."""
    assert state_view(at(EngineState.FAILED), 0.0).role is Role.HARM
    assert state_view(at(EngineState.READY), 0.0).role is Role.OK
