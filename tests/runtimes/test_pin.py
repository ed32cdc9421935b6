"""What a person supplies for a recipe that leaves something open; what is refused until then."""

from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import BadInput, Busy, Damaged, HostLacks
from studio.domain.manifests import RuntimeRecipe
from studio.domain.runtimes import PinRequest, RuntimePin, RuntimeState
from studio.host.files import exclusive
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths, bundled_root
from studio.runtimes import pin
from studio.runtimes.catalog import Catalog
from tests.fakes.git import commit, make_repository

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SHA256 = "ab" * 32
HYPERQWEN = "cu13-hyperqwen-0.32.0"
CUBIN = "flashinfer_cubin-0.7.0.post1-py3-none-any.whl"
V150, V152 = "sm70-1cat-1.5.0", "sm70-1cat-1.5.2"
WHEEL_152 = "1cat_vllm-1.5.2-cp312-cp312-manylinux_2_28_x86_64.whl"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """The shipped catalogue and an empty home."""
    return Paths(home=tmp_path / "höme", catalogue=bundled_root())


def supply(paths: Paths, name: str, **request: object) -> RuntimeRecipe:
    """Supply something and return the recipe with it."""
    asked = msgspec.convert(request, PinRequest)
    pin.record(paths, Catalog(paths).published(name), asked)
    return Catalog(paths).recipe(name)


def refusal(recipe: RuntimeRecipe) -> HostLacks:
    """Return the error that keeps a recipe from being installed."""
    with pytest.raises(HostLacks) as caught:
        pin.require_installable(recipe)
    return caught.value


def test_a_series_without_a_commit_is_refused_until_one_is_supplied(paths: Paths) -> None:
    """No installation chooses a commit of somebody else's code by itself."""
    error = refusal(Catalog(paths).recipe(HYPERQWEN))
    assert error.code == "runtime-not-pinned"
    assert f"weir runtime pin {HYPERQWEN} --commit SHA" in (error.hint or "")

    recipe = supply(paths, HYPERQWEN, commit=COMMIT.upper(), hashes={CUBIN: SHA256})

    pin.require_installable(recipe)
    commits = [one.upstream.commit for one in recipe.patches if one.upstream is not None]
    assert commits == [COMMIT, COMMIT]


async def test_the_newest_commit_or_a_branch_is_looked_up_and_written_down(
    paths: Paths, tmp_path: Path
) -> None:
    """What is recorded is a commit: a branch that moves on changes nothing that was pinned."""
    newest = make_repository(tmp_path / "upstream", {"a": b"1\n"})
    published = _from(Catalog(paths).published(HYPERQWEN), str(tmp_path / "upstream"))
    policy = NetworkPolicy()
    assert await pin.resolved(paths, published, PinRequest(), policy) == PinRequest(commit=newest)
    branch = await pin.resolved(paths, published, PinRequest(commit="main"), policy)
    assert branch == PinRequest(commit=newest)
    pin.record(paths, published, branch)
    commit(tmp_path / "upstream", {"a": b"2\n"}, "Third")

    again = await pin.resolved(paths, published, PinRequest(), policy)

    assert again == PinRequest()  # nothing is open: nothing is chosen
    with pytest.raises(BadInput, match="Nothing was supplied"):
        pin.record(paths, published, again)
    assert pin.read(paths).runtimes[HYPERQWEN].commit == newest


async def test_a_commit_in_full_or_for_a_recipe_that_names_one_asks_nobody(paths: Paths) -> None:
    """Without a network a person can still write one down."""
    offline = NetworkPolicy(offline_source="WEIR_OFFLINE")
    catalog = Catalog(paths)
    for name, request in (
        (HYPERQWEN, PinRequest(commit=COMMIT)),
        (HYPERQWEN, PinRequest(commit="-rf")),
        (HYPERQWEN, PinRequest(confirm=("series-order",))),
        (V152, PinRequest()),
        ("cu13-hyperqwen-0.31.0", PinRequest(commit="main")),
    ):
        assert await pin.resolved(paths, catalog.published(name), request, offline) == request


