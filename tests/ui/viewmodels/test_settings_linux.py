"""What the settings say of the Studio's Linux inside Windows."""

import msgspec
import pytest

from studio.domain.gateway import GatewayReport, GatewaySettings
from studio.domain.wsl import WslContents, WslReport, WslStep
from studio.ui.viewmodels.settings import Kind, Machine, RowView
from studio.ui.viewmodels.settings_gateway import EVERYWHERE
from studio.ui.viewmodels.settings_linux import (
    end_question,
    lan_question,
    linux_cards,
    memory_question,
    proposed_gib,
    removal_question,
)

GIB = 1 << 30
REPORT = WslReport(
    step=WslStep.READY, version="2.6.1.0", disk=r"D:\weir\ext4.vhdx", disk_bytes=40 * GIB,
    networking="nat", address="127.0.0.1:18019", inside_version="1.0.0", is_reachable=True,
    config=("[wsl2]", "memory=23GB"), config_change=("+[wsl2]", "+memory=23GB"),
    config_file=r"C:\Users\ada\.wslconfig", config_preset="27b-dflash2",
    lan=("netsh one", "netsh two"), lan_hosts=("pc", "192.168.1.7"),
)  # fmt: skip
GATEWAY = GatewayReport(settings=GatewaySettings(), port=18_020, is_open=True, urls=())


def rows(report: WslReport, **more: object) -> dict[str, RowView]:
    """Return every row by its name."""
    machine = Machine(is_live=True, wsl=report, gateway=GATEWAY, **more)
    found = (row for card in linux_cards(machine) for row in card.rows)
    return {row.id.partition(".")[2]: row for row in found}


def changed(**fields: object) -> WslReport:
    """Return the report with other fields."""
    return msgspec.structs.replace(REPORT, **fields)


def test_nothing_is_said_before_the_first_look() -> None:
    """The page says that it looks."""
    assert linux_cards(Machine()) == ()


@pytest.mark.parametrize("step", [one for one in WslStep if one not in ("start", "ready")])
def test_before_it_is_set_up_only_how_far_it_is_is_said(step: WslStep) -> None:
    """The way there is the home page's."""
    found = rows(WslReport(step=step))

    assert set(found) == {"state"}
    assert found["state"].value.endswith(".")
    assert bool(found["state"].note) is (step is not WslStep.NOT_WINDOWS)


def test_all_of_weir_wsl_is_there() -> None:
    """What the command line says and does, the window says and does."""
    found = rows(REPORT)

    assert set(found) == {
        "state", "version", "inside", "network", "reached", "preset", "memory", "proposed", "lan",
        "disk", "compact", "remove",
    }  # fmt: skip
    assert found["memory"].note == "Proposed: 23.00 GiB."
    assert proposed_gib(REPORT) == 23
    assert found["compact"].value == "40.00 GiB"
    assert not found["reached"].is_warning


def test_while_the_image_is_made_smaller_nothing_else_is_offered() -> None:
    """Whatever asks inside would start it."""
    found = rows(changed(is_compacting=True, inside_version=None, is_reachable=None))

    assert set(found) == {"state", "version", "network"}
    assert "smaller" in found["state"].value


def test_a_service_that_does_not_answer_is_not_said_to_run() -> None:
    """The report is as old as the look; that localhost leads nowhere stays said, being why."""
    away = Machine(wsl=REPORT, gateway=GATEWAY)
    state, *_rest = linux_cards(away)
    assert [row.value for row in state.rows if row.id == "linux.state"] == [
        "Set up; its service does not answer."
    ]
    assert "linux.reached" not in {row.id for row in state.rows}

    state, *_rest = linux_cards(msgspec.structs.replace(away, wsl=changed(is_reachable=False)))
    assert "linux.reached" in {row.id for row in state.rows}


def test_an_older_service_has_a_button_that_starts_the_newer_one() -> None:
    """`weir down` and the next start, in one press."""
    found = rows(changed(is_inside_older=True))

    assert found["inside"].is_warning
    assert found["renew"].kind is Kind.DEED


def test_other_machines_that_are_led_nowhere_are_told_and_led_again() -> None:
    """NAT gives the Linux another address at each start of WSL."""
    found = rows(changed(is_lan_open=True, is_lan_stale=True))

    assert found["lan"].value == "on"
    assert found["stale"].is_warning
    assert found["again"].kind is Kind.DEED


def test_the_gateway_is_told_once_and_then_says_so() -> None:
    """Behind the proxy it cannot know what others call this PC."""
    report = changed(is_lan_open=True)
    asked = rows(report)["gateway"]
    settings = GatewaySettings(address=EVERYWHERE, hosts=("pc", "192.168.1.7", "more"))
    told = Machine(is_live=True, wsl=report,
                   gateway=msgspec.structs.replace(GATEWAY, settings=settings))  # fmt: skip

    assert asked.kind is Kind.DEED
    assert "192.168.1.7" in asked.note
    [row] = [row for card in linux_cards(told) for row in card.rows if row.id == "linux.gateway"]
    assert (row.kind, row.value) == (Kind.FACT, "It answers other machines.")
    away = Machine(wsl=report)
    [row] = [row for card in linux_cards(away) for row in card.rows if row.id == "linux.gateway"]
    assert "pc, 192.168.1.7" in row.value


def test_a_network_that_nobody_knows_cannot_be_opened() -> None:
    """There is no command that would do it."""
    row = rows(changed(lan=(), networking=None))["lan"]

    assert not row.is_enabled
    assert row.note


def test_sizes_before_and_after_stand_side_by_side() -> None:
    """Else nobody sees what it brought."""
    row = rows(changed(disk_was_bytes=40 * GIB, disk_bytes=12 * GIB))["compact"]

    assert row.value == "12.00 GiB; it was 40.00 GiB"


def test_what_is_written_says_when_it_holds() -> None:
    """A memory that has no effect yet is taken for a fault."""
    assert "`wsl --shutdown`" in rows(changed(config=()), wsl_written=True)["memory"].note
    assert rows(changed(config=()))["memory"].note == "It has enough for 27b-dflash2."
    bare = changed(config=(), config_preset=None)
    assert rows(bare)["memory"].note == "Without a preset nothing is proposed."


def test_questions_show_what_a_yes_would_do() -> None:
    """The difference, the commands, what is lost."""
    assert memory_question(REPORT).evidence == ("+[wsl2]", "+memory=23GB")
    assert r"C:\Users\ada\.wslconfig" in memory_question(REPORT).message
    assert lan_question(REPORT, is_open=True).evidence == ("netsh one", "netsh two")
    assert lan_question(REPORT, is_open=False).evidence == ()
    assert "27b" in end_question("compact", "27b").message
    assert "27b" not in end_question("renew", None).message
    lost = removal_question(WslContents(disk_bytes=40 * GIB, lines=("12G\t/home/weir/models",)))
    assert "40.00 GiB" in lost.message
    assert lost.evidence == ("12G     /home/weir/models",)
