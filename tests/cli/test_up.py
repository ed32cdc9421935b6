"""`weir up`: what it starts, what it says, and what it stops."""

import io
from collections.abc import Callable

import msgspec
import pytest

from studio.cli.console import Console
from studio.cli.main import run
from studio.domain.control import UpRequest
from studio.domain.errors import EngineFailed, ErrorInfo, NeedsConsent, PortTaken
from studio.domain.events import EngineChanged, Stage, StageProgress, StageState
from studio.domain.server import EngineSnapshot, EngineState
from studio.domain.service import UnitStart
from tests.cli import fake_service
from tests.cli.fake_service import FakeConnector, FakeService, ticked
from tests.cli.serving_samples import KEY, ready
from tests.cli.terminal import Terminal, piped
from tests.cli.typed import Ran

Weir = Callable[..., Ran]

CONSENT = NeedsConsent(
    "large-download",
    "Preset `big` needs a large download.",
    hint="something for the window",
    data={"what": "big", "download_bytes": 5 << 30, "disk_bytes": 9 << 30},
)


def _port_taken(free_port: int = 18021) -> PortTaken:
    return PortTaken(
        "port-taken",
        "Port 18020 is taken by jupyter (process 77).",
        data={"port": 18020, "owner": "jupyter (process 77)", "free_port": free_port},
    )


def test_detach_starts_a_service_that_stays(
    weir: Weir, connector: FakeConnector, service: FakeService
) -> None:
    """Without a terminal to hold it, the service is started to outlive the command."""
    connector.is_running = False

    ran = weir("up", "--detach")

    assert ran.status == 0
    assert connector.started == [False]
    assert service.is_running
    assert f"API key     {KEY}" in ran.out
    assert "`weir down` ends it." in ran.out


def test_detach_keeps_a_service_that_another_terminal_holds(
    weir: Weir, connector: FakeConnector
) -> None:
    """Otherwise the other terminal's Ctrl+C would end what was meant to stay."""
    weir("up", "--detach")

    assert connector.kept == 1


def test_json_is_one_object_with_the_key_that_was_made(weir: Weir) -> None:
    """Scripts read these fields; everything else goes to standard error."""
    ran = weir("up", "--json")

    assert ran.document() == {
        "base_url": "http://127.0.0.1:18020/v1",
        "api_key": KEY,
        "preset": "cpu-demo",
        "served_name": "smollm2",
        "runtime": "cpu-vllm-0.32.0",
        "runtime_id": "3f9a0c51b7d2e8644a1b",
        "pool_tokens": 46_592,
        "boot_s": 50.2,
        "is_cold": None,
        "already_running": False,
        "notes": [],
        "warnings": [],
        "offers": [],
        "overrides": {},
        "badges": [],
    }
    assert ran.out.count("\n") == 1


def test_json_leaves_the_key_out_when_none_was_made(weir: Weir) -> None:
    """A key that is there already is never shown again, not even as null."""
    weir("up", "--json")

    assert "api_key" not in weir("up", "--json").document()


def test_an_error_with_json_is_an_object_too(weir: Weir, service: FakeService) -> None:
    """A script must not have to read sentences to learn what went wrong."""
    service.up_errors = [
        EngineFailed("kv-refused", "The KV cache does not fit.", evidence=("ValueError: 3.2 GiB",))
    ]

    ran = weir("up", "--json")

    assert ran.status == 5
    assert msgspec.json.decode(ran.out, type=ErrorInfo).code == "kv-refused"
    assert "  | ValueError: 3.2 GiB" in ran.err


def test_what_was_typed_reaches_the_service(weir: Weir, service: FakeService) -> None:
    """Knobs, cards, port and consent travel as they were typed."""
    weir("up", "big", "--set", "max-model-len=4096", "--gpus", "1,0", "--port", "9000", "-y", "-d")

    assert service.requests == [
        UpRequest(
            preset="big",
            overrides={"max_model_len": "4096"},
            gpus=(1, 0),
            port=9000,
            consent=True,
        )
    ]


def test_stages_are_told_as_lines_in_a_pipe(weir: Weir) -> None:
    """A build log shows how far it came."""
    ran = weir("up", "--detach")

    assert "Install the runtime: 93.4 MiB of 585.0 MiB · 35.2 MiB/s · Downloading torch" in ran.err
    assert "Start the engine: done · 50.2 s" in ran.err
    assert "Open the gateway: done" in ran.err


def test_a_large_download_is_not_taken_unasked(weir: Weir, service: FakeService) -> None:
    """With nobody to ask, the answer is no, and the option to agree is named."""
    service.up_errors = [CONSENT]

    ran = weir("up", "--detach")

    assert ran.status == 4
    assert "hint: Run it again with `--yes` to agree." in ran.err
    assert len(service.requests) == 1