def _from(recipe: RuntimeRecipe, repository: str) -> RuntimeRecipe:
    """Return a recipe whose series lie somewhere else."""
    patches = tuple(
        msgspec.structs.replace(
            one, upstream=msgspec.structs.replace(one.upstream, repository=repository)
        )
        if one.upstream is not None
        else one
        for one in recipe.patches
    )
    return msgspec.structs.replace(recipe, patches=patches)


def test_a_wheel_without_a_hash_is_refused_until_one_is_supplied(paths: Paths) -> None:
    """A file that nobody vouches for is not run because its name is right."""
    error = refusal(Catalog(paths).recipe(V152))
    assert error.code == "hash-unverified"
    assert "1cat-vllm 1.5.2" in error.message

    recipe = supply(paths, V152, hashes={WHEEL_152: SHA256}, confirm=["lock"])

    pin.require_installable(recipe)
    assert recipe.packages is not None
    (wheel,) = recipe.packages.wheels
    assert wheel.sha256 == SHA256
    assert wheel.file == WHEEL_152
    assert wheel.url.endswith(f"/v1.5.2/{WHEEL_152}")


def test_a_mark_that_blocks_is_agreed_to_by_name(paths: Paths) -> None:
    """The hash of 1.5.0 is known, its list of packages is not; the person may go on."""
    error = refusal(Catalog(paths).recipe(V150))
    assert error.code == "hash-unverified"
    assert f"weir runtime pin {V150} --confirm lock" in (error.hint or "")

    pin.require_installable(supply(paths, V150, confirm=["lock"]))


def test_what_was_supplied_adds_up(paths: Paths) -> None:
    """The commit today, the hash tomorrow."""
    supply(paths, HYPERQWEN, commit=COMMIT)
    assert pin.open_state(Catalog(paths).recipe(HYPERQWEN)) is RuntimeState.UNVERIFIED

    recipe = supply(paths, HYPERQWEN, hashes={CUBIN: SHA256})

    assert pin.open_state(recipe) is None
    supply(paths, V150, confirm=["lock"])
    assert set(pin.read(paths).runtimes) == {HYPERQWEN, V150}


def test_what_was_supplied_can_be_forgotten(paths: Paths) -> None:
    """A wrong commit must not need an editor; other runtimes keep theirs."""
    supply(paths, V150, confirm=["lock"])
    supply(paths, HYPERQWEN, commit=COMMIT)

    supply(paths, HYPERQWEN, forget=True)

    assert pin.open_state(Catalog(paths).recipe(HYPERQWEN)) is RuntimeState.NOT_PINNED
    assert set(pin.read(paths).runtimes) == {V150}


def test_the_recipe_wins_over_what_was_supplied(paths: Paths) -> None:
    """When a later version of the catalogue knows the value, an old pin changes nothing."""
    recipe = Catalog(paths).published("cu13-hyperqwen-0.31.0")

    filled = pin.apply(recipe, RuntimePin(commit=COMMIT, hashes={"other.whl": SHA256}))

    assert filled == recipe


