"""Where a hub is and which token it gets: the variables of its own programs, host by host."""

from pathlib import Path

import huggingface_hub
import pytest

from studio.domain.downloads import HubName
from studio.domain.errors import BadInput
from studio.host.network import NetworkPolicy
from studio.host.paths import Paths
from studio.hub.access import Access, Token

SECRET = "hf_a_token_that_nobody_else_may_see"
FACE, SCOPE = HubName.HUGGING_FACE, HubName.MODEL_SCOPE


def access(folder: Path, **environ: str) -> Access:
    """Return access with a home of the test's own."""
    known = {"HOME": str(folder / "höme"), **environ}
    paths = Paths(folder / "weir", folder / "catalogue")
    return Access(paths=paths, policy=NetworkPolicy(), environ=known)


@pytest.mark.parametrize(
    ("hub", "environ", "found"),
    [
        (FACE, {}, "https://huggingface.co"),
        (FACE, {"HF_ENDPOINT": " https://hf-mirror.com/ "}, "https://hf-mirror.com"),
        (FACE, {"HF_ENDPOINT": "http://10.0.0.2:8080/hf/"}, "http://10.0.0.2:8080/hf"),
        (FACE, {"HF_ENDPOINT": "  "}, "https://huggingface.co"),
        (SCOPE, {}, "https://www.modelscope.cn"),
        (SCOPE, {"MODELSCOPE_ENDPOINT": "www.modelscope.ai"}, "https://www.modelscope.ai"),
        (SCOPE, {"MODELSCOPE_DOMAIN": "www.modelscope.ai"}, "https://www.modelscope.ai"),
        (
            SCOPE,
            {"MODELSCOPE_DOMAIN": "www.modelscope.ai", "MODELSCOPE_ENDPOINT": "https://scope.cn"},
            "https://scope.cn",
        ),
    ],
)
def test_the_endpoint_is_the_one_that_the_hubs_own_programs_use(
    hub: HubName, environ: dict[str, str], found: str, tmp_path: Path
) -> None:
    """A mirror that is set for them holds here."""
    assert access(tmp_path, **environ).endpoint(hub) == found


@pytest.mark.parametrize(
    "text",
    ["hf-mirror.com", "ftp://x", "file:///etc", "https://", "http://[::1", "https://x:port",
     "https://x:99999", "https://x/?a=1", "https://x/#a", "https://x y", "https://x\\@y"],
)  # fmt: skip
def test_an_endpoint_that_is_none_is_said_to_be_none(text: str, tmp_path: Path) -> None:
    """In a sentence that names the variable, and never by a traceback."""
    with pytest.raises(BadInput) as caught:
        access(tmp_path, HF_ENDPOINT=text).endpoint(FACE)

    assert caught.value.code == "hub-endpoint"
    assert "HF_ENDPOINT" in caught.value.message


def test_the_cache_is_where_huggingface_hub_looks(tmp_path: Path) -> None:
    """A cache of the Studio's own would double 130 GB."""
    home = tmp_path / "höme"
    places = {
        str(access(tmp_path, **environ).cache(FACE).relative_to(tmp_path))
        for environ in (
            {"HF_HUB_CACHE": str(tmp_path / "a"), "HF_HOME": "/elsewhere"},
            {"HUGGINGFACE_HUB_CACHE": str(tmp_path / "b")},
            {"HF_HOME": str(tmp_path / "c")},
            {"XDG_CACHE_HOME": str(tmp_path / "d")},
            {},
        )
    }

    assert places == {"a", "b", "c/hub", "d/huggingface/hub", "höme/.cache/huggingface/hub"}
    assert access(tmp_path).cache(SCOPE) == tmp_path / "weir/models/modelscope"
    assert home.exists() is False  # asking for it makes nothing


