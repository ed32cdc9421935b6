"""`weir fix` inside: what is offered, and that taking it serves again and loses nothing."""

from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from studio.app.last_failure import Failure, LastFailure
from studio.app.remedies import Remedies
from studio.domain.control import UpRequest
from studio.domain.diagnosis import FixRequest
from studio.domain.errors import BadInput, ErrorInfo, StudioError
from studio.domain.remedies import Badge, Remedy, RemedyKind
from studio.domain.server import EngineSnapshot, EngineState
from studio.host.documents import write_json
from studio.models import library
from tests.app.running import Running, fake_paths, running
from tests.app.test_library_taking import made_elsewhere, of_package
from tests.fakes.catalogue import MODEL, PRESET

REMEDIES = (
    Remedy(
        kind=RemedyKind.RESTART_WITH,
        text="Let it be slower.",
        settings={"tokens_per_s": "100"},
    ),
    Remedy(kind=RemedyKind.RESTART, text="Start again."),
    Remedy(kind=RemedyKind.COMMAND, text="Install one.", command="sudo apt install gcc"),
    Remedy(kind=RemedyKind.REPAIR, text="Install it again.", part="runtime"),
    Remedy(kind=RemedyKind.REPAIR, text="Get the model again.", part="model"),
)


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Running]:
    """Return a running Studio after a service that failed."""
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        error = ErrorInfo(code="a-cause", message="It failed.", exit_status=5, remedies=REMEDIES)
        failure = Failure(preset=PRESET, overrides={"max_num_seqs": "3"}, error=error)
        write_json(paths.last_failure, failure)
        async with running(paths) as one:
            yield one


def _remedies(made: Running, engine: EngineSnapshot) -> Remedies:
    """Return the remedies of a service whose engine stands like this."""
    return Remedies(
        paths=made.paths,
        presets=made.parts.presets,
        failed=LastFailure(made.paths.last_failure),
        engine=lambda: engine,
        runtimes=made.studio.runtimes,
        serving=made.studio,
    )


async def refused(call: Awaitable[object]) -> StudioError:
    """Return the error that a call ends with."""
    with pytest.raises(StudioError) as caught:
        await call
    return caught.value


async def test_what_an_earlier_service_failed_at_is_offered(made: Running) -> None:
    """The terminal that started it has ended it."""
    offered = await made.studio.remedies.offered()

    assert offered.preset == PRESET
    assert offered.failure is not None
    assert offered.failure.code == "a-cause"
    assert [(one.number, one.about) for one in offered.offered] == [
        (number, "a-cause") for number in range(1, 6)
    ]
    assert offered.offered[0].command == (
        f"weir up {PRESET} --set max_num_seqs=3 --set tokens_per_s=100"
    )
    assert offered.offered[2].command == "sudo apt install gcc"


async def test_settings_go_on_top_of_what_was_asked_for(made: Running) -> None:
    """The person's own settings are not lost."""
    fixed = await made.studio.remedies.fix(FixRequest(number=1, about="a-cause"))

    engine = made.studio.engine()
    assert engine.state is EngineState.READY
    assert engine.overrides == {"max_num_seqs": "3", "tokens_per_s": "100"}
    assert fixed.taken.number == 1
    assert fixed.result.preset == PRESET
    after = await made.studio.remedies.offered()
    assert after.failure is None
    assert "a-cause" not in {one.about for one in after.offered}


async def test_a_restart_asks_for_the_same(made: Running) -> None:
    """As it is."""
    await made.studio.remedies.fix(FixRequest(number=2))

    assert made.studio.engine().overrides == {"max_num_seqs": "3"}


async def test_what_only_a_person_can_do_is_not_taken(made: Running) -> None:
    """It is said what to type."""
    error = await refused(made.studio.remedies.fix(FixRequest(number=3)))

    assert error.code == "remedy-by-hand"
    assert error.hint == "Run this: `sudo apt install gcc`."
    assert made.studio.engine().state is EngineState.STOPPED


async def test_an_adopted_engine_that_serves_is_no_failure(made: Running) -> None:
    """Whatever failed before: nothing has to be mended."""
    offered = await _remedies(made, EngineSnapshot(state=EngineState.ADOPTED)).offered()

    assert offered.failure is None
    assert offered.offered == ()


