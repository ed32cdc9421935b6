"""Adopting over the real facade: gateway and monitor work, and nothing of theirs is touched."""

import asyncio
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from studio.domain.adopt import AdoptRequest, AdoptResult
from studio.domain.control import UpRequest
from studio.domain.errors import StudioError
from studio.domain.events import EngineChanged
from studio.domain.server import EngineState
from tests.app.running import Running, fake_paths, running
from tests.fakes.catalogue import PRESET
from tests.fakes.running import KEY, fake
from tests.fakes.running import Running as Fake
from tests.fakes.waiting import is_alive, until_async
from tests.fakes.weir import free_port
from tests.serving.adopting import door

QUESTION = {"messages": [{"role": "user", "content": "Tell me a story."}], "stream": True}


@pytest.fixture
def theirs() -> Iterator[Fake]:
    """Return an engine that somebody else runs."""
    with fake(served_name="theirs", tokens_per_s=200.0) as engine:
        yield engine


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Running]:
    """Return a running Studio that serves nothing yet."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        async with asyncio.timeout(90), running(paths) as one:
            yield one


def request_of(engine: Fake, **more: object) -> AdoptRequest:
    """Return a request for an engine."""
    fields = {"url": f"unix:{engine.engine.path}", "key": KEY, "name": "Bob's", **more}
    return AdoptRequest(**fields)


async def ask(result: AdoptResult, key: str) -> httpx.Response:
    """Ask the gateway for a story."""
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        return await client.post(
            f"{result.base_url}/chat/completions",
            json=QUESTION,
            headers={"Authorization": f"Bearer {key}"},
        )


async def refused(call) -> StudioError:
    """Return the error that a call ends with."""
    with pytest.raises(StudioError) as caught:
        await call
    return caught.value


async def test_clients_and_monitor_work_as_with_an_engine_of_ours(
    made: Running, theirs: Fake
) -> None:
    """An address, a key of our own, a stream, and the pool in view."""
    result = await made.studio.adopting.adopt(request_of(theirs))

    assert result.served_name == "theirs"
    assert result.api_key is not None
    answer = await ask(result, result.api_key)
    assert answer.status_code == 200
    assert answer.text.rstrip().endswith("[DONE]")
    engine = made.studio.status().engine
    assert (engine.state, engine.adopted and engine.adopted.name) == (EngineState.ADOPTED, "Bob's")
    await until_async(
        lambda: (
            (made.studio.status().tick or None) is not None
            and made.studio.status().tick.pool_tokens == result.pool_tokens
        ),
        "a tick with the pool",
    )
    (key,) = [key for key in await made.studio.keys.all() if key.requests]
    assert key.generated_tokens > 0


async def test_what_is_not_ours_is_neither_stopped_nor_replaced(
    made: Running, theirs: Fake
) -> None:
    """Each refusal says what to do instead."""
    await made.studio.adopting.adopt(request_of(theirs))

    for call in (
        made.studio.stop(),
        made.studio.starts.restart(),
        made.studio.up(UpRequest(preset=PRESET)),
        made.studio.starts.switch(UpRequest(preset=PRESET)),
    ):
        error = await refused(call)
        assert error.code == "engine-adopted"
        assert "weir adopt --forget" in (error.hint or "")
        assert "Bob's" in error.message
    assert theirs.process.poll() is None


async def test_letting_go_leaves_it_running_and_us_free(made: Running, theirs: Fake) -> None:
    """Then an engine of ours can be served under the same address and key."""
    result = await made.studio.adopting.adopt(request_of(theirs))

    gone = await made.studio.adopting.forget()

    assert (gone.was_adopted, gone.name) == (True, "Bob's")
    assert made.studio.engine().state is EngineState.STOPPED
    assert theirs.process.poll() is None
    up = await made.studio.up(UpRequest())
    assert up.base_url == result.base_url
    assert (await ask(result, result.api_key or "")).status_code == 200
    assert (await made.studio.adopting.forget()).was_adopted is False


async def test_the_end_of_the_service_does_not_end_it(tmp_path: Path, theirs: Fake) -> None:
    """Nobody asked for that."""
    with fake_paths(tmp_path) as paths:
        async with running(paths) as one:
            await one.studio.adopting.adopt(request_of(theirs))

    assert is_alive(theirs.process.pid)


async def test_it_is_taken_up_again_by_the_next_service(tmp_path: Path, theirs: Fake) -> None:
    """Clients keep address and key across a restart of the Studio, without a hand."""
    with fake_paths(tmp_path) as paths:
        async with asyncio.timeout(60), running(paths) as one:
            result = await one.studio.adopting.adopt(request_of(theirs))
        async with asyncio.timeout(60), running(paths) as again:
            await until_async(
                lambda: again.studio.engine().state is EngineState.ADOPTED, "the adopted engine"
            )
            await until_async(lambda: again.studio.gateway().base_url is not None, "the gateway")
            assert again.studio.gateway().base_url == result.base_url
            assert (await ask(result, result.api_key or "")).status_code == 200


async def test_one_that_is_gone_when_the_service_starts_is_shown_as_gone(
    tmp_path: Path, theirs: Fake
) -> None:
    """Whoever starts first; it is found when it comes."""
    with fake_paths(tmp_path) as paths:
        async with door(theirs.engine.path or "") as entrance:
            async with asyncio.timeout(60), running(paths) as one:
                await one.studio.adopting.adopt(request_of(theirs, url=entrance.url))
            await entrance.shut()
            async with asyncio.timeout(60), running(paths) as again:
                await until_async(lambda: again.studio.engine().error is not None, "the first look")
                assert again.studio.engine().state is EngineState.GONE
                await entrance.open()
                await until_async(
                    lambda: again.studio.engine().state is EngineState.ADOPTED, "its return"
                )


async def test_a_loss_is_announced_and_clients_are_told(made: Running, theirs: Fake) -> None:
    """503 with Retry-After, not a hanging connection."""
    async with door(theirs.engine.path or "") as entrance:
        result = await made.studio.adopting.adopt(request_of(theirs, url=entrance.url))
        await entrance.shut()
        await until_async(
            lambda: EngineState.GONE in [one.engine.state for one in made.of(EngineChanged)],
            "the announcement",
        )

        answer = await ask(result, result.api_key or "")

    assert answer.status_code == 503
    message = answer.json()["error"]["message"]
    assert "is gone" in message
    assert "weir up" not in message  # which is refused while one is adopted
    assert "retry-after" in answer.headers


async def test_its_key_lies_in_a_private_file_and_nowhere_else(
    made: Running, theirs: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in the log, not in an answer, not readable for others."""
    request = request_of(theirs)
    result = await made.studio.adopting.adopt(request)

    file = made.paths.home / "adopted.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KEY in file.read_text()
    assert KEY not in repr(request)
    assert KEY not in repr(result)
    assert KEY not in repr(made.studio.status())
    assert KEY not in caplog.text
    await made.studio.adopting.forget()
    assert not file.exists()


