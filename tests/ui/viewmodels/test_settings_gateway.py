"""The gateway's settings, as the service says them."""

import msgspec

from studio.domain.gateway import GatewayReport, GatewaySettings
from studio.ui.viewmodels.settings import CardView, Machine, RowView
from studio.ui.viewmodels.settings_gateway import EVERYWHERE, LOOPBACK, gateway_cards

GATEWAY = GatewayReport(
    settings=GatewaySettings(aliases={"gpt-4o": "", "mini": "smollm2"}),
    port=18020,
    is_open=False,
    urls=("http://127.0.0.1:18020/v1",),
)


def rows(cards: tuple[CardView, ...]) -> dict[str, RowView]:
    """Return all settings by name."""
    return {row.id: row for card in cards for row in card.rows}


def test_what_is_not_known_has_no_card() -> None:
    """A row without a value would say that there is none."""
    assert gateway_cards(Machine()) == ()


def test_an_address_of_one_network_is_a_choice_of_its_own() -> None:
    """Else the page would mark nothing."""
    one = msgspec.structs.replace(
        GATEWAY, settings=msgspec.structs.replace(GATEWAY.settings, address="192.168.1.20")
    )
    values = [
        option.value
        for option in rows(gateway_cards(Machine(gateway=one)))["gateway.address"].options
    ]

    assert values == [LOOPBACK, EVERYWHERE, "192.168.1.20"]


def test_aliases_say_what_they_mean() -> None:
    """An alias of nothing means whatever is served."""
    found = rows(gateway_cards(Machine(is_live=True, gateway=GATEWAY)))

    assert [one.text for one in found["gateway.aliases"].items] == [
        "gpt-4o → whatever is served",
        "mini → smollm2",
    ]
    assert found["gateway.urls"].note == "Opens with the next start."
