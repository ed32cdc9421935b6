"""The report: as much as can be had, from a home in any state, and nothing private in it."""

import base64
import dataclasses
import io
import json
import os
import time
import urllib.parse
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from studio.app.report import Reports
from studio.app.report_launch import LaunchRecord, record_file
from studio.control.salvage import opened
from studio.domain.control import KeyRequest, UpRequest
from studio.domain.errors import BadInput, HostLacks, StudioError
from studio.domain.report import ReportPreview, ReportRequest, packed
from studio.host.documents import write_json
from studio.host.paths import Paths
from studio.serving.log_file import file_of, stamp
from tests.app.running import Running, fake_paths, running
from tests.fakes import recordings

LIMIT_S = 10.0
"""Each question has two seconds, and they are asked side by side; the rest is for busy machines."""
USER = "jörg.müller"
PLANTED = {
    "proxy password": "Pw-9Zx-proxy/@ü",
    "environment token": "Tk7Env0Secret42",
    "settings secret": "Ss3SettingsXy81",
    "preset secret": "Pp5PresetKeyQ77",
    "key name": "Kk8NamedAfterMe",
    "log key": "Ll2LogSecretA91",
    "evidence key": "Ee6Evidence0B13",
    "prompt": "Bitte schreibe einen Liebesbrief an Xaver",
}
BOX = "privatbox-77"
PROXY = (
    f"http://anna:{urllib.parse.quote(PLANTED['proxy password'], safe='')}@px.firma.example:3128"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Home:
    """A home full of secrets."""

    paths: Paths
    person: Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Return a home in which something private stands in every place."""
    person = tmp_path / "home" / USER
    person.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(person))
    for name in ("USER", "LOGNAME"):
        monkeypatch.setenv(name, USER)
    monkeypatch.setenv("HOSTNAME", BOX)
    monkeypatch.setenv("HF_TOKEN", PLANTED["environment token"])
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    with fake_paths(tmp_path, boot_s=0.05) as paths:
        _plant(paths, person)
        yield Home(paths=paths, person=person)


def _plant(paths: Paths, person: Path) -> None:
    settings = json.loads(paths.settings_file.read_bytes())
    settings["overrides"] = {"api_key": PLANTED["settings secret"]}
    settings["preset"] = "fake-demo"
    paths.settings_file.write_text(json.dumps(settings))
    paths.network_settings.write_text(json.dumps({"proxy": PROXY}))
    paths.user_presets.mkdir(parents=True)
    (paths.user_presets / f"{USER}.toml").write_text(
        f'title = "Modell von {USER}, mail joerg@mueller.example"\n'
        f'path = "{person}/models"\napi_key = "{PLANTED["preset secret"]}"\n'
    )
    evidence = paths.logs / "crashes" / "2026-11-29"
    evidence.mkdir(parents=True)
    (evidence / "log.txt").write_text(f"sk-weir-{PLANTED['evidence key']} at {person}\n")
    _plant_logs(paths, person)


def _plant_logs(paths: Paths, person: Path) -> None:
    secret = PLANTED["log key"]
    login = base64.b64encode(f"anna:{PLANTED['proxy password']}".encode()).decode()
    lines = [
        f"INFO:     93.184.216.34:5000 - POST /v1?api_key={secret} HTTP/1.1",
        f"loading {person}/models and {urllib.parse.quote(str(person), safe='')}/x",
        json.dumps({"folder": str(person), "user": USER, "host": BOX}),
        f"Proxy-Authorization: Basic {login}",
        f"bare {login} and Bearer {secret}",
        f"Received request c-1: prompt: {PLANTED['prompt']!r}, params: SamplingParams(n=1)",
        f"connect to {PROXY} from {BOX} by anna.b@firma.example",
        "[2606:2800:220:1:248:1893:25c8:1946] asked",
    ]
    paths.logs.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{stamp(time.time())}{line}\n" for line in lines)
    file_of(paths.logs, "engine").write_text(text)  # as an older version may have left it
    file_of(paths.logs, "service").write_text(f"{stamp(time.time())}INFO x: {lines[4]} {person}\n")
    (paths.logs / "service-start.log").write_text(f"Traceback in {person}/studio\n")
    write_json(
        record_file(paths.logs),
        LaunchRecord(
            at=time.time(), preset="fake-demo", runtime="fake-vllm-0.32.0", runtime_id="f" * 64,
            argv=("python", f"{person}/engine.py", "--api-key", secret),
            environment={"HF_TOKEN": PLANTED["environment token"], "HOME": str(person)},
        ),
    )  # fmt: skip


@pytest.fixture
async def made(home: Home) -> AsyncIterator[Running]:
    """Return a Studio that runs in that home."""
    async with running(home.paths) as one:
        yield one


def _alone(paths: Paths) -> Reports:
    return Reports(paths, lambda: opened(paths), has_service=False)


def _leaks(preview: ReportPreview, home: Home) -> list[str]:
    private = {
        **PLANTED, "user": USER, "home": str(home.person), "weir home": str(home.paths.home),
        "host": BOX, "proxy host": "px.firma.example", "mail": "joerg@mueller.example",
        "mail 2": "anna.b@firma.example", "address": "93.184.216.34", "address 2": "25c8:1946",
    }  # fmt: skip
    found = []
    for entry in preview.entries:
        for what, text in private.items():
            forms = {
                text,
                urllib.parse.quote(text, safe=""),
                json.dumps(text)[1:-1],
                base64.b64encode(text.encode()).decode().rstrip("="),
            }
            found += [
                f"{what} in {entry.name}"
                for form in forms
                if form.lower() in f"{entry.name}\n{entry.text}".lower()
            ]
        found += [f"proxy login in {entry.name}"] if "YW5uYTpQ" in entry.text else []
    return found


def _text(preview: ReportPreview, name: str) -> str:
    return next(entry.text for entry in preview.entries if entry.name == name)


async def test_nothing_private_is_in_a_report_without_a_service(home: Home) -> None:
    """Settings, environment, logs, presets, evidence, in every way of writing."""
    preview = await _alone(home.paths).preview()

    assert _leaks(preview, home) == []
    names = [entry.name for entry in preview.entries]
    assert names[0] == "summary.txt"
    assert {"logs/engine.log", "home/settings.json", "home/presets/01.toml"} <= set(names)
    assert "evidence/2026-11-29/log.txt" in names
    assert "prompt: ***, params: n=1" in _text(preview, "logs/engine.log")


async def test_nothing_private_is_in_a_report_of_what_runs(home: Home, made: Running) -> None:
    """With a key whose name is a secret, an engine that serves, and its own key of this boot."""
    await made.studio.keys.create(KeyRequest(name=PLANTED["key name"]))
    await made.studio.up(UpRequest(preset="fake-demo"))
    target = made.parts.supervisor.target
    assert target is not None

    began = time.monotonic()
    preview = await made.studio.reports.preview()
    took_s = time.monotonic() - began

    assert _leaks(preview, home) == []
    assert all(target.key not in entry.text for entry in preview.entries)
    assert took_s < LIMIT_S
    summary = _text(preview, "summary.txt")
    assert "The engine is ready. Preset: fake-demo." in summary
    assert "Its log says that it served." in summary
    assert "23,296" in _text(preview, "boot/forecast-and-printed.txt")
    assert "first-token" in _text(preview, "boot/timeline.txt")
    launch = json.loads(_text(preview, "boot/launch.json"))
    assert launch["preset"] == "fake-demo"
    assert "/engine.py" not in _text(preview, "boot/launch.json")
    assert "studio info: Starting fake-demo on fake-vllm" in _text(preview, "logs/engine.log")
    assert json.loads(_text(preview, "runtime.json"))["info"]["name"] == "fake-vllm-0.32.0"
    assert json.loads(_text(preview, "versions.json"))["weir-studio"]


async def test_the_zip_holds_what_the_preview_showed(home: Home, tmp_path: Path) -> None:
    """Private to its owner, readable by any program."""
    path = tmp_path / "mein bericht ü.zip"

    written = await _alone(home.paths).write(ReportRequest(path=str(path)))

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_size == written.size_bytes
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [one.name for one in written.entries]
        assert archive.read("summary.txt").decode() == written.summary
        listed = written.summary.partition("\nFiles\n")[2].partition("\n\n")[0].splitlines()
        assert all(": " in line for line in listed)
        assert [line.partition(":")[0].strip() for line in listed] == archive.namelist()[1:]


async def test_a_folder_gets_a_name_made_of_the_time(home: Home, tmp_path: Path) -> None:
    """`weir report` alone writes into the folder one stands in."""
    written = await _alone(home.paths).write(ReportRequest(path=str(tmp_path)))

    assert Path(written.path).parent == tmp_path
    assert Path(written.path).name.startswith("weir-report-")


async def test_a_file_that_is_there_is_kept_unless_told_otherwise(
    home: Home, tmp_path: Path
) -> None:
    """A report is no reason to lose another one."""
    path = tmp_path / "x.zip"
    path.write_text("precious")
    reports = _alone(home.paths)

    with pytest.raises(BadInput) as caught:
        await reports.write(ReportRequest(path=str(path)))
    assert caught.value.code == "report-exists"
    assert path.read_text() == "precious"

    await reports.write(ReportRequest(path=str(path), replace=True))
    assert zipfile.is_zipfile(path)


@pytest.mark.parametrize("place", ["relative.zip", "", "/no/such/folder/x.zip", "/tmp/x\0y"])
async def test_a_place_that_cannot_be_is_named(home: Home, place: str) -> None:
    """Before the work is done."""
    with pytest.raises(StudioError) as caught:
        await _alone(home.paths).write(ReportRequest(path=place))

    assert caught.value.code in ("report-path", "not-writable")


async def test_a_full_disk_leaves_no_half_report(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole or not at all."""
    target = tmp_path / "out"
    target.mkdir()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HostLacks) as caught:
        await _alone(home.paths).write(ReportRequest(path=str(target)))

    assert caught.value.code == "disk-full"
    assert list(target.iterdir()) == []


