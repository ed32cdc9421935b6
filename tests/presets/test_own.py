"""Presets of the person's own: copied, changed, compared; a broken one breaks nothing else."""

import json
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Busy, HostLacks, NotFound
from studio.domain.presets import ChangeKind, CopyRequest, ImportPresetRequest, UpdateRequest
from studio.host.files import exclusive
from studio.host.paths import Paths, bundled_root
from studio.presets.own import OwnPresets
from studio.presets.store import PresetStore
from tests.presets.samples import HOSTS, fit_on

CATALOGUE = bundled_root()


class Home:
    """A home with a catalogue of its own, which can be updated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "höme with blanks"
        self.presets = self.folder / "presets"
        catalogue = folder / "catalogue" / "presets"
        catalogue.mkdir(parents=True)
        for inner in ("parts", "models"):
            (catalogue / inner).symlink_to(CATALOGUE / "presets" / inner)
        for path in (CATALOGUE / "presets").glob("*.toml"):
            (catalogue / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        self.catalogue = catalogue
        self.store = PresetStore(Paths(home=self.folder, catalogue=folder / "catalogue"))
        self.own = OwnPresets(self.store)

    def update(self, preset_id: str, old: str, new: str) -> None:
        """Change a bundled preset, as a new version would."""
        path = self.catalogue / f"{preset_id}.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return an empty home."""
    return Home(tmp_path)


def test_a_copy_serves_the_same_and_remembers_what_it_came_from(home: Home) -> None:
    """Base id, digest, and the base itself."""
    made = home.own.copy("27b-dflash2", CopyRequest(id="mine", title="Für mich"))

    original = home.store.get("27b-dflash2")
    assert made.title == "Für mich"
    assert made.is_own
    assert made.knobs == original.knobs
    assert made.origin is not None
    assert made.origin.id == "27b-dflash2"
    base = json.loads((home.presets / "bases" / f"{made.origin.digest}.json").read_text())
    assert base["id"] == "27b-dflash2"
    assert home.own.diff("mine", None).changes == ()


def test_a_preset_of_ones_own_takes_the_place_of_the_bundled_one(home: Home) -> None:
    """An edit of a bundled preset makes a copy under its id; taking the file away undoes it."""
    home.own.edit("27b-dflash2", {"max_model_len": "32K", "prefix_cache_retention_interval": "0"})

    edited = home.store.get("27b-dflash2")
    assert edited.is_own
    assert edited.knobs["max_model_len"].default == 32_768
    assert edited.origin is not None
    (home.presets / "27b-dflash2.toml").unlink()
    assert home.store.get("27b-dflash2").knobs["max_model_len"].default == 65_536


def test_an_edit_of_an_own_preset_keeps_the_rest(home: Home) -> None:
    """Word for word; words stay words."""
    home.own.copy("27b-huge", CopyRequest(id="mine"))
    home.own.edit("mine", {"max_num_seqs": "3"})
    home.own.edit("mine", {"prefix_cache_retention_interval": "dense"})

    preset = home.store.get("mine")
    assert preset.knobs["max_num_seqs"].default == 3
    assert preset.knobs["prefix_cache_retention_interval"].default == "None"
    text = home.own.show("mine").text
    assert 'prefix_cache_retention_interval = "dense"' in text
    assert "# S7" in text


def test_an_update_is_compared_three_ways(home: Home) -> None:
    """Yours, the update's, and what both changed."""
    home.own.copy("27b-dflash2", CopyRequest(id="mine"))
    home.own.edit("mine", {"max_num_seqs": "4", "max_model_len": "32768"})
    home.update("27b-dflash2", "max_model_len = 65_536", "max_model_len = 49_152")
    home.update("27b-dflash2", "served_name = ", 'served_name = "new" #')

    diff = home.own.diff("mine", None)

    kinds = {change.name: change.kind for change in diff.changes}
    assert diff.is_three_way
    assert kinds == {
        "max_num_seqs": ChangeKind.YOURS,
        "max_model_len": ChangeKind.CONFLICT,
        "served_name": ChangeKind.UPDATE,
    }


