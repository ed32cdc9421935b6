"""Names that a hub says are hostile until shown otherwise; patterns are huggingface_hub's."""

import pytest
from huggingface_hub.utils import filter_repo_objects

from studio.domain.downloads import FetchedFile, HubName
from studio.domain.errors import BadInput, Damaged
from studio.hub.repository import (
    Repository,
    is_commit,
    require_commit,
    require_name,
    safe,
    selected,
)

SHA256 = "0f" * 32
BLOB = "0f" * 20


def file(path: str = "a.json", **changes: object) -> FetchedFile:
    """Return a file as a hub lists it."""
    known: dict[str, object] = {"bytes": 1, "sha256": SHA256, **changes}
    return FetchedFile(path=path, **known)


def holding(*paths: str) -> Repository:
    """Return a repository with these files."""
    files = tuple(file(path) for path in paths)
    return Repository(
        id="owner/name", hub=HubName.HUGGING_FACE, asked="main", commit="a" * 40, files=files
    )


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../.profile",
        "a/../../b",
        "a/..",
        "/etc/passwd",
        "//server/share",
        "a\\b",
        "..\\..\\b",
        "C:\\b",
        "a\0b",
        "a//b",
        "./a",
        "a/",
        "x" * 1025,
        "weir-model.json",
        "Weir-Model.JSON",
    ],
)
def test_a_path_that_is_hostile_refuses_the_whole_list(path: str) -> None:
    """A hub that was broken into must neither write into a home nor pass for our own proof."""
    with pytest.raises(Damaged) as caught:
        safe([file("config.json"), file(path)])

    assert caught.value.code == "hub-answer"


def test_paths_that_only_look_odd_are_taken_and_sorted() -> None:
    """People name files in their own words; a proof deeper down is a file like any other."""
    paths = ["ünser/模型 1.txt", "a..b", "..a/b", ".gitattributes", "sub/weir-model.json"]

    assert [one.path for one in safe([file(path) for path in paths])] == sorted(paths)


@pytest.mark.parametrize(
    "changes",
    [
        {"sha256": "../../../.ssh/authorized_keys"},
        {"sha256": "/" + SHA256[1:]},
        {"sha256": ""},
        {"sha256": SHA256 + "\n"},
        {"sha256": SHA256.upper()},
        {"sha256": None, "blob_id": "../" + BLOB[3:]},
        {"sha256": None, "blob_id": SHA256},
        {"sha256": None, "blob_id": None},
        {"bytes": -1},
    ],
)
def test_a_digest_that_is_none_never_becomes_a_name_of_a_file(changes: dict[str, object]) -> None:
    """Blobs are kept under their digests: one with `..` in it would leave the cache."""
    with pytest.raises(Damaged) as caught:
        safe([file(**changes)])

    assert caught.value.code == "hub-answer"


def test_git_names_of_small_files_are_digests() -> None:
    """Only files of LFS have a sha256."""
    (one,) = safe([file(sha256=None, blob_id=BLOB)])

    assert one.blob_id == BLOB


def test_two_files_of_one_path_are_refused() -> None:
    """Whichever comes last would win."""
    with pytest.raises(Damaged):
        safe([file("a"), file("a", bytes=2)])


@pytest.mark.parametrize("paths", [("a", "a/b"), ("a/b/c", "a/b"), ("ü" * 127 + "ä",)])
def test_names_that_no_disk_can_hold_refuse_the_list(paths: tuple[str, ...]) -> None:
    """A file that is a folder as well, a part of a path beyond 255 bytes: no hub has such."""
    if len(paths) == 1:
        assert safe([file(paths[0][:-1] + "a")])
        with pytest.raises(Damaged):
            safe([file(paths[0])])
        return
    with pytest.raises(Damaged) as caught:
        safe([file(one) for one in paths])

    assert "as a file and as a folder" in caught.value.message


@pytest.mark.parametrize("name", ["Qwen/Qwen3-0.6B", "a/b", "owner_1/name.v2-x", "a-b/c--d"])
def test_names_as_on_the_hubs_pages_are_taken(name: str) -> None:
    """As they are copied from there."""
    assert require_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "a", "a/b/c", "/a/b", "../b", "a/..", "a..b/c", "-a/b", ".a/b", "a b/c", "a/b\n", "ä/b",
     "a--b/c", "a-/b", "a./b", "a/-b", "a/" + "b" * 97, "https://huggingface.co/a/b", "a/b?x=1",
     "a\\b/c", "a/b\0"],
)  # fmt: skip
def test_other_names_are_refused_before_anything_is_asked(name: str) -> None:
    """They become parts of an address and of a folder's name."""
    with pytest.raises(BadInput) as caught:
        require_name(name)

    assert caught.value.code == "model-name"


@pytest.mark.parametrize(
    "text", [None, 5, "", "main", "A" * 40, "a" * 39, "a" * 41, "a" * 40 + "\n"]
)
def test_a_commit_is_forty_hex_digits(text: object) -> None:
    """It becomes a folder's name."""
    assert is_commit("0123456789abcdef" * 2 + "01234567")
    with pytest.raises(Damaged):
        require_commit(text, "owner/name")


PATHS = ("config.json", "a/model.safetensors", "a/b/model.bin", "a/[x].txt", "README.md")


@pytest.mark.parametrize(
    ("include", "exclude"),
    [
        ((), ()),
        (("*.json",), ()),
        (("a/",), ()),
        (("a/*",), ("*.bin",)),
        ((), ("a/", "*.md")),
        (("*.JSON", "READ??.md"), ()),
        (("a/[[]x].txt", "config.json"), ("config.json",)),
    ],
)
def test_patterns_choose_what_huggingface_hub_chooses(
    include: tuple[str, ...], exclude: tuple[str, ...]
) -> None:
    """Whoever knows `hf download --include` need learn nothing."""
    theirs = list(
        filter_repo_objects(
            PATHS, allow_patterns=list(include) or None, ignore_patterns=list(exclude) or None
        )
    )

    if theirs:
        assert [one.path for one in selected(holding(*PATHS), include, exclude)] == theirs
    else:
        with pytest.raises(BadInput):
            selected(holding(*PATHS), include, exclude)


@pytest.mark.parametrize("paths", [PATHS, ()])
def test_nothing_to_fetch_says_what_there_is(paths: tuple[str, ...]) -> None:
    """A pattern with a slip is mended by looking at the names."""
    with pytest.raises(BadInput) as caught:
        selected(holding(*paths), ("*.gguf",), ())

    assert caught.value.code == "model-no-files"
    assert "`*.gguf`" in caught.value.message
    assert (paths[0] if paths else "none") in str(caught.value.hint)


def test_who_leaves_everything_out_is_told_so() -> None:
    """It said that no file matched "what is left", which nobody had typed."""
    with pytest.raises(BadInput) as caught:
        selected(holding(*PATHS), (), ("*",))

    assert caught.value.message.endswith(f"to fetch: all {len(PATHS)} files are excluded.")
