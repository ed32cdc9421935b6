"""Text that may leave this machine: nothing known of it, in any form, and nothing that looks so."""

import base64
import json
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.host.paths import Paths, bundled_root
from studio.host.redact import Identity, Redactor, forms, identity

SECRET = "p@ss/wörd 7"
USER = "jörg.müller"
HOME = "/home/jörg.müller"
BOX = "büro-box-7"
KNOWN = Identity(
    users=frozenset({USER}),
    hosts=frozenset({BOX}),
    folders={HOME: "~", "/data/weir haus": "WEIR_HOME"},
    secrets=frozenset({SECRET}),
)
FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "percent": lambda text: urllib.parse.quote(text, safe=""),
    "percent, slashes kept": urllib.parse.quote,
    "percent, small": lambda text: urllib.parse.quote(text, safe="").lower(),
    "plus": urllib.parse.quote_plus,
    "percent twice": lambda text: urllib.parse.quote(urllib.parse.quote(text, safe=""), safe=""),
    "JSON": lambda text: json.dumps(text),
    "JSON, not only ASCII": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "repr": repr,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(f"me:{text}".encode()).decode(),
    "base64 without end": lambda text: base64.b64encode(f"x{text}".encode()).decode().rstrip("="),
    "hex": lambda text: text.encode().hex(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("known", [SECRET, USER, HOME, BOX])
def test_what_is_known_goes_in_every_form(form: str, known: str) -> None:
    """Logs and documents write one thing in many ways."""
    written = FORMS[form](known)

    shown = Redactor(KNOWN).text(f"before {written} after\n")

    assert written.strip('"') not in shown
    assert known not in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/anna/models/x", "/home/USER/models/x"),
        ("%2Fhome%2Fanna%2Fx", "%2Fhome%2FUSER%2Fx"),
        (r"C:\Users\Anna Maria\AppData", r"C:\Users\USER\AppData"),
        (r'"C:\\Users\\Anna Maria\\AppData"', r'"C:\\Users\\USER\\AppData"'),
        ("/mnt/c/Users/Anna Maria/x", "/mnt/c/Users/USER/x"),
        ("/Users/anna/Library", "/Users/USER/Library"),
        ("mail a.b+c@mail.example.org now", "mail EMAIL now"),
        ("mail a%40mail.example.org now", "mail EMAIL now"),
        ("from 93.184.216.34:443", "from PUBLIC-ADDRESS:443"),
        ("addr=8.8.8.8", "addr=PUBLIC-ADDRESS"),
        ("[2606:2800:220:1:248:1893:25c8:1946]:80", "[PUBLIC-ADDRESS]:80"),
        ("to 2606:4700::1111.", "to PUBLIC-ADDRESS."),
        ("to 2606:4700::1111 now", "to PUBLIC-ADDRESS now"),
        ("GPU-1a2b3c4d-1111-2222-3333-444455556666", "GPU-1a2b…"),
        ("link 00:1b:44:11:3a:b7 up", "link MAC-ADDRESS up"),
        ("token ghp_abcdefghijklmnop1234", "token ***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("http://anna:geheim@proxy/", "http://***@proxy/"),
        ("Proxy-Authorization: Basic YW5uYTpnZWhlaW0=", "Proxy-Authorization: Basic ***"),
        ("header YW5uYTpnZWhlaW0= seen", "header *** seen"),
        ("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\nx", "***\nx"),
    ],
)
def test_what_looks_private_goes_too(text: str, shown: str) -> None:
    """Names and addresses of other people and machines stand in logs as well."""
    assert Redactor(Identity()).text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1:18020 and 192.168.1.7 and ::1 and fe80::1",
        "nvidia-cublas-cu12==12.8.4.1 and cuda-13.0.2.6 and driver 580.65.06",
        "2026-11-29 21:48:17 and 12:34:56",
        "8586b534d22b3ae2e00d43788a1d6d5c7c01e630053a94df276a8a0006c157c2",
        "torch._inductor.codecache PyTorchProfilerActivity computation_graph.py",
        "vllm/model_executor/layers/quantization/compressed_tensors.py",
        '"pool_tokens": 23296, "max_tokens": 16, "eos_token": null',
    ],
)
def test_what_is_needed_to_understand_a_failure_stays(text: str) -> None:
    """A report that is masked too much helps nobody."""
    assert Redactor(Identity()).text(text) == text


def test_names_that_are_words_of_every_log_are_masked_in_paths_only() -> None:
    """A user `root` on a host `gpu` must not cost the word "root" in "root cause"."""
    redactor = Redactor(Identity(users=frozenset({"root"}), hosts=frozenset({"gpu"})))

    assert redactor.text("the root cause on gpu 0 in /home/root") == (
        "the root cause on gpu 0 in /home/USER"
    )


def test_a_name_inside_a_word_is_no_name() -> None:
    """A user `ann` must not cost "planned" its middle."""
    redactor = Redactor(Identity(users=frozenset({"ann"})))

    assert redactor.text("planned by Ann and ann_2") == "planned by USER and USER_2"


def test_what_is_known_is_found_in_settings_and_environment(tmp_path: Path) -> None:
    """Proxy passwords, tokens of the environment, the token of the service."""
    paths = Paths(home=tmp_path / "weir haus", catalogue=bundled_root())
    paths.service.mkdir(parents=True)
    (paths.service / "token").write_text("control-token-1\n")
    paths.network_settings.write_text(
        '{"proxy": "http://anna:net%40pass@proxy.firma.example:3128"}'
    )
    environ = {
        "HOME": "/home/anna",
        "USER": "anna",
        "HOSTNAME": "annas-box",
        "HF_TOKEN": "hf-token-of-anna",
        "https_proxy": "http://u:envpass@proxy2.firma.example:1",
        "SSH_AUTH_SOCK": "/tmp/agent.1",
        "KEYBOARD_LAYOUT": "de",
    }

    known = identity(paths, environ)

    assert {"control-token-1", "net@pass", "net%40pass", "hf-token-of-anna", "envpass"} <= (
        known.secrets
    )
    assert not {"/tmp/agent.1", "de"} & known.secrets
    assert "anna" in known.users
    assert {"annas-box", "proxy.firma.example", "proxy2.firma.example"} <= known.hosts
    assert known.folders["/home/anna"] == "~"
    assert known.folders[str(paths.home)] == "WEIR_HOME"


def test_a_home_that_is_not_there_is_no_reason_to_fail(tmp_path: Path) -> None:
    """Reports are made when things are broken."""
    known = identity(Paths(home=tmp_path / "none", catalogue=bundled_root()), {})

    assert str(tmp_path / "none") in known.folders


def test_each_form_is_listed_once() -> None:
    """Each is looked for in every text."""
    assert len(forms("plain")) == len(set(forms("plain")))


@pytest.mark.parametrize(
    "bait", ["a", "eyJ", "a.", "a@", "--", "1.", "::", "0:", "/home/", "C:\\Users\\", "A1", "GPU-"]
)
def test_a_hostile_text_costs_no_more_than_its_length(bait: str) -> None:
    """Half a megabyte of one line, as a log may hold it."""
    text = bait * (500_000 // len(bait)) + " @ %40"

    started = time.process_time()
    Redactor(KNOWN).text(text)

    assert time.process_time() - started < 3.0
