"""What an update would change, part by part."""

import asyncio

from studio.domain.hardware import HostSnapshot
from studio.domain.runtimes import Change, ChangeKind, RuntimeUpdate, UpdateKind
from studio.host.probe import snapshot
from studio.runtimes import folder, updates
from studio.runtimes.install import install
from tests.runtimes.sharing_pair import add, build, root_of
from tests.runtimes.standin import NAME, PATCH, PATCH_TEXT, StandIn


def host(stand_in: StandIn) -> HostSnapshot:
    """Return this machine."""
    return snapshot(stand_in.paths.home.parent)


def offers(stand_in: StandIn) -> list[RuntimeUpdate]:
    """Return what is offered now."""
    return updates.offered([stand_in.recipe], stand_in.paths, host(stand_in))


def test_packages_patches_and_knobs_are_listed_with_versions(stand_in: StandIn) -> None:
    """Added, removed, changed: nobody has to compare two locks by eye."""
    add(stand_in, "weirold")
    record = build(stand_in)
    lock = stand_in.recipe_file.parent / "requirements.lock"
    rows = [row for row in lock.read_text().splitlines() if "weirold" not in row]
    lock.write_text("\n".join([*rows, "weirnew==2.0 --hash=sha256:00", ""]))
    lock.write_text(lock.read_text().replace("weirother==1.0", "weirother==1.1"))
    stand_in.write_patch("0002-more.patch", PATCH_TEXT)
    stand_in.edit(f'files = ["{PATCH}"]', 'files = ["0002-more.patch"]')
    stand_in.edit(
        "[serve]",
        '[knobs.speed]\nkind = "int"\ndefault = 3\nmeaning = "How fast."\n[serve]',
    )

    (offer,) = offers(stand_in)

    assert (offer.kind, offer.runtime, offer.target) == (UpdateKind.RECIPE, NAME, NAME)
    assert offer.runtime_id == record.runtime_id
    assert offer.packages == (
        Change(kind=ChangeKind.ADDED, name="weirnew", after="2.0"),
        Change(kind=ChangeKind.REMOVED, name="weirold", before="1.0"),
        Change(kind=ChangeKind.CHANGED, name="weirother", before="1.0", after="1.1"),
    )
    assert offer.patches == (
        Change(kind=ChangeKind.REMOVED, name=PATCH),
        Change(kind=ChangeKind.ADDED, name="0002-more.patch"),
    )
    assert offer.knobs == (Change(kind=ChangeKind.ADDED, name="speed", after="3"),)
    assert offer.interpreter is None
    assert (offer.usable, offer.is_here) == (True, False)


def test_a_patch_with_another_text_is_a_change_of_its_series(stand_in: StandIn) -> None:
    """The names are the same and the digest is not."""
    build(stand_in)
    stand_in.write_patch(PATCH, PATCH_TEXT.replace("Z = 3", "Z = 4"))

    (offer,) = offers(stand_in)

    assert offer.patches == (Change(kind=ChangeKind.CHANGED, name="Patches of the test"),)
    assert offer.packages == ()


def test_an_installation_that_does_not_say_what_it_was_is_not_guessed_at(
    stand_in: StandIn,
) -> None:
    """Its recipe of the day is lost; what is not known is said to be."""
    record = build(stand_in)
    (root_of(stand_in, record) / folder.RECIPE_FILE).write_text("{half")
    stand_in.write_patch(PATCH, PATCH_TEXT.replace("Z = 3", "Z = 4"))

    (offer,) = offers(stand_in)

    assert (offer.patches, offer.knobs) == (None, None)


def test_what_is_not_installed_or_as_its_recipe_says_has_no_offer(stand_in: StandIn) -> None:
    """The list is short on most days."""
    assert offers(stand_in) == []
    build(stand_in)
    assert offers(stand_in) == []


def test_kinds_are_told_by_name_and_order_by_version(stand_in: StandIn) -> None:
    """`cu13-hyperqwen-0.32.0` is no newer `cpu-vllm-0.31.0`."""
    assert updates.family(stand_in.recipe) == "tiny"
    assert updates.changes({"a": "1", "b": "2"}, {"b": "2"}) == (
        Change(kind=ChangeKind.REMOVED, name="a", before="1"),
    )


def test_an_offer_writes_nothing(stand_in: StandIn) -> None:
    """Looking is free, also of a home that only others may write."""
    asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    add(stand_in, "weirmore")
    before = {str(path): path.lstat().st_mtime_ns for path in stand_in.paths.home.rglob("*")}

    assert offers(stand_in)

    after = {str(path): path.lstat().st_mtime_ns for path in stand_in.paths.home.rglob("*")}
    assert before == after
