"""The table of calls: what is asked wrongly is answered with what is wrong about it."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.app.studio import Studio
from studio.app.wiring import Parts
from studio.control.calls import http_status
from studio.control.router import Router
from studio.control.transport import PREFIX
from studio.domain import errors
from studio.domain.errors import StudioError
from tests.app.running import fake_paths
from tests.fakes.catalogue import RUNTIME

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "control-api.md"


@pytest.fixture
async def router(tmp_path: Path) -> AsyncIterator[Router]:
    """Return a router over a Studio that is open and has nothing running."""

    async def down() -> None:
        return

    with fake_paths(tmp_path) as paths:
        paths.service.mkdir(parents=True)
        parts = Parts(paths)
        studio = Studio(parts)
        await studio.open()
        yield Router(studio, down=down)
        await parts.keys.close()


async def ask(
    router: Router, method: str, path: str, query: str = "", body: bytes = b""
) -> tuple[int, dict]:
    """Return status and document."""
    status, answer = await router.answer(method, PREFIX + path, query, body)
    return status, json.loads(answer)


def documented() -> list[tuple[str, str]]:
    """Return every call of the document: method and path."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.findall(r"^\| `(GET|POST) ([^`?\s]+)", text, re.MULTILINE)


async def test_the_document_and_the_table_agree(router: Router) -> None:
    """Other programs are written from the document."""
    apart = ("/events", "/keep")
    # What is said of WSL is answered on Windows, where no service runs: control/salvage.py.
    calls = [one for one in documented() if one[1] not in apart and not one[1].startswith("/wsl")]

    assert len(calls) >= 13
    for method, path in calls:
        other = "PUT"
        status, error = await ask(router, other, path.replace("ID", "abc"))
        assert status == 405, path
        assert method in error["message"]


@pytest.mark.parametrize(
    "path",
    [
        "/status",
        "/presets",
        "/runtimes",
        "/ps",
        "/logs",
        "/history",
        "/keys",
        "/host",
        "/hosts",
        "/doctor",
        "/network",
        "/boots",
        "/remedies",
        "/settings",
    ],
)
async def test_a_question_is_answered_with_nothing_running(router: Router, path: str) -> None:
    """A window opens before anything was started."""
    status, answer = await ask(router, "GET", path)

    assert status == 200
    assert isinstance(answer, dict | list)


@pytest.mark.parametrize(
    "path", ["", "/", "/status/", "/Status", "//status", "/status/../up", "/keys/a/b/revoke", "/é"]
)
async def test_an_unknown_path_is_named(router: Router, path: str) -> None:
    """Nothing near a path is taken for the path."""
    status, error = await ask(router, "GET", path)

    assert status == 404
    assert error["code"] == "path-unknown"
    assert error["exit_status"] == 3


async def test_a_path_outside_the_api_is_unknown(router: Router) -> None:
    """The prefix is not optional."""
    for path in ("/status", "/control/v2/status", "/x/control/v1/status", "status"):
        status, answer = await router.answer("GET", path, "", b"")
        assert status == 404, path
        assert json.loads(answer)["code"] == "path-unknown"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/up", b"{"),
        ("/up", b"[]"),
        ("/up", b"null"),
        ("/up", b'"fake-demo"'),
        ("/up", b'{"preset": 3}'),
        ("/up", b'{"presett": "x"}'),
        ("/up", b'{"port": "80"}'),
        ("/up", b'{"gpus": "0"}'),
        ("/up", b'{"overrides": {"a": 1}}'),
        ("/up", b'{"preset": "\xff"}'),
        ("/up", b"\x00" * 64),
        ("/up", b'{"overrides": {"a": ' + b"[" * 100_000),
        ("/up", b"[" * 500_000),
        ("/keys", b"{}"),
        ("/runtimes/x/pin", b'{"hashes": {"a": 1}}'),
        ("/runtimes/x/pin", b'{"commitx": "x"}'),
        ("/diagnose", b'{"exit_code": "9"}'),
        ("/diagnose", b'{"file": "x"}'),
        ("/remedies", b"{}"),
        ("/remedies", b'{"number": "1"}'),
        ("/keys", b'{"name": "x", "limits": {"max_concurrent": 1.5}}'),
        ("/network", b'{"values": {"offline": true}}'),
        ("/network", b'{"value": {"offline": "on"}}'),
        ("/settings", b'{"values": {"on-death": 1}}'),
        ("/settings", b'{"value": {"on-death": "tell"}}'),
    ],
    ids=lambda value: repr(value[:32]),
)
async def test_a_wrong_body_says_what_is_wrong(router: Router, path: str, body: bytes) -> None:
    """And nothing was started by it."""
    status, error = await ask(router, "POST", path, body=body)

    assert status == 400
    assert error["code"] == "request-invalid"


