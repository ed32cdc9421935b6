"""Which vLLM of others serves, and the form that names one."""

from studio.domain.adopt import AdoptResult
from studio.domain.errors import ErrorInfo
from studio.domain.server import AdoptedInfo
from studio.domain.settings import CareSettings
from studio.ui.viewmodels.settings import CardView, Machine, RowView
from studio.ui.viewmodels.settings_adopt import FORGET, OPEN, adopt_card, done_lines, form_view
from studio.ui.viewmodels.settings_engine import engine_cards

BOB = AdoptedInfo(name="Bob's", url="http://127.0.0.1:8000", models=("qwen", "tiny"))
REFUSED = ErrorInfo(
    code="adopt-key-refused", message="It wants a key.", hint="Give it with `--key-file`."
)
GONE = ErrorInfo(code="adopt-unreachable", message="Nothing answers there.", hint="See whether.")
RESULT = AdoptResult(
    base_url="http://127.0.0.1:18020/v1", served_name="qwen", adopted=BOB, notes=("It is slow.",)
)


def rows(card: CardView) -> dict[str, RowView]:
    """Return the rows by name."""
    return {row.id: row for row in card.rows}


def test_the_engines_section_offers_it_where_none_is_adopted() -> None:
    """People look for it where the engine's settings are; Stop is said not to be offered."""
    card = engine_cards(Machine(care=CareSettings()))[-1]

    assert list(rows(card)) == [OPEN]
    assert "Stop is not offered" in card.about


def test_what_is_adopted_is_named_and_can_be_let_go() -> None:
    """A figure that it did not give is unknown."""
    found = rows(adopt_card(Machine(adopted=BOB)))

    assert found["adopt.name"].value == "Bob's"
    assert found["adopt.url"].value == BOB.url
    assert found["adopt.models"].value == "qwen, tiny"
    assert found["adopt.version"].value == found["adopt.seen"].value == "–"
    assert FORGET in found
    assert OPEN not in found


def test_the_form_rests_while_it_is_asked() -> None:
    """A second press would ask twice; an address is all it needs."""
    assert not form_view(None, is_asking=False, address=" ").button.enabled
    assert form_view(None, is_asking=False, address="http://a").button.enabled
    asking = form_view(GONE, is_asking=True, address="http://a")
    assert (asking.is_enabled, asking.button.enabled, asking.problem) == (False, False, "")


def test_a_refused_key_leads_to_its_field() -> None:
    """The service's hint is about a file of the command line; here a field waits for it."""
    view = form_view(REFUSED, is_asking=False, address="http://a")
    other = form_view(GONE, is_asking=False, address="http://a")

    assert view.is_about_key
    assert "--key-file" not in view.problem
    assert view.problem == "It wants a key, or another one than this."
    assert not other.is_about_key
    assert other.problem == "Nothing answers there. See whether."


def test_what_came_of_it_holds_every_note() -> None:
    """What works less well than with an engine of the Studio's own has to be read once."""
    lines = done_lines(RESULT)

    assert lines[0] == "“Bob's” is adopted: vLLM – at http://127.0.0.1:8000."
    assert lines[1] == "Model qwen · context – · pool –"
    assert lines[-1] == "It is slow."
    assert not any("first key" in line for line in lines)