async def test_our_own_gateway_is_not_adopted(made: Running) -> None:
    """Each request would go round for ever."""
    up = await made.studio.up(UpRequest())
    await made.studio.stop()
    for host in ("127.0.0.1", "localhost"):
        url = up.base_url.replace("127.0.0.1", host)
        error = await refused(made.studio.adopting.adopt(AdoptRequest(url=url, key="x")))
        assert error.code == "adopt-itself"


async def test_an_engine_of_ours_has_to_end_first(made: Running, theirs: Fake) -> None:
    """Two at once would share one address."""
    await made.studio.up(UpRequest())

    error = await refused(made.studio.adopting.adopt(request_of(theirs)))

    assert error.code == "engine-busy"
    assert "weir stop" in (error.hint or "")
    assert made.studio.engine().state is EngineState.READY


async def test_a_start_under_way_is_not_overtaken(made: Running, theirs: Fake) -> None:
    """Also while nothing of it runs yet; and a start that comes first wins over a slow look."""
    async with asyncio.TaskGroup() as tasks:
        starting = tasks.create_task(refused(made.studio.up(UpRequest(overrides={"boot_s": "60"}))))
        await asyncio.sleep(0)
        assert made.studio.engine().state is EngineState.PREPARING

        error = await refused(made.studio.adopting.adopt(request_of(theirs)))

        assert error.code == "engine-busy"
        await made.studio.stop()
        assert (await starting).code == "up-stopped"
    assert not (made.paths.home / "adopted.json").exists()