@pytest.mark.parametrize(
    "query",
    [
        "lines=-1", "lines=1.5", "lines=x", "lines=0x10", "lines=1e3", "lines=%20", "after=-1",
        "lines=9999999999999999999", "after=99999999999999999999",
    ],
)  # fmt: skip
async def test_a_number_that_is_none_is_named(router: Router, query: str) -> None:
    """A negative count is not `all of them`."""
    status, error = await ask(router, "GET", "/logs", query)

    assert status == 400
    assert query.partition("=")[0] in error["message"]


@pytest.mark.parametrize("query", ["lines=0", "lines=999999999", "after=5", "lines=", "other=1"])
async def test_a_number_out_of_reach_is_cut_to_what_there_is(router: Router, query: str) -> None:
    """Asking for a billion lines must not be a mistake, nor an answer of that size."""
    assert await ask(router, "GET", "/logs", query) == (200, [])


@pytest.mark.parametrize("port", [-1, 65_536, 10**9])
async def test_a_port_that_does_not_exist_is_named(router: Router, port: int) -> None:
    """The system's own message would be a traceback."""
    status, error = await ask(router, "POST", "/up", body=json.dumps({"port": port}).encode())

    assert status == 400
    assert error["code"] == "port-invalid"
    assert str(port) in error["message"]


@pytest.mark.parametrize(
    ("overrides", "code"),
    [
        ({"max_modl_len": "1"}, "knob-unknown"),
        ({"max_model_len": "many"}, "knob-value"),
        ({"max_model_len": "-5"}, "knob-value"),
        ({"fault": "a\u0000b"}, "knob-value"),
        ({"fault": "x" * 200_000}, "knob-value"),
    ],
)
async def test_a_wrong_knob_is_named(router: Router, overrides: dict, code: str) -> None:
    """Some values cannot even be handed to a process."""
    status, error = await ask(
        router, "POST", "/up", body=json.dumps({"overrides": overrides}).encode()
    )

    assert status == 400
    assert error["code"] == code
    assert len(error["message"]) < 1000


async def test_boots_and_pins_are_asked_for_like_anything_else(router: Router) -> None:
    """A preset that is not there is named; nothing pinned is no error."""
    status, history = await ask(router, "GET", "/boots", "preset=fake-demo&limit=3")
    assert (status, history) == (200, {"schema_version": 1, "boots": []})

    status, error = await ask(router, "POST", "/presets/fake-dmeo/pin")
    assert (status, error["code"]) == (404, "preset-unknown")
    status, error = await ask(router, "POST", "/presets/fake-demo/pin")
    assert error["code"] == "nothing-to-pin"
    status, freed = await ask(router, "POST", "/presets/fake-demo/unpin")
    assert (status, freed["kv_cache_memory_bytes"], freed["was_bytes"]) == (200, None, None)


async def test_an_unknown_key_is_named_and_a_name_in_any_script_is_found(router: Router) -> None:
    """The path carries names percent-encoded."""
    _, made = await ask(router, "POST", "/keys", body='{"name": "Büro PC"}'.encode())

    status, error = await ask(router, "POST", "/keys/no%20such/revoke")
    found, info = await ask(router, "POST", "/keys/B%C3%BCro%20PC/revoke")

    assert (status, error["code"]) == (404, "key-unknown")
    assert "no such" in error["message"]
    assert found == 200
    assert info["id"] == made["info"]["id"]
    assert info["revoked_at"]


async def test_a_runtime_is_found_by_its_name_only(router: Router) -> None:
    """A name comes from outside and is never a path."""
    found, detail = await ask(router, "GET", f"/runtimes/{RUNTIME}")
    for name in ("nope", "%2E%2E", "..%2F..%2Fetc", "", f"{RUNTIME}%2F"):
        status, error = await ask(router, "GET", f"/runtimes/{name}")
        assert status == 404
        assert error["code"] in ("runtime-unknown", "path-unknown")

    assert found == 200
    assert detail["info"]["name"] == RUNTIME
    assert detail["info"]["state"] == "installed"


async def test_a_pin_that_cannot_be_is_refused(router: Router) -> None:
    """Over the control API as on the command line."""
    body = json.dumps({"commit": "0" * 40}).encode()

    status, error = await ask(router, "POST", f"/runtimes/{RUNTIME}/pin", body=body)

    assert (status, error["code"]) == (400, "pin-needless")