@pytest.mark.parametrize(
    "broken",
    ["settings.json", "network.json", "runtime-pins.json", "calibration.json", "studio.db"],
)
async def test_a_broken_home_is_reported_about_all_the_same(home: Home, broken: str) -> None:
    """That is when a report is wanted."""
    (home.paths.home / broken).write_bytes(b"\x00\xff not a document {")

    preview = await _alone(home.paths).preview()

    assert _text(preview, "logs/engine.log")
    assert _leaks(preview, home) == []


async def test_a_home_that_cannot_be_opened_is_said_to_be(home: Home) -> None:
    """The first thing that whoever helps has to know."""
    home.paths.settings_file.write_text("{")

    summary = _text(await _alone(home.paths).preview(), "summary.txt")

    assert "The Studio's folder cannot be opened" in summary


async def test_an_empty_home_makes_a_report(tmp_path: Path) -> None:
    """Nothing was ever started; nothing is made by asking."""
    with fake_paths(tmp_path) as paths:
        nowhere = dataclasses.replace(paths, home=tmp_path / "none")

        preview = await _alone(nowhere).preview()

        assert "No service runs." in _text(preview, "summary.txt")
        assert not nowhere.home.exists()


async def test_what_failed_is_named_first(home: Home) -> None:
    """The cause, what to do, and the lines that show it."""
    refusal = recordings.raw(recordings.ENGINE / "failures" / "maxlen-too-large-kv.log").decode()
    at = time.time()
    text = "".join(f"{stamp(at)}{line}\n" for line in refusal.splitlines())
    file_of(home.paths.logs, "engine").write_text(text)

    preview = await _alone(home.paths).preview()

    summary = _text(preview, "summary.txt")
    assert "kv-cache-too-small" in summary
    assert "16256" in summary.replace(",", "")
    assert json.loads(_text(preview, "failures.json"))[0]["code"] == "kv-cache-too-small"


async def test_a_driver_that_hangs_does_not_hold_up_the_report(
    home: Home, made: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that is not answered is left out, and said to be."""

    async def hang() -> None:
        import asyncio

        await asyncio.Event().wait()

    monkeypatch.setattr(made.studio.doctor, "report", hang)
    monkeypatch.setattr("studio.app.report_collect._ANSWER_S", 0.2)

    preview = await made.studio.reports.preview()

    assert "this machine: no answer within" in _text(preview, "summary.txt")


def test_the_same_report_packs_to_the_same_bytes() -> None:
    """What was previewed is what is saved."""
    preview = ReportPreview(made_at=1e9, file_name="x.zip", entries=())

    assert packed(preview) == packed(preview)
    assert zipfile.is_zipfile(io.BytesIO(packed(preview)))
