"""The service by itself: it serves what was chosen for it, and leaves the rest to people."""

from studio.domain.service import AutostartState
from tests.fakes.catalogue import PRESET
from tests.fakes.waiting import until
from tests.fakes.weir import Weir


def state(weir: Weir) -> str:
    """Return where the autostart stands."""
    return str(weir.told()["autostart"]["state"])


def begin(weir: Weir) -> None:
    """Start the service as its unit does, and wait until it can be found."""
    weir.begin_service("--autostart")


def test_a_service_started_by_its_unit_serves_what_was_chosen(weir: Weir) -> None:
    """Nobody has to log in and type anything after a power cut."""
    chosen = weir.json("service", "autostart", PRESET, "--set", "boot_s=0.01")
    assert chosen["state"] == "next"

    begin(weir)
    until(lambda: state(weir) == AutostartState.SERVED, "the engine")

    engine = weir.told()["engine"]
    assert (engine["state"], engine["preset"]) == ("ready", PRESET)
    assert engine["overrides"] == {"boot_s": "0.01"}


def test_a_service_started_for_a_person_starts_nothing_by_itself(weir: Weir) -> None:
    """`weir up OTHER` starts one too, and must not find the engine taken."""
    weir.json("service", "autostart", PRESET)

    weir.begin_service()

    assert state(weir) == "next"
    assert weir.engine_state() == "stopped"


def test_a_stop_during_the_start_is_the_last_word(weir: Weir) -> None:
    """What a person ended stays ended."""
    weir.json("service", "autostart", PRESET, "--set", "boot_s=60")
    begin(weir)
    until(lambda: weir.engine_state() == "starting", "the boot")

    assert weir.run("stop").returncode == 0

    until(lambda: state(weir) == AutostartState.STOOD_DOWN, "the end of the tries")
    assert weir.engine_state() == "stopped"
    assert "left alone" in weir.run("status").stdout


def test_a_start_that_is_refused_is_said_in_status(weir: Weir) -> None:
    """A person who comes back in the morning reads why nothing answers."""
    weir.json("service", "autostart", PRESET)
    (weir.paths.home / "autostart.json").write_text('{"preset": "gone"}')

    begin(weir)

    until(lambda: state(weir) == AutostartState.GAVE_UP, "the end of the tries")
    shown = weir.run("service", "status").stdout
    assert "given up" in shown
    assert "preset-unknown" in shown


def test_everything_can_be_asked_and_chosen_without_a_service(weir: Weir) -> None:
    """A machine is set up before anything runs on it."""
    assert weir.json("service", "sleep", "stop")["policy"] == "stop"
    assert weir.json("service", "status")["sleep"]["policy"] == "stop"
    assert weir.json("service", "autostart", "off")["state"] == "off"
    unknown = weir.run("service", "autostart", "no-such-preset")
    assert unknown.returncode == 3
    assert "preset-unknown" in unknown.stderr