async def test_a_log_is_diagnosed_over_the_api_too(router: Router, tmp_path: Path) -> None:
    """The window shows what the command line shows."""
    log = tmp_path / "engine.log"
    log.write_text("OSError: [Errno 28] No space left on device\n")

    status, found = await ask(
        router, "POST", "/diagnose", body=json.dumps({"path": str(log)}).encode()
    )
    refused, error = await ask(router, "POST", "/remedies", body=b'{"number": 1}')

    assert status == 200
    assert [one["code"] for one in found["matches"]] == ["engine-disk-full"]
    assert {"code", "cause", "evidence", "remedy"} <= found["matches"][0].keys()
    assert (refused, error["code"]) == (404, "nothing-to-fix")


async def test_the_settings_are_set_over_the_api_too(router: Router) -> None:
    """What follows a death is a question for a window, too."""
    body = b'{"values": {"on-death": "tell", "stall-s": "90"}}'
    status, now = await ask(router, "POST", "/settings", body=body)
    refused, error = await ask(router, "POST", "/settings", body=b'{"forget": ["nothing"]}')

    assert (status, now["on_death"], now["stall_s"]) == (200, "tell", 90.0)
    assert (await ask(router, "GET", "/settings"))[1] == now
    assert (refused, error["code"]) == (400, "setting-unknown")


async def test_the_network_is_set_over_the_api_too(router: Router) -> None:
    """All that one client can do the other can."""
    body = json.dumps({"values": {"connections": "2"}}).encode()

    status, report = await ask(router, "POST", "/network", body=body)
    refused, error = await ask(router, "POST", "/network", body=b'{"forget": ["nothing"]}')

    assert (status, report["connections"]) == (200, 2)
    assert (await ask(router, "GET", "/network"))[1] == report
    assert (refused, error["code"]) == (400, "network-setting-unknown")


async def test_the_key_is_in_the_first_answer_only(router: Router) -> None:
    """It is never shown again, to nobody."""
    _, made = await ask(router, "POST", "/keys", body=b'{"name": "once"}')

    _, listed = await ask(router, "GET", "/keys")

    assert made["key"].startswith("sk-")
    assert made["key"] not in json.dumps(listed)


async def test_a_switch_to_nothing_is_refused(router: Router) -> None:
    """An empty body must not stop what serves."""
    status, error = await ask(router, "POST", "/switch")

    assert (status, error["code"]) == (400, "preset-missing")


async def test_a_restart_of_nothing_says_so(router: Router) -> None:
    """There is nothing to start again in a new home."""
    status, error = await ask(router, "POST", "/restart")

    assert (status, error["code"]) == (409, "nothing-to-restart")


def test_every_kind_of_error_has_a_status_that_is_none_of_success() -> None:
    """Programs look at the status first."""
    for kind in StudioError.__subclasses__():
        assert 400 <= http_status(kind("some-code", "No.")) < 500
    assert http_status(errors.BadInput("body-too-large", "No.")) == 413
    assert http_status(errors.NotFound("x-y", "No.")) == 404


async def test_the_doctor_looks_at_a_host_of_the_catalogue(router: Router) -> None:
    """By id; a path of this machine is no id."""
    status, report = await ask(router, "GET", "/doctor", "host=rtx3090-linux")
    wrong, error = await ask(router, "GET", "/doctor", "host=..%2F..%2Fx.json")

    assert (status, report["replayed"]) == (200, "rtx3090-linux")
    assert (wrong, error["code"]) == (404, "host-unknown")


async def test_a_plan_is_asked_for_like_anything_else(router: Router) -> None:
    """The window and other programs get what `weir plan --json` prints."""
    status, plan = await ask(router, "POST", "/plan", body=b'{"preset": "fake-demo"}')

    assert status == 200
    assert {"verdict", "pool_tokens", "ledger", "reductions", "reasons"} <= set(plan)

    status, error = await ask(router, "POST", "/plan", body=b'{"preset": "fake-domo"}')
    assert (status, error["code"]) == (404, "preset-unknown")
    status, error = await ask(router, "POST", "/plan", body=b'{"presett": "x"}')
    assert (status, error["code"]) == (400, "request-invalid")
    # A caller of the API names hosts of the catalogue; files are the command line's.
    status, error = await ask(router, "POST", "/plan", body=b'{"host": "/etc/passwd"}')
    assert (status, error["code"]) == (404, "host-unknown")


async def test_a_preset_of_a_folder_that_is_not_there_is_refused(router: Router) -> None:
    """Over the API too, with the code that programs know."""
    status, error = await ask(router, "POST", "/presets/make", body=b'{"folder": "/nowhere"}')

    assert (status, error["code"]) == (404, "model-missing")