def test_a_taken_port_names_owner_and_option(weir: Weir, service: FakeService) -> None:
    """The person needs to know who has the port, and one line to type."""
    service.up_errors = [_port_taken()]

    ran = weir("up", "--detach")

    assert ran.status == 4
    assert "taken by jupyter (process 77)" in ran.err
    assert "--port 18021" in ran.err


def test_yes_takes_the_next_free_port_as_often_as_needed(weir: Weir, service: FakeService) -> None:
    """A port can be taken between the look and the try."""
    service.up_errors = [_port_taken(18021), _port_taken(18022)]

    ran = weir("up", "--detach", "--yes", "--json")

    assert ran.status == 0
    assert [request.port for request in service.requests] == [None, 18021, 18022]
    assert ran.document()["base_url"] == "http://127.0.0.1:18022/v1"


def test_the_same_port_is_not_tried_for_ever(weir: Weir, service: FakeService) -> None:
    """A service that offers a port which is taken again must not cause a loop."""
    service.up_errors = [_port_taken(18021), _port_taken(18021)]

    assert weir("up", "--detach", "--yes").status == 4


def test_a_failed_start_ends_the_service_that_was_started_for_it(
    weir: Weir, connector: FakeConnector, service: FakeService
) -> None:
    """A command that failed leaves nothing behind."""
    connector.is_running = False
    service.up_errors = [EngineFailed("engine-died", "The engine died.")]

    weir("up", "--detach")

    assert service.calls[-1] == "POST /down"


def test_a_service_that_systemd_keeps_outlives_a_failed_start(
    weir: Weir, connector: FakeConnector, service: FakeService
) -> None:
    """The unit is there so that the service stays; only the engine is this command's."""
    connector.is_running, connector.unit = False, UnitStart(is_started=True)
    service.up_errors = [EngineFailed("engine-died", "The engine died.")]

    ran = weir("up", "--detach")

    assert "systemd keeps it" in ran.err
    assert "POST /down" not in service.calls


def test_why_a_unit_was_not_used_is_said(
    weir: Weir, connector: FakeConnector, service: FakeService
) -> None:
    """The service is started all the same, and ends with what started it."""
    problem = ErrorInfo(code="unit-edited", message="The unit was changed.", hint="See to it.")
    connector.is_running = False
    connector.unit = UnitStart(is_started=False, problem=problem)
    service.up_errors = [EngineFailed("engine-died", "The engine died.")]

    ran = weir("up", "--detach")

    assert "without its systemd unit: The unit was changed. See to it." in ran.err
    assert service.calls[-1] == "POST /down"


