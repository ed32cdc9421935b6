"""What a person types, and what is said when it cannot be understood."""

import pytest

from studio.cli import key_words, words
from studio.cli.arguments import Invocation, parse
from studio.cli.mistakes import TextAsked, UsageError, near


def _mistake(*argv: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse(argv)
    return caught.value


def test_up_takes_all_its_options_at_once() -> None:
    """The main command's options arrive as typed values, not as text."""
    call = parse(
        [
            "up",
            "big",
            "--set",
            "max-model-len=4096",
            "--set",
            "a=b=c",
            "--gpus",
            "0,1",
            "--port",
            "8000",
            "-y",
            "-d",
        ]
    )

    assert call == Invocation(
        command="up",
        preset="big",
        overrides={"max_model_len": "4096", "a": "b=c"},
        gpus=(0, 1),
        port=8000,
        consent=True,
        detach=True,
    )


def test_json_implies_detach_for_up_only() -> None:
    """A program that reads one object must get the prompt back; other commands have no detach."""
    assert parse(["up", "--json"]).detach
    assert not parse(["status", "--json"]).detach
    assert "Implies --detach" in words.HELP_JSON_UP


def test_keys_carry_their_second_word() -> None:
    """Commands of two words are one command to the rest of the program."""
    call = parse(["keys", "create", "Open WebUI", "--max-concurrent", "4"])

    assert (call.command, call.name) == ("keys create", "Open WebUI")
    assert call.limits == {"max_concurrent": 4}


def test_a_pin_takes_what_is_supplied() -> None:
    """A file name may hold an equals sign, a hash never does; tools say `sha256:` in front."""
    sha = "ab" * 32
    call = parse(
        [
            *("runtime", "pin", "x", "--commit", "c0ffee", "--forget"),
            *("--hash", f"a=b.whl={sha}", "--hash", f"c.whl=sha256:{sha}"),
            *("--confirm", "lock", "--confirm", "release"),
            *("--with", "xgrammar", "--with", "fa2", "--without", "kernels"),
        ]
    )

    assert call == Invocation(
        command="runtime pin",
        name="x",
        commit="c0ffee",
        hashes={"a=b.whl": sha, "c.whl": sha},
        confirm=("lock", "release"),
        with_steps=("xgrammar", "fa2"),
        without_steps=("kernels",),
        forget=True,
    )


def test_runtime_verbs_take_their_own_options() -> None:
    """And `gc` no name: it looks at all of them."""
    assert parse(["runtime", "install", "x", "-y"]).consent
    assert parse(["runtime", "verify", "x", "--full"]).full
    assert parse(["runtime", "rollback", "x", "--forward"]).forward
    assert parse(["runtime", "gc", "--dry-run"]).dry_run
    assert _mistake("runtime", "gc", "x").sentence == "`x` has no meaning here."


@pytest.mark.parametrize("text", ["", "abc", "=abc", "a.whl=", " = "])
def test_a_hash_without_its_file_is_a_mistake(text: str) -> None:
    """The sentence says how it is written."""
    error = _mistake("runtime", "pin", "x", "--hash", text)

    assert error.sentence == f"--hash: a hash is written FILE=SHA256, found `{text}`."


def test_the_window_gets_its_options_untouched() -> None:
    """The window reads its own options; the command line only checks them."""
    assert parse(["ui", "--theme", "dark"]).window_arguments == ("--theme", "dark")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("upp", "There is no command `upp`. Did you mean `up`?"),
        ("qqqq", "There is no command `qqqq`."),
        ("--vresion", "There is no option `--vresion`. Did you mean `--version`?"),
        ("up --detatch", "There is no option `--detatch`. Did you mean `--detach`?"),
        ("up --prot=3", "There is no option `--prot`. Did you mean `--port`?"),
        ("up a b", "`b` has no meaning here."),
        ("up --port", "`--port` needs a value."),
        ("up --json=3", "`--json` takes no value."),
        ("up --port 70000", "--port: a port is a whole number from 1 to 65535, found `70000`."),
        ("up --port -5", "--port: a port is a whole number from 1 to 65535, found `-5`."),
        ("up --port ²", "--port: a port is a whole number from 1 to 65535, found `²`."),
        ("up --set foo", "--set: a setting is written knob=value, found `foo`."),
        ("up --set =3", "--set: a setting is written knob=value, found `=3`."),
        ("logs -n 0", "--lines: a whole number of 1 or more is expected, found `0`."),
        ("logs --level loud", "--level: `loud` is not one of debug, info, warning, error."),
        ("switch", "Something is missing: PRESET."),
        (
            "keys",
            f"Something is missing: {' | '.join(key_words.COMMANDS)}.",
        ),
        ("keys lst", "There is no command `lst`. Did you mean `list`?"),
        ("keys create", "Something is missing: NAME."),
        ("runtime", "Something is missing: " + " | ".join(words.RUNTIME_COMMANDS) + "."),
        ("runtime show", "Something is missing: NAME."),
        ("keys --json list", "`--json` belongs after `weir keys list`."),
        ("", "Something is missing: COMMAND."),
    ],
)
def test_a_mistake_is_one_sentence(line: str, sentence: str) -> None:
    """A slip at the keyboard is answered with what is meant, never with a list of internals."""
    assert _mistake(*line.split()).sentence == sentence


@pytest.mark.parametrize("cards", ["0,0", "a", "0,", "-1", "0;1"])
def test_cards_are_numbers_that_differ(cards: str) -> None:
    """A card named twice or not by number would reach the engine as nonsense."""
    assert "for example 0,1" in _mistake("up", f"--gpus={cards}").sentence


def test_bytes_that_are_no_text_are_refused() -> None:
    """Such a word could not travel as JSON; the person is told instead of shown a traceback."""
    assert "not text" in _mistake("up", "pre\udcffset").sentence


def test_abbreviations_are_not_guessed() -> None:
    """An option that works abbreviated today would break when another is added."""
    assert "Did you mean `--detach`?" in _mistake("up", "--det").sentence


@pytest.mark.parametrize(
    "command", ["", *words.COMMANDS, "keys create", "runtime pin", "service run"]
)
def test_every_help_text_fits_80_columns(command: str) -> None:
    """Help is read in the narrowest terminal."""
    with pytest.raises(TextAsked) as asked:
        parse([*command.split(), "--help"])

    assert all(len(line) <= 80 for line in asked.value.text.splitlines())


def test_the_main_help_names_every_command() -> None:
    """A command that help does not name does not exist for most people."""
    with pytest.raises(TextAsked) as asked:
        parse(["--help"])

    named = {line.strip().partition(" ")[0] for line in asked.value.text.splitlines()}
    assert named >= words.COMMANDS.keys()


def test_near_finds_slips_in_any_case() -> None:
    """Names are shown as they are, whatever the case they were typed in."""
    assert near("WEBui", ["webUI", "phone"]) == "webUI"
    assert near("xyz", ["webUI", "phone"]) is None