def test_a_lost_base_or_original_is_said_and_compared_as_far_as_can_be(home: Home) -> None:
    """People tidy folders; presets are renamed."""
    home.own.copy("27b-mtp", CopyRequest(id="mine"))
    home.own.edit("mine", {"max_num_seqs": "4"})
    for base in (home.presets / "bases").iterdir():
        base.unlink()
    two_way = home.own.diff("mine", None)
    (home.catalogue / "27b-mtp.toml").unlink()
    alone = home.own.diff("mine", None)

    assert not two_way.is_three_way
    assert "is gone" in (two_way.note or "")
    assert [change.name for change in two_way.changes] == ["max_num_seqs"]
    assert "no preset `27b-mtp`" in (alone.note or "")


def test_two_presets_are_compared(home: Home) -> None:
    """Without any of them being of the person's own."""
    diff = home.own.diff("27b-mtp", "27b-dflash2")

    assert not diff.is_three_way
    assert "draft_tokens" in {change.name for change in diff.changes}
    assert home.own.diff("27b-mtp", "27b-mtp").changes == ()
    with pytest.raises(BadInput) as caught:
        home.own.diff("27b-mtp", None)
    assert caught.value.code == "preset-no-origin"


@pytest.mark.parametrize("name", ["", "Große", "../x", "a/b", ".hidden", "x" * 65, "a b", "a.toml"])
def test_a_name_that_is_no_file_s_is_refused(home: Home, name: str) -> None:
    """It becomes a file's name."""
    with pytest.raises(BadInput) as caught:
        home.own.copy("27b-mtp", CopyRequest(id=name))

    assert caught.value.code == "preset-id"
    assert not home.presets.exists()


def test_what_exists_is_not_overwritten_and_what_does_not_is_named(home: Home) -> None:
    """A copy is never a surprise."""
    home.own.copy("27b-mtp", CopyRequest(id="mine"))

    with pytest.raises(BadInput) as again:
        home.own.copy("27b-mtp", CopyRequest(id="mine"))
    with pytest.raises(NotFound) as missing:
        home.own.copy("27b-mpt", CopyRequest(id="other"))

    assert again.value.code == "preset-exists"
    assert "`27b-mtp`" in (missing.value.hint or "")


@pytest.mark.parametrize(
    ("old", "new", "code", "part"),
    [
        ("max_num_seqs =", "max_num_seq =", "document-invalid", "max_num_seq"),
        ("served_name", "servd_name", "document-invalid", "servd_name"),
        ("schema_version = 1", "schema_version = 9", "preset-version", "newer"),
        ('id = "mine"', 'id = "other"', "document-invalid", "`id` should be"),
        ("[values]", '[environment]\nHF_TOKEN = "abc"\n\n[values]', "preset-secret", "HF_TOKEN"),
        ("[values]", "# sk-live-0123456789abcdef\n[values]", "preset-secret", "line "),
        ("[values]", "[values", "document-invalid", "not valid TOML"),
        ("max_num_seqs = 8", "max_num_seqs = 0", "document-invalid", "at least 1"),
    ],
)
def test_a_text_that_is_no_preset_is_not_saved(
    home: Home, old: str, new: str, code: str, part: str
) -> None:
    """The file stays as it was, and the error names the file that was meant."""
    home.own.copy("27b-mtp", CopyRequest(id="mine"))
    before = home.own.show("mine").text
    assert old in before

    with pytest.raises(BadInput) as caught:
        home.own.save("mine", before.replace(old, new, 1))

    assert caught.value.code == code
    assert part in caught.value.message
    assert ".new" not in caught.value.message
    assert home.own.show("mine").text == before
    assert sorted(path.name for path in home.presets.iterdir()) == [".lock", "bases", "mine.toml"]


