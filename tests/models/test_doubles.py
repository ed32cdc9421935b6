"""The same bytes twice: found by digests, never where two names share one file."""

from studio.models.doubles import Weights, counted, find
from studio.models.finding import File

MIB = 1 << 20


def file(name: str, inode: int, size: int = 2 * MIB) -> File:
    """Return a file."""
    return File(name, f"/{name}", size, 1, 7, inode)


def test_equal_weights_in_two_models_are_told_with_what_they_cost() -> None:
    """One of them can go."""
    found = find(
        [
            Weights("a", [(file("w1", 1), "x"), (file("w2", 2), "y")]),
            Weights("b", [(file("w1", 3), "x"), (file("w2", 4), "y")]),
            Weights("c", [(file("w1", 5), "x"), (file("w3", 6), "z")]),
        ]
    )

    assert found.same_as == {"a": ("b",), "b": ("a",)}
    costs = {one.models: (one.files, one.extra_bytes) for one in found.groups}
    assert costs == {("a", "b", "c"): (1, 4 * MIB), ("a", "b"): (1, 2 * MIB)}


def test_names_of_one_file_are_no_doubles() -> None:
    """Hard links and revisions of a cache share their bytes."""
    found = find([Weights("a", [(file("w", 1), "x")]), Weights("b", [(file("w", 1), "x")])])

    assert (found.groups, dict(found.same_as), found.to_hash) == ((), {}, ())


def test_only_files_of_equal_size_have_to_be_read() -> None:
    """And each of them once, whatever its names."""
    found = find(
        [
            Weights("a", [(file("w", 1), None), (file("v", 2, 3 * MIB), None)]),
            Weights("b", [(file("w", 3), "x"), (file("u", 1), None)]),
        ]
    )

    assert [one.inode for one in found.to_hash] == [1]


def test_small_and_other_files_are_not_looked_at() -> None:
    """A licence that all models have is no waste worth a line."""
    some = [file("a.safetensors", 1), file("b.safetensors", 2, 10), file("README.md", 3)]

    assert [one.name for one in counted(some)] == ["a.safetensors"]
