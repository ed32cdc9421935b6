"""What is silenced outlives the service, and ends when it should."""

from pathlib import Path

import pytest

from studio.app.alarm_mutes import Mutes
from studio.domain.alarms import Mute, MuteRequest
from studio.domain.errors import StudioError


def test_a_mute_outlives_the_service(tmp_path: Path) -> None:
    """A person should say it once."""
    Mutes(tmp_path / "alarms.json").add("spill-swap", MuteRequest(), 10.0)

    assert Mutes(tmp_path / "alarms.json").now(1e12) == (Mute(code="spill-swap"),)


def test_a_mute_for_a_while_ends_by_itself(tmp_path: Path) -> None:
    """And is forgotten with the next change."""
    mutes = Mutes(tmp_path / "alarms.json")
    mutes.add("spill-swap", MuteRequest(for_s=60.0), 100.0)

    assert mutes.holds("spill-swap", 159.0)
    assert not mutes.holds("spill-swap", 160.0)
    mutes.add("card-lost", MuteRequest(), 200.0)
    assert [one.code for one in Mutes(tmp_path / "alarms.json").now(0.0)] == ["card-lost"]


def test_once_is_until_it_is_over(tmp_path: Path) -> None:
    """The next one is heard again; one that is muted for good is not."""
    mutes = Mutes(tmp_path / "alarms.json")
    mutes.add("spill-swap", MuteRequest(is_once=True), 0.0)
    mutes.add("card-lost", MuteRequest(), 0.0)

    mutes.over("spill-swap")
    mutes.over("card-lost")
    mutes.over("never-muted")

    assert [one.code for one in mutes.now(0.0)] == ["card-lost"]


def test_unmuting_forgets_it(tmp_path: Path) -> None:
    """Also what was never muted."""
    mutes = Mutes(tmp_path / "alarms.json")
    mutes.add("spill-swap", MuteRequest(), 0.0)

    mutes.remove("spill-swap")
    mutes.remove("spill-swap")

    assert mutes.now(0.0) == ()


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"mutes": 3}', b"\xff"])
def test_a_damaged_file_mutes_nothing(tmp_path: Path, raw: bytes) -> None:
    """Better one alarm too many; and the next mute puts it right."""
    file = tmp_path / "alarms.json"
    file.write_bytes(raw)
    mutes = Mutes(file)
    assert mutes.now(0.0) == ()

    mutes.add("spill-swap", MuteRequest(), 0.0)

    assert Mutes(file).holds("spill-swap", 0.0)


def test_a_mute_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    """It would be gone with the service, without a word."""
    (tmp_path / "file").write_text("")
    mutes = Mutes(tmp_path / "file" / "alarms.json")

    with pytest.raises(StudioError):
        mutes.add("spill-swap", MuteRequest(), 0.0)

    assert mutes.now(0.0) == ()