def test_a_saved_text_is_the_person_s_own_and_knows_its_origin(home: Home) -> None:
    """An edit in an editor is an edit like any other."""
    text = home.own.show("27b-mtp").text.replace("max_num_seqs = 8", "max_num_seqs = 5")

    home.own.save("27b-mtp", text)

    assert [one.name for one in home.own.diff("27b-mtp", None).changes] == ["max_num_seqs"]


def test_a_broken_preset_breaks_no_other(home: Home) -> None:
    """The list goes on without it, and says why."""
    home.own.copy("27b-mtp", CopyRequest(id="mine"))
    (home.presets / "mine.toml").write_text("no toml", encoding="utf-8")
    (home.presets / "secret.toml").write_text(
        home.own.show("cpu-demo").text.replace('"cpu-demo"', '"secret"')
        + '[environment]\nVLLM_API_KEY = "abc"\n'
    )
    (home.presets / "binary.toml").write_bytes(b"\xff\xfe\0")

    readable, broken = home.store.readable()

    assert len(readable) == 17
    assert {name: error.code for name, error in broken.items()} == {
        "mine": "document-invalid", "secret": "preset-secret", "binary": "document-invalid",
    }  # fmt: skip


def test_a_file_of_the_person_s_own_may_define_parts_and_models(home: Home) -> None:
    """A model of one's own, without a line of code."""
    (home.presets / "models").mkdir(parents=True)
    model = (CATALOGUE / "presets" / "models" / "smollm2-135m-instruct-f32.toml").read_text()
    (home.presets / "models" / "other.toml").write_text(
        model.replace('id = "smollm2-135m-instruct-f32"', 'id = "other"')
    )
    demo = home.own.show("cpu-demo").text
    home.own.save(
        "demo2", demo.replace('"cpu-demo"', '"demo2"').replace("smollm2-135m-instruct-f32", "other")
    )

    assert home.store.get("demo2").model.id == "other"


def test_two_at_once_do_not_meet(home: Home) -> None:
    """The second is told to try again, and nothing is half written."""
    home.presets.mkdir(parents=True)
    with exclusive(home.presets / ".lock") as is_ours:
        assert is_ours
        with pytest.raises(Busy) as caught:
            home.own.copy("27b-mtp", CopyRequest(id="mine"))

    assert caught.value.code == "presets-busy"
    assert not home.store.is_own("mine")


def test_a_home_that_cannot_be_written_is_an_error_of_ours(home: Home) -> None:
    """A read-only disk, a file in the way."""
    home.folder.parent.mkdir(exist_ok=True)
    home.folder.write_text("in the way", encoding="utf-8")

    with pytest.raises(HostLacks):
        home.own.copy("27b-mtp", CopyRequest(id="mine"))


def test_a_copy_renders_like_its_original_everywhere(home: Home) -> None:
    """The person starts from what works."""
    home.own.copy("27b-huge", CopyRequest(id="27b-huge"))

    assert home.store.get("27b-huge").rules == home.store.bundled("27b-huge").rules
    assert fit_on("27b-huge", HOSTS[0]).resolved is not None


def test_a_preset_of_somebody_else_s_is_taken_over(home: Home) -> None:
    """Under its own name or another one, checked like any other."""
    theirs = home.own.show("27b-mtp").text

    home.own.take(ImportPresetRequest(text=theirs, id="theirs"))
    home.own.take(ImportPresetRequest(text=theirs))

    assert home.store.get("theirs").knobs == home.store.get("27b-mtp").knobs
    assert home.store.get("27b-mtp").is_own
    with pytest.raises(BadInput) as again:
        home.own.take(ImportPresetRequest(text=theirs))
    assert again.value.code == "preset-exists"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("x = 1", "document-invalid"),
        ("x =", "document-invalid"),
        ("id = 1", "document-invalid"),
        ('id = "../x"', "preset-id"),
        ('id = "x"', "document-invalid"),
        ('{demo}\n[environment]\nOPENAI_API_KEY = "sk-abc"\n', "preset-secret"),
    ],
)
def test_what_is_no_preset_or_holds_a_key_is_not_taken_over(
    home: Home, content: str, code: str
) -> None:
    """Files from the network are written by anybody."""
    demo = home.own.show("cpu-demo").text

    with pytest.raises(BadInput) as caught:
        home.own.take(ImportPresetRequest(text=content.replace("{demo}", demo), id=None))

    assert caught.value.code == code
    assert not list(home.presets.glob("*.toml"))