def test_what_a_plan_warns_of_is_shown_once_and_before_the_boot(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`It may not start` in a log that nobody reads helps nobody."""
    warned = StageProgress(
        stage=Stage.DETECT,
        state=StageState.DONE,
        title="Look at this machine",
        warnings=("Memory may be short by 1.2 GiB.",),
    )
    monkeypatch.setattr(fake_service, "STAGES", (warned, warned, *fake_service.STAGES))

    ran = weir("up", "--detach")

    assert ran.err.count("Warning: Memory may be short by 1.2 GiB.") == 1


def test_a_failed_start_leaves_a_service_that_ran_before(weir: Weir, service: FakeService) -> None:
    """Others may be using it."""
    service.up_errors = [EngineFailed("engine-died", "The engine died.")]

    weir("up", "--detach")

    assert service.is_running
    assert "POST /down" not in service.calls


def test_an_engine_that_dies_while_watched_ends_the_command(
    weir: Weir, service: FakeService
) -> None:
    """A service manager that runs `weir up` must learn that it serves no more."""
    failed = EngineSnapshot(
        state=EngineState.FAILED,
        error=ErrorInfo(code="engine-died", message="The engine died.", exit_status=5),
    )
    service.late = lambda it: it.announce(
        EngineChanged(engine=ready()), ticked(), EngineChanged(engine=failed)
    )

    ran = weir("up")

    assert ran.status == 5
    assert "pool 3 % of 46,592 tokens" in ran.err
    assert "error: The engine died." in ran.err


def test_a_service_that_is_told_to_end_ends_the_command(weir: Weir, service: FakeService) -> None:
    """`weir down` in another terminal is no error in this one."""
    service.late = lambda it: it.end_streams("asked to end")

    ran = weir("up")

    assert ran.status == 0
    assert "The service has ended: asked to end." in ran.err


def test_a_service_that_vanishes_is_an_error(weir: Weir, service: FakeService) -> None:
    """A killed service says no goodbye."""
    service.late = lambda it: it.cut_streams()

    ran = weir("up")

    assert ran.status == 6
    assert "service-unreachable" in ran.err


def test_switch_and_restart_report_where_it_serves(weir: Weir, service: FakeService) -> None:
    """Address and key stay, and the person sees that they did."""
    service.engine = ready()

    switched = weir("switch", "other", "--json")
    restarted = weir("restart", "--json")

    assert switched.document()["preset"] == "other"
    assert restarted.document()["preset"] == "other"
    assert "POST /switch" in service.calls
    assert "POST /restart" in service.calls


def test_switch_without_a_service_says_what_starts_one(
    weir: Weir, connector: FakeConnector
) -> None:
    """There is nothing to replace, and the way on is named."""
    connector.is_running = False

    ran = weir("switch", "other")

    assert ran.status == 6
    assert "`weir up` starts it." in ran.err


def test_output_that_nobody_reads_stops_what_was_started(
    connector: FakeConnector, service: FakeService
) -> None:
    """`weir up | true` must not leave an engine running unseen."""

    class Closed(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

        def fileno(self) -> int:
            raise OSError

    connector.is_running = False

    assert run(["up"], connector, Console(Closed(), io.StringIO(), environ={})) == 0
    assert service.calls[-1] == "POST /down"


# In a real terminal


def test_ctrl_c_stops_engine_and_service_that_were_started() -> None:
    """What this terminal started ends with it, and the person is told."""
    with Terminal("fresh", "up") as terminal:
        terminal.expect("2 running, 0 waiting")
        terminal.interrupt()

        assert terminal.finish() == 130
        assert "Stopped: engine and service." in terminal.text
        assert "POST /down" in terminal.text


def test_ctrl_c_leaves_what_ran_before() -> None:
    """Looking at a running engine must not end it."""
    with Terminal("serving", "up") as terminal:
        terminal.expect("2 running, 0 waiting")
        terminal.interrupt()

        assert terminal.finish() == 130
        assert "Left running: cpu-demo at http://127.0.0.1:18020/v1." in terminal.text
        assert "POST /stop" not in terminal.text
        assert "POST /down" not in terminal.text


def test_ctrl_c_stops_only_the_engine_of_a_service_that_ran_before() -> None:
    """The service belongs to somebody else; the engine was started here."""
    with Terminal("idle", "up") as terminal:
        terminal.expect("2 running, 0 waiting")
        terminal.interrupt()

        assert terminal.finish() == 130
        assert "POST /stop" in terminal.text
        assert "POST /down" not in terminal.text


def test_ctrl_c_during_the_boot_ends_it() -> None:
    """Minutes of loading must not have to be sat out."""
    with Terminal("boot-hangs", "up") as terminal:
        terminal.expect("12.0 s of 50.0 s")
        terminal.interrupt()

        assert terminal.finish() == 130
        assert "POST /down" in terminal.text


def test_a_second_ctrl_c_leaves_at_once() -> None:
    """A stop that hangs must not hold the terminal."""
    with Terminal("down-hangs", "up") as terminal:
        terminal.expect("2 running, 0 waiting")
        terminal.interrupt()
        terminal.expect("Ctrl+C again leaves at once.")
        terminal.expect("waits in /down")
        terminal.interrupt()

        assert terminal.finish() == 130
        assert "Traceback" not in terminal.text


def test_a_large_download_is_asked_about_with_sizes() -> None:
    """The person decides with the numbers in view."""
    with Terminal("consent", "up", "--detach") as terminal:
        terminal.expect("5.00 GiB to download, 9.00 GiB on disk. Go on? [y/N]")
        terminal.type("y\n")

        assert terminal.finish() == 0
        assert terminal.text.count("POST /up") == 2


def test_enter_does_not_agree_to_a_large_download() -> None:
    """The safe answer is the default."""
    with Terminal("consent", "up", "--detach") as terminal:
        terminal.expect("[y/N]")
        terminal.type("\n")

        assert terminal.finish() == 4
        assert terminal.text.count("POST /up") == 1


def test_a_taken_port_is_offered_and_kept() -> None:
    """Enter takes the offered port."""
    with Terminal("port", "up", "--detach") as terminal:
        terminal.expect("Port 18020 is taken by jupyter (process 77). Use 18021")
        terminal.type("\n")

        assert terminal.finish() == 0
        assert "http://127.0.0.1:18021/v1" in terminal.text


def test_ctrl_c_at_a_question_ends_what_was_started() -> None:
    """A question is no place to be stuck in."""
    with Terminal("port", "up") as terminal:
        terminal.expect("[Y/n]")
        terminal.interrupt()

        assert terminal.finish() == 130
        assert "POST /down" in terminal.text


def test_no_colour_when_the_person_wants_none() -> None:
    """NO_COLOR is a promise that many tools keep."""
    with Terminal("consent", "up", NO_COLOR="1") as terminal:
        terminal.expect("[y/N]")
        terminal.type("n\n")
        terminal.finish()

        assert "\x1b[3" not in terminal.raw
        assert "\x1b[9" not in terminal.raw


def test_a_terminal_that_speaks_ascii_only_is_enough() -> None:
    """Old terminals and `LC_ALL=C` must work to the end."""
    ran = piped("fresh", "up", "--detach", PYTHONIOENCODING="ascii:strict", LC_ALL="C")

    assert ran.returncode == 0
    assert ran.stdout.isascii()
    assert b"Traceback" not in ran.stderr