@pytest.mark.parametrize("state", [EngineState.BACKING_OFF, EngineState.STARTING])
async def test_no_restart_is_offered_while_the_studio_restarts(
    made: Running, state: EngineState
) -> None:
    """It would end the start that is under way."""
    error = ErrorInfo(code="died", message="It died.", exit_status=5, remedies=REMEDIES)

    offered = await _remedies(
        made, EngineSnapshot(state=state, preset=PRESET, error=error)
    ).offered()

    assert RemedyKind.RESTART not in {one.remedy.kind for one in offered.offered}
    first = offered.offered[0]
    assert (first.number, first.remedy.kind) == (None, RemedyKind.ADVICE)
    assert "by itself" in first.remedy.text
    assert [one.number for one in offered.offered[1:]] == [1, 2, 3, 4]


async def test_mere_advice_has_no_number(made: Running) -> None:
    """What has a number can be taken, or at least typed."""
    advice = Remedy(kind=RemedyKind.ADVICE, text="Nothing to take.")
    badge = Badge(code="slow", title="Slow", cost="some", evidence="x", remedies=(advice,))
    remedies = _remedies(
        made, EngineSnapshot(state=EngineState.READY, preset=PRESET, badges=(badge,))
    )

    offered = await remedies.offered()
    error = await refused(remedies.fix(FixRequest(number=1)))

    assert [one.number for one in offered.offered] == [None]
    assert error.code == "remedy-unknown"
    assert "advice" in error.message


async def test_a_model_that_cannot_be_fetched_is_named(made: Running) -> None:
    """Deleting what nobody can bring back would make it worse."""
    error = await refused(made.studio.remedies.fix(FixRequest(number=5)))

    assert error.code == "model-by-hand"
    assert (made.paths.models / MODEL / "config.json").exists()


async def test_a_number_that_is_not_there_or_means_something_else_by_now(made: Running) -> None:
    """Two windows may look at the same list."""
    unknown = await refused(made.studio.remedies.fix(FixRequest(number=9)))
    changed = await refused(made.studio.remedies.fix(FixRequest(number=1, about="other-cause")))

    assert (unknown.code, changed.code) == ("remedy-unknown", "remedy-changed")


async def test_a_failure_of_this_service_is_offered_with_the_presets_own_knobs(
    made: Running,
) -> None:
    """The error that `weir up` ends with carries the same remedies."""
    request = UpRequest(preset=PRESET, overrides={"fault": "refuse-kv"})
    error = await refused(made.studio.up(request))

    offered = await made.studio.remedies.offered()

    assert error.code == "kv-cache-too-small"
    assert offered.failure is not None
    assert offered.failure.code == "kv-cache-too-small"
    assert tuple(one.remedy for one in offered.offered) == error.remedies
    knobs = made.parts.presets.get(PRESET).knobs
    for one in error.remedies:
        assert one.settings.keys() <= knobs.keys()
    assert any(one.kind is RemedyKind.RESTART_WITH for one in error.remedies)


async def test_nothing_is_offered_where_nothing_failed(made: Running) -> None:
    """And asking for it says so."""
    made.paths.last_failure.unlink()

    assert (await made.studio.remedies.offered()).offered == ()
    error = await refused(made.studio.remedies.fix(FixRequest(number=1)))
    assert error.code == "nothing-to-fix"


async def test_a_model_that_lies_where_a_person_keeps_it_is_not_touched(
    made: Running, tmp_path: Path
) -> None:
    """It came on a stick; the person says what becomes of it."""
    (spec,) = of_package().models
    stick = made_elsewhere(tmp_path / "stick" / "small")
    own = library.model_folder(made.paths, spec)
    made.studio.remedies._require_own(spec, own)  # it is nowhere yet
    assert library.find_made(made.paths, spec, [stick]) == stick

    with pytest.raises(BadInput) as caught:
        made.studio.remedies._require_own(spec, own)

    assert caught.value.code == "model-by-hand"
    assert str(stick) in caught.value.message
    assert (stick / library.RECORD_FILE).exists()
