"""The first run in words: found, fits, downloaded, mended."""

import msgspec
import pytest

from studio.domain.doctor import EVERYTHING, Area, Check, Level
from studio.domain.errors import ErrorInfo
from studio.domain.plans import Plan
from studio.domain.presets import PresetDetail
from studio.ui.state import Known, Link
from studio.ui.viewmodels.welcome import WelcomeView, suggested, welcome_view
from studio.ui.viewmodels.words import Shape
from tests.ui import pseudo
from tests.ui.fake_planning import CHAT, LONG, MTP, recorded_detail
from tests.ui.fake_service import BARE_HOST, DEMO
from tests.ui.fake_serving import recorded_plan
from tests.ui.fake_welcome import recorded_doctor

DOCTOR = recorded_doctor("wsl2")
LIVE = Known(link=Link.LIVE, presets=(CHAT, MTP, LONG, DEMO), host=DOCTOR.host)
PLANS: dict[str, Plan | ErrorInfo] = {CHAT.id: recorded_plan("card-wsl2")}
DETAILS: dict[str, PresetDetail] = {CHAT.id: recorded_detail()}


def view(known: Known = LIVE, chosen: str | None = CHAT.id, **fields: object) -> WelcomeView:
    """Return the first run on a machine with one card."""
    given: dict[str, object] = {
        "doctor": DOCTOR, "plans": PLANS, "details": DETAILS, "is_looking": False, **fields,
    }  # fmt: skip
    return welcome_view(known, chosen, **given)


def test_three_presets_that_fit_are_suggested_in_the_services_order() -> None:
    """What does not fit is in the chooser, with its reason."""
    unfit = msgspec.structs.replace(MTP, usable=False)

    assert [one.id for one in suggested((CHAT, MTP, LONG, DEMO))] == [CHAT.id, MTP.id, LONG.id]
    assert [one.id for one in suggested((CHAT, unfit, LONG, DEMO))] == [CHAT.id, LONG.id, DEMO.id]
    assert suggested(None) == ()


def test_a_suggestion_says_pool_context_speed_size_and_time() -> None:
    """Each figure is the service's; one that nobody gave is a dash with its reason."""
    first, second, _ = view().suggestions

    assert {name: text.text for name, text in first.figures} == {
        "Pool": "68,605 tokens",
        "Context": "65,536 tokens",
        "Speed": "122 tok/s · RTX 3090 at 250 W",
        "Download": "23.86 GiB",
        "First start": "3 min 54 s",
    }
    speed = dict(second.figures)["Speed"]
    assert speed.text == "–"
    assert speed.tooltip == "Nobody has published a figure for this preset"


def test_a_published_figure_of_the_hosts_own_card_is_preferred() -> None:
    """A 5090 is not a 3090; which card it was stands beside the figure."""
    card = msgspec.structs.replace(DOCTOR.host.gpus[0], name="NVIDIA GeForce RTX 5090")
    host = msgspec.structs.replace(DOCTOR.host, gpus=(card,))

    found = view(doctor=msgspec.structs.replace(DOCTOR, host=host)).suggestions[0]

    assert dict(found.figures)["Speed"].text == "198 tok/s · RTX 5090"


def test_the_button_names_the_size_that_is_downloaded_and_the_lines_say_where() -> None:
    """A press is a yes only to what stood there."""
    known = msgspec.structs.replace(LIVE, service=None)

    found = view(known)

    assert found.start.text == "Download 23.86 GiB and start"
    assert found.plan_lines[0].startswith("Downloads 23.86 GiB into ")
    assert "35.11 GiB" in found.plan_lines[1]
    here = msgspec.structs.replace(recorded_plan("card-wsl2"), download_bytes=0)
    assert view(plans={CHAT.id: here}).start.text == "Start"


def test_a_machine_in_order_says_so_in_one_line() -> None:
    """Nobody reads twenty ticks."""
    found = view()

    assert found.checks == ()
    assert found.checks_note == "Everything is in order: 22 checks"
    assert "WSL" in found.checks_about
    assert dict(found.facts)["Driver"].text == "610.57, knows CUDA 13.3"


def test_what_stops_everything_is_told_with_its_remedy() -> None:
    """In place, before anything is downloaded."""
    full = Check(
        code="disk-room", area=Area.STORAGE, title="Disk", level=Level.STOPS,
        found="1 GiB is free.", advice="Free 2 GiB.", stops=(EVERYTHING,),
    )  # fmt: skip
    doctor = msgspec.structs.replace(DOCTOR, checks=(*DOCTOR.checks, full))

    found = view(doctor=doctor)

    assert found.checks_note == "Nothing can be served before this is mended"
    assert found.checks_shape is Shape.CROSS
    assert [one.advice for one in found.checks] == ["Free 2 GiB."]


def test_without_a_card_the_demo_is_the_way_to_try_it() -> None:
    """And the card's absence is named, with what to do."""
    doctor = recorded_doctor("none")
    known = msgspec.structs.replace(LIVE, presets=(DEMO,), host=doctor.host)

    found = view(known, DEMO.id, doctor=doctor, plans={}, details={})

    assert found.suggestions_heading == "Without a card: a way to try it"
    assert found.checks_note == "1 thing to look at"
    assert found.checks[0].advice.startswith("If the machine has an NVIDIA card")


def test_nothing_that_fits_says_why() -> None:
    """An empty row would look broken."""
    unfit = msgspec.structs.replace(CHAT, usable=False, reasons=("It needs a card.",))
    known = Known(link=Link.LIVE, presets=(unfit,), host=BARE_HOST)

    found = view(known, None, doctor=None)

    assert found.empty == "No preset fits this machine as it is.\nIt needs a card."
    assert not found.start.enabled


def test_a_service_that_is_away_rests_the_buttons() -> None:
    """Nothing is pressed into the void."""
    found = view(msgspec.structs.replace(LIVE, link=Link.LOST), doctor=None)

    assert not found.start.enabled
    assert not found.look_again.enabled
    assert found.checks_note == "The service does not answer yet."


def test_a_plan_that_was_refused_says_so_in_its_card_and_below() -> None:
    """With the way out that the service gave."""
    refused = ErrorInfo(code="x", message="The recipe cannot be read.", hint="Update it.")

    found = view(plans={CHAT.id: refused})

    assert found.suggestions[0].verdict == "There is no plan"
    assert found.plan_lines == ("The recipe cannot be read.", "Update it.")


def test_what_lies_here_already_takes_no_room_and_says_nothing_of_it() -> None:
    """ "It takes 0 B there" is a sentence about nothing."""
    plan = recorded_plan("card-wsl2")
    here = msgspec.structs.replace(plan, download_bytes=0, disk_bytes=0)

    lines = view(plans={CHAT.id: here}).plan_lines

    assert lines[0].startswith("Nothing is downloaded")
    assert not any("0 B" in line for line in lines)


def test_a_size_is_not_held_against_a_disk_that_nobody_has_looked_at() -> None:
    """“; – is free.” stood there while the service looked at eight cards."""
    found = view(msgspec.structs.replace(LIVE, host=None))

    assert found.plan_lines[1] == "It takes 35.11 GiB there once it is unpacked."


def test_a_reader_hears_a_suggestion_in_the_language_that_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Title and summary were read out in English."""
    pseudo.speak(monkeypatch)

    first = view().suggestions[0]

    assert first.spoken.startswith(f"{first.title}. {first.summary}")
