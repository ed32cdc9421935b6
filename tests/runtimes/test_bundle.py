"""What an index may say: nothing that leads outside, nothing twice, nothing from tomorrow."""

import msgspec
import pytest

from studio.domain.errors import BadInput, Damaged, StudioError
from studio.runtimes import bundle
from studio.runtimes.bundle import Item
from tests.runtimes.bundles import changed, index_of, item
from tests.runtimes.standin import StandIn

PYTHON = item("runtime/python/bin/python3", b"x", mode=0o755)


def refusal(stand_in: StandIn, *items: Item) -> StudioError | None:
    """Return why an index with these items is refused."""
    index = index_of(stand_in, (PYTHON, *items))
    try:
        assert bundle.decode(msgspec.json.encode(index), "the file") == index
    except StudioError as error:
        return error
    return None


def test_what_an_export_writes_is_accepted(stand_in: StandIn) -> None:
    """Links upward inside the runtime, odd names, executable files."""
    assert (
        refusal(
            stand_in,
            item("runtime/python/lib64", link="lib"),
            item("runtime/python/bin/python", link="../base/bin/python3.11"),
            item("runtime/python/bin/same", link="./python3"),
            item("runtime/python/lib/ünï cöde (1).py", b"1"),
            item("recipe/patches/0001.patch", b"2"),
        )
        is None
    )


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "runtime/../../etc/passwd",
        "runtime/python/../../../x",
        "../runtime/x",
        "runtime",
        "runtime/",
        "runtime//x",
        "runtime/./x",
        "other/x",
        "runtime/a\\..\\b",
        "runtime/a\0b",
        "runtime/a\nb",
        "runtime/" + "n" * 256,
        "runtime/runtime.json",
        "runtime/import.json",
    ],
)
def test_a_path_outside_or_of_a_record_is_refused(stand_in: StandIn, path: str) -> None:
    """Also when the signer is trusted: they may have been deceived."""
    error = refusal(stand_in, item(path, b"x"))

    assert error is not None
    assert error.code == "archive-unsafe"


@pytest.mark.parametrize(
    "link",
    [
        "/etc/passwd",
        "../../../etc/passwd",
        "../../..",
        "",
        "a/../../../../etc",
        "lib/../../../x",
        "a\0b",
        "..\\..\\x",
    ],
)
def test_a_link_outside_is_refused(stand_in: StandIn, link: str) -> None:
    """`..` behind a name counts as outside too: the name may be a link itself."""
    error = refusal(stand_in, item("runtime/python/link", link=link))

    assert error is not None
    assert error.code == "archive-unsafe"


def test_a_link_in_the_recipe_is_refused(stand_in: StandIn) -> None:
    """Nothing there needs one."""
    assert refusal(stand_in, item("recipe/link", link="runtime.toml")) is not None


def test_nothing_is_there_twice_or_below_a_file(stand_in: StandIn) -> None:
    """The second would win over the first, or pass through a link."""
    twice = refusal(stand_in, item("runtime/x", b"1"), item("runtime/x", b"2"))
    below = refusal(stand_in, item("runtime/x", link="python"), item("runtime/x/y", b"2"))

    assert twice is not None
    assert "twice" in twice.message
    assert below is not None
    assert "below" in below.message


@pytest.mark.parametrize(
    "wrong",
    [
        Item("runtime/x", 0o4755, 1, 0, bytes(32)),
        Item("runtime/x", 0o644, -1, 0, bytes(32)),
        Item("runtime/x", 0o644, 1, 1 << 63, bytes(32)),
        Item("runtime/x", 0o644, 1, 0, bytes(31)),
        Item("runtime/x", 0o755, 1, 0, b"", "python"),
    ],
    ids=["setuid", "negative", "time", "no digest", "link with content"],
)
def test_modes_sizes_and_times_are_those_of_files(stand_in: StandIn, wrong: Item) -> None:
    """A setuid bit, a size below zero, a time that no disk holds."""
    error = refusal(stand_in, wrong)

    assert error is not None
    assert error.code == "archive-unsafe"


def test_names_that_become_folders_are_plain(stand_in: StandIn) -> None:
    """The runtime's name and id are part of a path, and the old folder is replaced in scripts."""
    good = index_of(stand_in, (PYTHON,))
    bad = [
        changed(good, record=msgspec.structs.replace(good.record, name="../x")),
        changed(good, record=msgspec.structs.replace(good.record, name="other-1.0")),
        changed(good, record=msgspec.structs.replace(good.record, runtime_id="../" + "a" * 61)),
        changed(good, root=""),
        changed(good, root="python"),
        changed(good, items=()),
    ]
    for index in bad:
        with pytest.raises(Damaged) as caught:
            bundle.require_sound(index, "the file")
        assert caught.value.code == "archive-unsafe"


def test_more_files_than_any_runtime_has_are_refused(stand_in: StandIn) -> None:
    """A million empty files fill a disk without a byte."""
    many = tuple(item(f"runtime/python/{number}") for number in range(500_000))
    with pytest.raises(Damaged) as caught:
        bundle.require_sound(index_of(stand_in, (PYTHON, *many)), "the file")

    assert "file number 500001" in caught.value.message


def test_a_newer_form_asks_for_a_newer_studio(stand_in: StandIn) -> None:
    """Not for another copy of the file, which would not help."""
    raw = msgspec.to_builtins(index_of(stand_in, (PYTHON,)))
    for change in ({"schema_version": 2}, {"recipe": {**raw["recipe"], "later": 1}}):
        with pytest.raises(BadInput) as caught:
            bundle.decode(msgspec.json.encode({**raw, **change}), "the file")
        assert caught.value.code == "bundle-newer"


@pytest.mark.parametrize("raw", [b"", b"{}", b"\xff", b"[" * 5000])
def test_what_is_no_index_is_damaged(raw: bytes) -> None:
    """And not a crash of the reader."""
    with pytest.raises(Damaged) as caught:
        bundle.decode(raw, "the file")

    assert caught.value.code == "bundle-damaged"


def test_the_order_depends_on_the_paths_alone() -> None:
    """Else two exports of one runtime would differ."""
    paths = ["runtime/b", "recipe/z", "runtime/a/c", "recipe/a"]

    forth = bundle.ordered(map(item, paths))
    back = bundle.ordered(map(item, reversed(paths)))

    assert forth == back
    assert [one.path for one in forth] == ["recipe/a", "recipe/z", "runtime/a/c", "runtime/b"]