async def test_an_adoption_under_way_does_not_overtake_a_start(made: Running, theirs: Fake) -> None:
    """Asking somebody's server takes time, in which a person may start an engine."""
    async with asyncio.TaskGroup() as tasks:
        adopting = tasks.create_task(refused(made.studio.adopting.adopt(request_of(theirs))))
        await asyncio.sleep(0)
        starting = tasks.create_task(made.studio.up(UpRequest()))

        assert (await adopting).code == "engine-busy"
        await starting
    assert made.studio.engine().state is EngineState.READY
    assert not (made.paths.home / "adopted.json").exists()


async def test_a_failure_keeps_what_was_adopted_before(made: Running, theirs: Fake) -> None:
    """A mistyped second address must not lose the first."""
    await made.studio.adopting.adopt(request_of(theirs))

    error = await refused(
        made.studio.adopting.adopt(AdoptRequest(url="http://127.0.0.1:1", key=None))
    )

    assert error.code == "adopt-unreachable"
    assert made.studio.engine().state is EngineState.ADOPTED
    assert made.studio.adopting.info().name == "Bob's"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"key": "two words"}, "adopt-key-invalid"),
        ({"key": "line\nbreak"}, "adopt-key-invalid"),
        ({"key": "schlüssel"}, "adopt-key-invalid"),
        ({"name": ""}, "adopt-name"),
        ({"name": "x" * 65}, "adopt-name"),
        ({"name": "a\x1b[2J"}, "adopt-name"),
        ({"url": "nonsense"}, "adopt-address"),
        ({"url": "ftp://h"}, "adopt-address"),
    ],
)
async def test_wrong_words_are_refused_before_anything_is_kept(
    made: Running, theirs: Fake, change: dict[str, str], code: str
) -> None:
    """What comes over the API may be anything."""
    error = await refused(made.studio.adopting.adopt(request_of(theirs, **change)))

    assert error.code == code
    assert not (made.paths.home / "adopted.json").exists()


async def test_what_works_less_well_is_noted(made: Running) -> None:
    """Nobody should wonder later."""
    with fake("--served-model-name", "one", "two", environment={"VLLM_API_KEY": ""}) as engine:
        result = await made.studio.adopting.adopt(request_of(engine, key=None))

    assert any("asks for no key" in note for note in result.notes)
    assert any("serves 2 models" in note for note in result.notes)


@pytest.mark.parametrize("text", ["{", "[]", '{"url": 3}'])
async def test_a_damaged_file_holds_up_nothing(tmp_path: Path, text: str) -> None:
    """The service starts, says what is wrong when asked, and forgetting puts it right."""
    with fake_paths(tmp_path) as paths:
        (paths.home / "adopted.json").write_text(text)
        async with running(paths) as one:
            with pytest.raises(StudioError) as caught:
                one.studio.adopting.info()
            assert caught.value.code == "adopted-damaged"
            assert (await one.studio.adopting.forget()).was_adopted
            await one.studio.up(UpRequest())


async def test_another_port_is_taken_along(made: Running, theirs: Fake) -> None:
    """As `weir up --port` does."""
    port = free_port()

    result = await made.studio.adopting.adopt(request_of(theirs, port=port))

    assert result.base_url == f"http://127.0.0.1:{port}/v1"