@pytest.mark.parametrize(
    ("name", "request_", "code", "said"),
    [
        (HYPERQWEN, {}, "pin-empty", "--commit SHA"),
        ("cpu-vllm-0.31.0", {}, "pin-empty", "leaves nothing open"),
        (HYPERQWEN, {"commit": "main"}, "pin-commit", "40 hexadecimal"),
        (HYPERQWEN, {"commit": COMMIT[:12]}, "pin-commit", "40 hexadecimal"),
        (HYPERQWEN, {"commit": COMMIT + "\n"}, "pin-commit", "40 hexadecimal"),
        ("cu13-hyperqwen-0.31.0", {"commit": COMMIT}, "pin-needless", "b20b7401dc3a"),
        ("cpu-vllm-0.31.0", {"commit": COMMIT}, "pin-needless", "leaves no commit open"),
        (V152, {"hashes": {WHEEL_152: "abc"}}, "pin-hash", "64 hexadecimal"),
        (V152, {"hashes": {"vllm-1.5.2-py3-none-any.whl": SHA256}}, "pin-unknown", "1cat-vllm"),
        (V152, {"hashes": {"1cat_vllm-1.5.1-x.whl": SHA256}}, "pin-unknown", "1cat-vllm 1.5.2"),
        (V152, {"hashes": {"1cat_vllm-1.5.2-….whl": SHA256}}, "pin-unknown", "1cat-vllm 1.5.2"),
        (V152, {"hashes": {f"../{WHEEL_152}": SHA256}}, "pin-unknown", "no wheel"),
        (
            V150,
            {"hashes": {"1cat_vllm-1.5.0-cp312-cp312-linux_x86_64.whl": SHA256}},
            "pin-needless",
            "another one",
        ),
        (V150, {"confirm": ["look"]}, "pin-unknown", "lock"),
        ("cpu-vllm-0.31.0", {"confirm": ["lock"]}, "pin-unknown", "nothing is to confirm"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    paths: Paths, name: str, request_: dict[str, object], code: str, said: str
) -> None:
    """A slip in a hash would be found hours later, after a download of gigabytes."""
    with pytest.raises(BadInput) as caught:
        supply(paths, name, **request_)

    assert caught.value.code == code
    assert said in f"{caught.value.message} {caught.value.hint}"
    assert not paths.runtime_pins.exists()


def test_the_recipes_own_hash_may_be_supplied_again(paths: Paths) -> None:
    """Who computes the sha256 of the file at hand and finds the same one did nothing wrong."""
    recipe = Catalog(paths).published(V150)
    assert recipe.packages is not None
    (wheel,) = recipe.packages.wheels
    assert wheel.file is not None

    supply(paths, V150, hashes={wheel.file: wheel.sha256})


def test_two_writers_do_not_lose_each_others_pins(paths: Paths) -> None:
    """The window and the command line may both be open."""
    with exclusive(paths.runtime_pins.with_suffix(".lock")), pytest.raises(Busy) as caught:
        supply(paths, V150, confirm=["lock"])

    assert caught.value.code == "pin-running"
    supply(paths, V150, confirm=["lock"])


def test_a_damaged_file_is_named_and_not_overwritten(paths: Paths) -> None:
    """What the person supplied is not thrown away because a disk was full once."""
    paths.home.mkdir(parents=True)
    paths.runtime_pins.write_bytes(b'{"runtimes": ')

    with pytest.raises(Damaged) as caught:
        supply(paths, V150, confirm=["lock"])

    assert str(paths.runtime_pins) in caught.value.message
    assert paths.runtime_pins.read_bytes() == b'{"runtimes": '


def test_a_hash_of_the_wrong_name_does_not_reach_a_wheel(paths: Paths) -> None:
    """Pins outlive the recipe's versions."""
    recipe = Catalog(paths).published(V152)

    filled = pin.apply(recipe, RuntimePin(hashes={"1cat_vllm-1.5.3-x.whl": SHA256}))

    assert filled.packages == recipe.packages


def test_a_second_hash_of_the_same_wheel_replaces_the_first(paths: Paths) -> None:
    """Somebody who mistyped a name or a hash types it again; two answers would be none."""
    other = WHEEL_152.replace("_2_28_", "_2_31_")
    supply(paths, V152, hashes={other: "cd" * 32})

    recipe = supply(paths, V152, hashes={WHEEL_152: SHA256})

    assert pin.read(paths).runtimes[V152].hashes == {WHEEL_152: SHA256}
    assert recipe.packages is not None
    assert SHA256 in [wheel.sha256 for wheel in recipe.packages.wheels]
