"""Care, monitor and updates, as the service says them."""

import msgspec
import pytest

from studio.domain.alarms import Alarm, AlarmList, Mute, Severity
from studio.domain.history import HistoryState
from studio.domain.logs import LogLimits
from studio.domain.runtimes import RuntimeUpdates, UpdateKind
from studio.domain.scrape import ScrapeInfo
from studio.domain.settings import CareSettings, OnStall
from studio.ui.viewmodels.settings import CardView, Machine, RowView
from studio.ui.viewmodels.settings_engine import engine_cards, monitor_cards, update_cards
from tests.ui.fake_settings import UPDATES


def rows(cards: tuple[CardView, ...]) -> dict[str, RowView]:
    """Return all settings by name."""
    return {row.id: row for card in cards for row in card.rows}


@pytest.mark.parametrize("cards", [engine_cards, monitor_cards, update_cards])
def test_what_is_not_known_has_no_card(cards: object) -> None:
    """A form of zeros would read as settings."""
    assert callable(cards)
    assert cards(Machine()) == ()


def test_what_nobody_chose_is_an_empty_field_that_says_what_holds() -> None:
    """The default is no number of the person's."""
    plain = rows(engine_cards(Machine(care=CareSettings())))
    care = CareSettings(stall_s=90, on_stall=OnStall.WAIT, chosen=("stall-s", "on-stall"))
    chosen = rows(engine_cards(Machine(care=care)))

    assert plain["care.stall-s"].value == ""
    assert plain["care.stall-s"].placeholder == "as the preset says"
    assert not plain["care.stall-s"].can_reset
    assert chosen["care.stall-s"].value == "90"
    assert chosen["care.stall-s"].can_reset
    assert chosen["care.on-stall"].value == "wait"


def test_a_history_that_was_never_written_has_no_age() -> None:
    """1970 is not its beginning."""
    state = HistoryState(file="/h/history.db", most_bytes=256 << 20, note="The disk is full.")
    found = rows(monitor_cards(Machine(history=state)))

    assert found["history.size"].value == "– of 256.0 MiB at most"
    assert found["history.oldest"].value == "–"
    assert found["history.note"].is_warning


def test_each_mute_says_how_long_it_lasts() -> None:
    """Three kinds of silence, and the alarm's own title where it is known."""
    swap = Alarm(
        code="spill-swap", severity=Severity.HARM, title="1.8 GiB in swap", cause="", since=0,
        raised_at=0,
    )  # fmt: skip
    mutes = (
        Mute(code="spill-swap", is_once=True),
        Mute(code="card-lost"),
        Mute(code="throttled-heat", until=1_796_000_000.0),
    )
    alarms = AlarmList(active=(swap,), mutes=mutes)
    texts = [one.text for one in rows(monitor_cards(Machine(alarms=alarms)))["alarms.mutes"].items]

    assert texts[0] == "1.8 GiB in swap · as long as it holds"
    assert texts[1] == "card-lost · until you unmute it"
    assert texts[2].startswith("throttled-heat · until ")
    none = rows(monitor_cards(Machine(alarms=AlarmList())))["alarms.mutes"]
    assert none.note == "None is muted."


def test_the_monitor_shows_what_it_has_even_when_a_part_is_missing() -> None:
    """One call that fails does not hide the others."""
    machine = Machine(care=CareSettings(sample_s=0.5), logs=LogLimits(), scrape=ScrapeInfo())
    found = rows(monitor_cards(machine))

    assert found["care.sample-s"].value == "0.5"
    assert found["logs.files"].value == "5"
    assert found["scrape.on"].value == "off"
    assert "scrape.url" not in found
    shown = rows(monitor_cards(Machine(scrape=ScrapeInfo(is_on=True, url="http://x/metrics"))))
    assert shown["scrape.url"].value == "http://x/metrics"


def test_updates_say_what_they_are_and_why_one_cannot_be_had() -> None:
    """An offer without its size is no offer."""
    first = UPDATES.updates[0]
    newer = msgspec.structs.replace(
        first, kind=UpdateKind.RELEASE, usable=False, reasons=("Needs a card.",), fetch_bytes=None
    )
    found = rows(update_cards(Machine(updates=RuntimeUpdates(updates=(first, newer)))))

    assert found["updates.0"].value == "Its recipe has changed · 41.0 MiB to fetch"
    assert found["updates.1"].value == "A newer runtime of its kind."
    assert found["updates.1"].note == "Needs a card."
    assert found["updates.1"].is_warning
    assert "updates.none" in rows(update_cards(Machine(updates=RuntimeUpdates())))
