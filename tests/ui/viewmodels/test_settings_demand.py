"""Models on demand and rules for requests, as the service says them."""

from studio.domain.control import PresetInfo
from studio.domain.demand import DemandPreset, DemandReport, DemandSettings, Queue
from studio.domain.errors import ErrorInfo
from studio.domain.gateway import AdjustmentList
from studio.ui.viewmodels.settings import CardView, Machine, RowView
from studio.ui.viewmodels.settings_demand import demand_cards
from tests.ui.fake_demand import RULE


def rows(cards: tuple[CardView, ...]) -> dict[str, RowView]:
    """Return all settings by name."""
    return {row.id: row for card in cards for row in card.rows}


def test_what_is_not_known_has_no_card() -> None:
    """An empty list would say that nothing may be started."""
    assert demand_cards(Machine()) == ()


def test_spans_are_shown_as_they_are_typed() -> None:
    """What stands in a field can be sent again."""
    settings = DemandSettings(ttl_s=5_400.0, residence_s=7_200.0, wait_s=45.0)
    found = rows(demand_cards(Machine(demand=DemandReport(settings=settings))))
    plain = rows(demand_cards(Machine(demand=DemandReport(settings=DemandSettings(ttl_s=0.0)))))

    assert found["demand.default-ttl"].value == "90m"
    assert found["demand.residence"].value == "2h"
    assert found["demand.wait"].value == "45s"
    assert found["demand.wait"].can_reset
    assert plain["demand.default-ttl"].value == "0"
    assert plain["demand.wait"].value == ""
    assert not plain["demand.wait"].can_reset


def test_a_listed_preset_says_its_names_or_why_it_cannot_start() -> None:
    """A client asks for a name, and gets an error when the preset is broken."""
    report = DemandReport(
        settings=DemandSettings(),
        presets=(
            DemandPreset(preset="cpu-demo", ttl_s=60.0, names=("smollm2", "gpt-4o")),
            DemandPreset(
                preset="gone", ttl_s=60.0,
                problem=ErrorInfo(code="preset-unknown", message="There is no preset `gone`."),
            ),
        ),
    )  # fmt: skip
    presets = (
        PresetInfo(
            id="cpu-demo",
            title="Small chat model",
            expert="",
            summary="",
            model="m",
            licence="l",
            origin="o",
            runtime="r",
            usable=True,
        ),
    )

    found = rows(demand_cards(Machine(demand=report, presets=presets)))["demand.presets"].items

    assert found[0].text == "Small chat model (cpu-demo)"
    assert found[0].tooltip == "Asked for as smollm2, gpt-4o"
    assert "cannot be started" in found[1].text
    assert found[1].tooltip == "There is no preset `gone`."


def test_a_hold_after_stop_is_told_where_it_is_ended() -> None:
    """Else nothing starts, and nobody knows why."""
    report = DemandReport(settings=DemandSettings(), queue=Queue(held_since=5.0))

    assert "pressed Stop" in rows(demand_cards(Machine(demand=report)))["demand.is-on"].note


def test_rules_rest_while_all_are_off() -> None:
    """A switch that changes nothing is not offered."""
    on = rows(demand_cards(Machine(adjustments=AdjustmentList(adjustments=(RULE,)))))
    off = rows(demand_cards(Machine(adjustments=AdjustmentList(adjustments=(RULE,), are_off=True))))

    assert on["adjust.stop-empty"].value == "on"
    assert on["adjust.stop-empty"].note == "12 requests so far."
    assert off["adjust.all"].value == "off"
    assert not off["adjust.stop-empty"].is_enabled
