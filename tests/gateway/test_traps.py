"""The rules: every one is complete, says its source, and is for the engines that it is for."""

from pathlib import Path

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.gateway import traps
from studio.gateway.engine import EngineTarget
from studio.gateway.routes import find
from studio.host.http_client import Upstream
from studio.host.paths import bundled_root

FILE = bundled_root() / "runtimes" / "client_traps.toml"
RULES = traps.load(FILE)


def engine(**facts: object) -> EngineTarget:
    """Return an engine of which something is known."""
    return EngineTarget(upstream=Upstream(port=1), key=None, served_name="m", **facts)


@pytest.mark.parametrize("rule", RULES, ids=lambda one: one.id)
def test_a_rule_says_what_and_why_and_where_it_was_seen(rule: traps.Trap) -> None:
    """Nobody's request is changed for a reason that nobody can look up."""
    assert rule.what.endswith(".")
    assert rule.why.endswith(".")
    assert rule.source
    assert rule.needles or rule.fields or rule.starts, (
        "without a word to look for every body would be read"
    )
    assert all(find(route) is not None for route in rule.routes)
    assert rule.do


def test_no_two_rules_share_a_name() -> None:
    """The name is what is switched, and what stands in the log."""
    names = [rule.id for rule in RULES]

    assert len(set(names)) == len(names)
    assert "all" not in names


def test_what_works_without_them_is_changed_only_where_it_is_allowed() -> None:
    """Two rules take or move text of a prompt that the engine would accept."""
    assert {rule.id for rule in RULES if rule.is_asked} == {
        "attribution-line",
        "late-system-message",
    }


def test_rules_about_templates_need_a_template() -> None:
    """Of an engine of others nothing is known, so nothing is assumed."""
    by_template = [one for one in RULES if one.template_has or one.template_lacks]
    qwen = (
        "'xhigh', 'medium', 'low' Unexpected reasoning effort"
        " System message must be at the beginning"
    )

    assert by_template
    assert not any(one.fits(engine()) for one in by_template)
    assert not any(
        one.fits(engine(template="a template of others")) for one in by_template if one.template_has
    )
    assert all(one.fits(engine(template=qwen, runtime="sm70-1cat-1.5.0")) for one in by_template)


def test_a_role_is_put_right_only_where_the_engine_does_not_do_it() -> None:
    """vLLM 0.32 does; the V100 engine does not."""
    (rule,) = [one for one in RULES if one.id == "developer-role"]

    assert rule.fits(engine(template="plain", runtime="sm70-1cat-1.5.0"))
    assert not rule.fits(engine(template="plain", runtime="cpu-vllm-0.32.0"))
    assert not rule.fits(engine(template="role == 'developer'", runtime="sm70-1cat-1.5.0"))


def test_a_file_that_is_not_as_it_should_be_is_named(tmp_path: Path) -> None:
    """A word too many is a mistake of whoever wrote it."""
    path = tmp_path / "traps.toml"
    with pytest.raises(NotFound):
        traps.load(path)
    path.write_text('schema_version = 1\n[[trap]]\nid = "x"\nnonsense = 1\n')

    with pytest.raises(BadInput):
        traps.load(path)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"content": null}', True),
        (b'{"content":null}', True),
        (b'{"content" : \n null}', True),
        (b'{"content": "null"}', False),
        (b'{"content": "a", "content": null}', True),
        (b'{"x": "say \\"content\\": null"}', False),
        (b'{"content": [null]}', False),
        (b'{"content"', False),
        (b"", False),
    ],
)
def test_a_value_is_known_by_its_first_letter(body: bytes, expected: bool) -> None:
    """However it is spaced, and never by what stands inside a text."""
    rule = next(one for one in RULES if one.id == "content-null")

    assert rule.may_apply(body, ()) is expected
