"""What the command line can set, the window can set."""

import pytest

from studio.app import care
from studio.domain.demand import DemandChange, DemandReport, DemandSettings
from studio.domain.gateway import GatewayChange, GatewayReport, GatewaySettings
from studio.domain.history import HistoryState
from studio.domain.logs import LogLimits
from studio.domain.self_update import Came, UpdateStatus
from studio.domain.settings import CareSettings
from studio.host import network_settings
from studio.ui.controllers.settings import _WISHES
from studio.ui.viewmodels.settings import CardView, Edit, Machine, Verb
from studio.ui.viewmodels.settings_demand import demand_cards
from studio.ui.viewmodels.settings_engine import engine_cards, monitor_cards, update_cards
from studio.ui.viewmodels.settings_gateway import gateway_cards
from studio.ui.viewmodels.settings_machine import network_cards
from tests.ui.fake_settings import NETWORK

MACHINE = Machine(
    care=CareSettings(),
    history=HistoryState(file="/h", most_bytes=1),
    logs=LogLimits(),
    network=NETWORK,
    gateway=GatewayReport(settings=GatewaySettings(), port=1, is_open=False, urls=()),
    demand=DemandReport(settings=DemandSettings()),
    program=UpdateStatus(version="1.0.0", came=Came.RUN),
)
BY_COMMAND = {"expose", "private_key", "forget"}
"""Of the gateway's change: a yes, the other half of `certificate`, the button beside an entry."""
NAMED_OTHERWISE = {
    "ttl_by_hand": "by-hand", "preset": "presets", "remove": "presets", "is_on": "is-on",
}  # fmt: skip
OF_A_LISTED_PRESET = {"overrides", "ttl"}


def names(cards: tuple[CardView, ...], group: str) -> set[str]:
    """Return the settings of a group by their names."""
    ids = (row.id for card in cards for row in card.rows)
    return {name.partition(".")[2] for name in ids if name.startswith(f"{group}.")}


def test_every_setting_of_weir_settings_is_in_the_window() -> None:
    """A new one without a row here would be the command line's alone."""
    cards = (*engine_cards(MACHINE), *monitor_cards(MACHINE), *update_cards(MACHINE))

    assert names(cards, "care") == set(care.NAMES)


def test_every_setting_of_weir_network_is_in_the_window() -> None:
    """Proxy, certificates, mirrors: whoever needs one needs it before anything can be fetched."""
    assert names(network_cards(MACHINE), "network") >= set(network_settings.NAMES)


def test_every_setting_of_weir_gateway_is_in_the_window() -> None:
    """By the fields of what the control API takes."""
    wanted = set(GatewayChange.__struct_fields__) - BY_COMMAND

    assert wanted <= names(gateway_cards(MACHINE), "gateway")


def test_every_setting_of_models_on_demand_is_in_the_window() -> None:
    """By the fields of what the control API takes."""
    fields = set(DemandChange.__struct_fields__) - OF_A_LISTED_PRESET
    wanted = {NAMED_OTHERWISE.get(one, one.replace("_", "-")) for one in fields}

    assert names(demand_cards(MACHINE), "demand") == wanted


@pytest.mark.parametrize("row", [
    "demand.is-on", "demand.presets", "demand.default-ttl", "demand.by-hand", "demand.residence",
    "demand.wait", "demand.queue-length", "demand.abandoned", "adjust.all", "program.check",
    "gateway.certificate",
])  # fmt: skip
def test_every_wish_becomes_a_question(row: str) -> None:
    """A row that nobody answers for would raise at the press of its button."""
    group, _, name = row.partition(".")

    made = _WISHES[group](name, Edit(row=row, verb=Verb.SET, value="4"), MACHINE, False)

    assert isinstance(made, tuple)
    assert made[0] in Machine.__struct_fields__


def test_a_length_that_is_no_number_is_refused_at_once() -> None:
    """The service takes numbers only."""
    edit = Edit(row="demand.queue-length", verb=Verb.SET, value="many")

    made = _WISHES["demand"]("queue-length", edit, MACHINE, False)

    assert not isinstance(made, tuple)
    assert made.code == "not-a-number"