def test_what_a_killed_process_left_is_tidied_up(home: Home) -> None:
    """Half written files are never read, and do not pile up."""
    home.own.copy("27b-mtp", CopyRequest(id="mine"))
    left = [
        home.presets / ".mine.toml.new",
        home.presets / "..mine.toml.new.abc",
        home.presets / "bases" / ".0.json.abc",
    ]
    for path in left:
        path.write_text("half", encoding="utf-8")

    assert home.store.readable()[1] == {}
    home.own.edit("mine", {"max_num_seqs": "3"})

    assert not [path for path in left if path.exists()]
    assert home.own.diff("mine", None).is_three_way


def test_a_broken_part_or_model_breaks_only_what_uses_it(home: Home) -> None:
    """The demo knows nothing of the person's own part for the 27B."""
    for folder in ("parts", "models"):
        (home.presets / folder).mkdir(parents=True)
    (home.presets / "parts" / "mtp.toml").write_text("name = 1", encoding="utf-8")
    (home.presets / "models" / "qwen3.8-flash-next-nvfp4.toml").write_text("x", encoding="utf-8")

    readable, broken = home.store.readable()

    assert set(broken) == {"27b-mtp", "27b-long", "27b-huge-mtp", "v100-flash-next"}
    assert "mtp.toml, line 1" in broken["27b-mtp"].message
    assert "cpu-demo" in {preset.id for preset in readable}


def test_a_copy_may_be_made_with_other_values_at_once(home: Home) -> None:
    """One write: a killed process leaves no copy without them."""
    made = home.own.copy("27b-dflash2", CopyRequest(id="mine", values={"max_num_seqs": "4"}))

    assert made.knobs["max_num_seqs"].default == 4
    (change,) = home.own.diff("mine", None).changes
    assert (change.name, change.kind) == ("max_num_seqs", ChangeKind.YOURS)
    with pytest.raises(BadInput, match="max_num_seqs"):
        home.own.copy("27b-dflash2", CopyRequest(id="other", values={"max_num_seqs": "many"}))
    assert not home.store.is_own("other")


def test_another_title_changes_the_title_alone(home: Home) -> None:
    """The id is what programs say; the title is what people read."""
    home.own.copy("27b-dflash2", CopyRequest(id="mine"))

    made = home.own.retitle("mine", "  Für die \n Lesegruppe ")

    assert made.title == "Für die Lesegruppe"
    assert made.id == "mine"
    assert home.own.diff("mine", None).changes == ()


@pytest.mark.parametrize("title", ["", " \n", "x" * 121])
def test_a_title_that_nobody_could_read_is_refused(home: Home, title: str) -> None:
    """An empty row in a list is a row that cannot be chosen."""
    home.own.copy("27b-dflash2", CopyRequest(id="mine"))

    with pytest.raises(BadInput) as caught:
        home.own.retitle("mine", title)

    assert caught.value.code == "preset-title"


def test_what_is_removed_can_be_taken_over_again(home: Home) -> None:
    """The answer holds the file, so that one press undoes the removal."""
    home.own.copy("27b-dflash2", CopyRequest(id="mine", title="Für mich"))

    gone = home.own.remove("mine")

    assert not gone.is_bundled_back
    with pytest.raises(NotFound):
        home.store.get("mine")
    home.own.take(ImportPresetRequest(text=gone.text))
    assert home.store.get("mine").title == "Für mich"


