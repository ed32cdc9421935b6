"""The card of the Linux in Windows, from what `weir wsl` says."""

import msgspec

from studio.domain.errors import ErrorInfo
from studio.domain.wsl import WslContents, WslReport, WslStep
from studio.ui.viewmodels.settings import Machine, RowView
from studio.ui.viewmodels.settings_linux import linux_cards, question, removal_question

REPORT = WslReport(step=WslStep.READY, disk=r"C:\w\ext4.vhdx", disk_bytes=5 << 30)


def rows(**changes: object) -> dict[str, RowView]:
    """Return the card's settings by name."""
    [card] = linux_cards(Machine(linux=msgspec.structs.replace(REPORT, **changes)))
    return {row.id: row for row in card.rows}


def test_without_a_linux_there_is_no_card() -> None:
    """On another system, or before it is set up: the first run has its own page."""
    assert linux_cards(Machine()) == ()
    assert linux_cards(Machine(linux=WslReport(step=WslStep.IMPORT))) == ()


def test_a_network_that_leads_nowhere_is_a_warning() -> None:
    """And one that was not asked for is none."""
    assert not rows(is_reachable=None)["linux.network"].is_warning
    found = rows(networking="nat", is_reachable=False, address="127.0.0.1:1")["linux.network"]
    assert found.is_warning
    assert "wsl --shutdown" in found.value
    assert "127.0.0.1:1" in rows(is_reachable=True, address="127.0.0.1:1")["linux.network"].value


def test_one_button_for_other_machines_says_what_it_does() -> None:
    """Where the Linux has another address since, they have to be let in again."""
    assert "linux.lan" not in rows()
    assert rows(lan=("netsh",))["linux.lan"].button == "Let them in"
    found = rows(is_lan_open=True, lan_gateway=("weir gateway host",))["linux.lan"]
    assert (found.button, found.is_warning) == ("Close it", False)
    assert "weir gateway host" in found.note
    stale = rows(is_lan_open=True, is_lan_stale=True)["linux.lan"]
    assert (stale.button, stale.is_warning) == ("Let them in", True)


def test_memory_is_offered_only_where_it_is_short() -> None:
    """With the lines as they would stand in the file."""
    assert "linux.memory" not in rows(config_preset="chat")
    assert rows(config_preset="chat")["linux.memory-for"].note
    assert rows(config=("[wsl2]", "memory=23GB"))["linux.memory"].value == "[wsl2], memory=23GB"


def test_every_question_names_what_it_is_about() -> None:
    """What is in it is said also where nobody can look."""
    found = msgspec.structs.replace(REPORT, config=("memory=9GB",), config_file="C:/.wslconfig")
    assert "C:/.wslconfig" in question("memory", found).message
    assert "ends" in question("compact", found).message
    assert "Let" in question("lan", found).message
    assert "Close" in question("lan", msgspec.structs.replace(found, is_lan_open=True)).message
    inside = removal_question(WslContents(disk_bytes=1 << 30, lines=("3G\t/m", "1G\t/r")))
    assert "3G /m; 1G /r" in inside.message
    assert "cannot be looked at" in removal_question(WslContents()).message


def test_what_went_wrong_and_others_of_yours_are_told() -> None:
    """A refusal stays in view."""
    found = rows(problem=ErrorInfo(code="x", message="Not that."), distributions=("Ubuntu",))
    assert found["linux.problem"].value == "Not that."
    assert "Others" in found["linux.remove"].about
    assert "Others" not in rows()["linux.remove"].about
