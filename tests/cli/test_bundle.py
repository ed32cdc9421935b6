"""`weir runtime export`, `import`, `signers`: what goes to the service, and what is shown."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from studio.domain.bundles import (
    Exported,
    ExportRequest,
    Imported,
    ImportRequest,
    SignerList,
    TrustRequest,
)
from tests.cli.bundle_samples import EXPORTED, FINGERPRINT, IMPORTED, SIGNERS
from tests.cli.fake_service import FakeConnector, FakeService
from tests.cli.typed import Ran

Weir = Callable[..., Ran]
OPEN = "sm70-1cat-1.5.2"
NAME = "cpu-vllm-0.32.0"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder that the service does not stand in."""
    monkeypatch.chdir(tmp_path)


def test_documents_are_the_records(weir: Weir) -> None:
    """Nothing renamed on the way."""
    exported = weir("runtime", "export", NAME, "--json").out
    imported = weir("runtime", "import", "x", "--json").out
    signers = weir("runtime", "signers", "--json").out

    assert msgspec.json.decode(exported, type=Exported) == EXPORTED
    assert msgspec.json.decode(imported, type=Imported) == IMPORTED
    assert msgspec.json.decode(signers, type=SignerList) == SIGNERS


def test_paths_are_those_of_the_person_s_folder(
    weir: Weir, service: FakeService, tmp_path: Path
) -> None:
    """The service stands elsewhere, and `~` is the shell's only at the beginning of a word."""
    weir("runtime", "export", NAME)
    weir("runtime", "export", NAME, "--to", "stick/x.tar.gz", "--key", "~/team.pem")
    weir("runtime", "import", "x.tar.gz", "--trust", FINGERPRINT)
    weir("runtime", "export", NAME, "--to", "stick/")

    bodies = [raw for raw in service.bodies if raw]
    first, second = (msgspec.json.decode(raw, type=ExportRequest) for raw in bodies[:2])
    third = msgspec.json.decode(bodies[2], type=ImportRequest)
    assert (first.to, first.key) == (str(tmp_path), None)
    assert (second.to, second.key) == (
        str(tmp_path / "stick/x.tar.gz"),
        str(Path.home() / "team.pem"),
    )
    last = msgspec.json.decode(bodies[3], type=ExportRequest)
    assert last.to == f"{tmp_path}/stick/", "it says that it is a folder"
    assert (third.path, third.trust) == (str(tmp_path / "x.tar.gz"), FINGERPRINT)


def test_an_export_says_what_the_other_side_has_to_compare(weir: Weir) -> None:
    """File, digest, fingerprint, and the line to type there."""
    ran = weir("runtime", "export", NAME)

    assert ran.status == 0
    assert EXPORTED.path in ran.out
    assert EXPORTED.sha256 in ran.out
    assert EXPORTED.public_key in ran.out
    assert f"--trust {FINGERPRINT}" in ran.out


def test_an_import_says_whose_it_is(weir: Weir) -> None:
    """By the name that was given to the signer."""
    ran = weir("runtime", "import", "x")

    assert ran.status == 0
    assert "The lab" in ran.out


def test_signers_are_listed_trusted_and_forgotten(weir: Weir, service: FakeService) -> None:
    """Without a service too, and the list is the answer each time."""
    listed = weir("runtime", "signers")
    weir("runtime", "signers", "trust", FINGERPRINT, "--name", "The lab")
    forgotten = weir("runtime", "signers", "forget", "The lab")

    trusted = msgspec.json.decode(service.bodies[1], type=TrustRequest)
    assert (trusted.fingerprint, trusted.name) == (FINGERPRINT, "The lab")
    assert service.bodies[2] == b""
    assert listed.out == forgotten.out
    assert "this Studio's own key" in listed.out


def test_long_work_starts_a_service_that_ends_with_it(
    weir: Weir, connector: FakeConnector, service: FakeService
) -> None:
    """A box that only imports does not keep a process."""
    connector.is_running = False

    assert weir("runtime", "import", "x").status == 0
    assert connector.started == [True]
    assert service.holders == 0


def test_what_is_not_installed_is_refused_before_a_service_is_started(
    weir: Weir, connector: FakeConnector
) -> None:
    """A service takes seconds and says nothing more."""
    connector.is_running = False
    unknown = weir("runtime", "export", "nope", "--json")
    missing = weir("runtime", "export", OPEN, "--json")

    assert unknown.document()["code"] == "runtime-unknown"
    assert missing.document()["code"] == "runtime-not-installed"
    assert connector.started == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("runtime import", "Something is missing: FILE."),
        ("runtime export", "Something is missing: NAME."),
        ("runtime signers trust", "Something is missing: FINGERPRINT."),
        ("runtime signers forget", "Something is missing: FINGERPRINT."),
        ("runtime signers list x", "`x` has no meaning here."),
        ("runtime signers toss x", "is not one of list, trust, forget"),
    ],
)
def test_a_mistake_is_one_sentence(weir: Weir, line: str, sentence: str) -> None:
    """And status 2, as for every line that cannot be understood."""
    ran = weir(*line.split())

    assert ran.status == 2
    assert sentence in ran.err