def test_removing_ones_own_brings_the_bundled_one_back(home: Home) -> None:
    """And that one cannot be removed or renamed."""
    home.own.edit("27b-dflash2", {"max_num_seqs": "3"})

    assert home.own.remove("27b-dflash2").is_bundled_back
    assert home.store.get("27b-dflash2").knobs["max_num_seqs"].default == 8
    for act in (home.own.remove, lambda name: home.own.retitle(name, "x")):
        with pytest.raises(BadInput) as caught:
            act("27b-dflash2")
        assert caught.value.code == "preset-not-own"


def _updated(home: Home, preset_id: str = "mine") -> None:
    home.own.copy("27b-dflash2", CopyRequest(id=preset_id, title="Für mich"))
    home.own.edit(preset_id, {"max_model_len": "32K"})
    home.update(
        "27b-dflash2", 'attention_backend = "FLASH_ATTN"', 'attention_backend = "FLASHINFER"'
    )


def test_an_update_comes_under_the_persons_values_and_is_the_new_base(home: Home) -> None:
    """The second update has nothing to say; title and value are the person's."""
    _updated(home)

    made = home.own.update("mine", UpdateRequest())

    assert made.title == "Für mich"
    assert made.knobs["max_model_len"].default == 32_768
    assert made.knobs["attention_backend"].default == "FLASHINFER"
    (left,) = home.own.diff("mine", None).changes
    assert (left.name, left.kind) == ("max_model_len", ChangeKind.YOURS)


def test_an_update_of_a_preset_in_the_place_of_a_bundled_one_finds_the_bundled_one(
    home: Home,
) -> None:
    """Both have one id, and the person's wins by it: the original is the other file."""
    home.own.edit("27b-dflash2", {"max_model_len": "32K"})
    home.update(
        "27b-dflash2", 'attention_backend = "FLASH_ATTN"', 'attention_backend = "FLASHINFER"'
    )

    made = home.own.update("27b-dflash2", UpdateRequest())

    assert made.knobs["attention_backend"].default == "FLASHINFER"
    assert made.knobs["max_model_len"].default == 32_768


def test_taking_nothing_only_moves_the_base(home: Home) -> None:
    """What a person refused is theirs from then on, and is not asked again."""
    _updated(home)

    made = home.own.update("mine", UpdateRequest(take=()))

    assert made.knobs["attention_backend"].default == "FLASH_ATTN"
    assert {one.kind for one in home.own.diff("mine", None).changes} == {ChangeKind.YOURS}


def test_a_conflict_is_taken_only_by_name(home: Home) -> None:
    """Both changed the same value."""
    _updated(home)
    home.own.edit("mine", {"attention_backend": "TRITON_ATTN"})

    kept = home.own.update("mine", UpdateRequest())

    assert kept.knobs["attention_backend"].default == "TRITON_ATTN"
    taken = home.own.update("mine", UpdateRequest(take=("attention_backend",)))
    assert taken.knobs["attention_backend"].default == "FLASHINFER"


def test_hand_written_changes_on_both_sides_are_left_to_the_person(home: Home) -> None:
    """Nothing is written that does not read as what was meant."""
    _updated(home)
    path = home.presets / "mine.toml"
    path.write_text(path.read_text("utf-8") + '\n[environment]\nMINE = "1"\n', "utf-8")
    before = path.read_text("utf-8")
    theirs = home.catalogue / "27b-dflash2.toml"
    theirs.write_text(theirs.read_text("utf-8") + '\n[environment]\nTHEIRS = "1"\n', "utf-8")

    with pytest.raises(BadInput) as caught:
        home.own.update("mine", UpdateRequest())

    assert caught.value.code == "preset-not-mergeable"
    assert path.read_text("utf-8") == before
    assert [one.name for one in home.presets.glob(".*new*")] == []


def test_an_original_that_is_gone_updates_nothing(home: Home) -> None:
    """It says so, and leaves the preset as it is."""
    home.own.copy("27b-dflash2", CopyRequest(id="mine"))
    (home.catalogue / "27b-dflash2.toml").unlink()

    with pytest.raises(BadInput, match="There is no preset") as caught:
        home.own.update("mine", UpdateRequest())

    assert caught.value.code == "preset-no-base"