def test_tokens_are_looked_for_in_the_order_of_those_who_named_them(tmp_path: Path) -> None:
    """What is set for this run comes before what was kept, and that before another program's."""
    bare = access(tmp_path)
    assert bare.token(FACE) is None

    written = tmp_path / "höme/.cache/huggingface/token"
    written.parent.mkdir(parents=True)
    written.write_text("hf_of_file\n", encoding="ascii")
    sources = [bare.login(FACE).source]
    bare.keep_token(FACE, "hf_kept")
    sources.append(bare.login(FACE).source)
    old = access(tmp_path, HUGGING_FACE_HUB_TOKEN="hf_old")
    both = access(tmp_path, HUGGING_FACE_HUB_TOKEN="hf_old", HF_TOKEN="hf_new")
    sources += [old.login(FACE).source, both.login(FACE).source]
    bare.keep_token(FACE, None)
    sources.append(bare.login(FACE).source)

    assert sources == [
        str(written), "weir models login", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN", str(written),
    ]  # fmt: skip
    assert written.read_text(encoding="ascii") == "hf_of_file\n"


def test_the_file_of_the_real_programs_login_is_the_one_that_is_read(tmp_path: Path) -> None:
    """`hf auth login` is done once."""
    other = tmp_path / "token of mine"
    other.write_text("hf_other", encoding="ascii")

    assert access(tmp_path, HF_TOKEN_PATH=str(other)).login(FACE).source == str(other)
    named = Path(huggingface_hub.constants.HF_TOKEN_PATH)
    assert named.name == "token"
    assert named.parent == Path(huggingface_hub.constants.HF_HOME)


def test_a_kept_token_is_of_one_host_and_one_hub(tmp_path: Path) -> None:
    """A mirror is somebody else; so is a mirror of the same name on another port."""
    access(tmp_path).keep_token(FACE, SECRET)

    assert access(tmp_path).token(FACE) is not None
    for endpoint in ("https://hf-mirror.com", "https://huggingface.co:8443", "https://huggingface"):
        assert access(tmp_path, HF_ENDPOINT=endpoint).token(FACE) is None
    assert access(tmp_path).token(SCOPE) is None
    assert access(tmp_path, HF_TOKEN=SECRET).token(SCOPE) is None


BAD = ["", "  ", "a b", "hf_naïve", "hf\n_x", "hf_\x00", "hf\r\nX-Evil: 1", "x" * 4097]


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_token_is_not_kept(text: str, tmp_path: Path) -> None:
    """It would fail at each download from then on."""
    with pytest.raises(BadInput) as caught:
        access(tmp_path).keep_token(FACE, text)

    assert caught.value.code == "hub-token"
    assert access(tmp_path).token(FACE) is None


@pytest.mark.parametrize("text", [text for text in BAD if text.strip()])
@pytest.mark.parametrize("way", ["variable", "file"])
def test_a_token_that_cannot_stand_in_a_header_is_refused_unseen(
    way: str, text: str, tmp_path: Path
) -> None:
    """A program that trips over it prints it; the sentence names the source only."""
    file = tmp_path / "file"
    file.write_bytes(text.encode())
    environ = {"HF_TOKEN": text} if way == "variable" else {"HF_TOKEN_PATH": str(file)}

    with pytest.raises(BadInput) as caught:
        access(tmp_path, **environ).token(FACE)

    assert caught.value.code == "hub-token"
    assert ("HF_TOKEN" if way == "variable" else str(file)) in caught.value.message
    assert text not in str(caught.value.info)


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe\x00"])
def test_a_file_without_a_token_is_none(content: bytes, tmp_path: Path) -> None:
    """Public models need no token."""
    file = tmp_path / "file"
    file.write_bytes(content)

    assert access(tmp_path, HF_TOKEN_PATH=str(file)).token(FACE) is None
    assert access(tmp_path, HF_TOKEN_PATH=str(tmp_path)).token(FACE) is None


def test_nothing_that_is_printed_holds_the_token(tmp_path: Path) -> None:
    """Tracebacks and logs print records."""
    way = access(tmp_path, HF_TOKEN=SECRET)

    assert SECRET not in repr(Token(text=SECRET, source="x"))
    assert SECRET not in repr(way.token(FACE))
    assert SECRET not in repr(way.login(FACE))
