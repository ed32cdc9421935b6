"""Which published rows are of a machine like the measured one."""

import pytest

from studio.benchmark.published import rows
from studio.domain.bench import BenchCard, BenchResult
from studio.domain.manifests import Expected
from studio.host.documents import read_toml
from studio.host.paths import bundled_root
from tests.benchmark.samples import GIB, card, part, result


def row(card_: str | None = "RTX 3090, Linux", **more: object) -> Expected:
    """Return a published row."""
    return Expected(card=card_, source="a source", **{"decode_tokens_per_s": 100.0, **more})


@pytest.mark.parametrize(
    ("published", "name", "count", "gib", "is_it"),
    [
        ("RTX 3090, Linux", "NVIDIA GeForce RTX 3090", 1, 24, True),
        ("RTX 3090, Linux", "NVIDIA GeForce RTX 3090 Ti", 1, 24, False),
        ("RTX 3090, Linux", "NVIDIA GeForce RTX 3090", 2, 24, False),
        ("RTX 3090 at 250 W, Linux", "NVIDIA GeForce RTX 3090", 1, 24, True),
        ("2 × RTX 3090 with NVLink, 250 W", "NVIDIA GeForce RTX 3090", 2, 24, True),
        ("RTX 4080 Super 32 GB, WSL2", "NVIDIA GeForce RTX 4080 SUPER", 1, 32, True),
        ("RTX 4080 Super 32 GB, WSL2", "NVIDIA GeForce RTX 4080 SUPER", 1, 16, False),
        ("RTX 4080 Super 32 GB, WSL2", "NVIDIA GeForce RTX 4080", 1, 32, False),
        ("RTX 4090, WSL2", "NVIDIA GeForce RTX 4090 D", 1, 24, False),
        ("4 × V100-SXM2 16 GB", "Tesla V100-SXM2-16GB", 4, 16, True),
        ("4 × V100-SXM2 32 GB, 62 GB of memory", "Tesla V100-SXM2-32GB", 4, 32, True),
        ("4 × V100-SXM2 16 GB", "Tesla V100-SXM2-32GB", 4, 32, False),
        ("", "NVIDIA GeForce RTX 3090", 1, 24, False),
    ],
)
def test_a_row_is_of_these_cards_or_not(
    published: str, name: str, count: int, gib: int, *, is_it: bool
) -> None:
    """A Ti beside a plain card is a comparison that lies."""
    cards = tuple(card(name, memory_bytes=gib * GIB) for _ in range(count))

    assert bool(rows((row(published),), result(cards=cards))) is is_it


def test_rows_of_the_processor_need_the_same_number_of_cores() -> None:
    """Two cores and sixty are not one machine."""
    published = row("2 cores of an AMD EPYC, 24 GiB")
    here = result(cards=(), processor="AMD EPYC 7B13", processors=2)

    assert len(rows((published,), here)) == 1
    assert rows((published,), result(cards=(), processors=64)) == ()
    assert rows((published,), result(cards=(), processor="Intel Xeon", processors=2)) == ()
    assert rows((published,), result()) == ()
    assert rows((row(None),), here) == ()


def test_rows_under_other_settings_are_no_match() -> None:
    """A figure with int8 activations says nothing about a run without."""
    published = row(case="int8_act=int8")

    assert rows((published,), result(overrides={"int8_act": "off"})) == ()
    assert rows((published,), result(settings={"int8_act": "off"})) == ()
    same = rows((published,), result(overrides={"int8_act": "int8"}))
    assert [one.differs for one in same] == [()]
    unknown = rows((published,), result())
    assert unknown[0].differs == ("It was published for int8_act=int8.",)


@pytest.mark.parametrize(
    ("published", "system", "limit_w", "said"),
    [
        ("RTX 3090 at 250 W, Linux", "Linux", 250.0, ()),
        (
            "RTX 3090 at 250 W, Linux",
            "Linux",
            350.0,
            ("It was published at 250 W; the limit here is 350 W.",),
        ),
        (
            "RTX 3090 at 250 W, Linux",
            "Linux",
            None,
            ("It was published at 250 W; the limit here is not known.",),
        ),
        (
            "RTX 3090, Linux",
            "WSL2",
            350.0,
            ("It was published under Linux; WSL2 usually costs some 13 %.",),
        ),
        (
            "RTX 3090, WSL2",
            "Linux",
            350.0,
            ("It was published under WSL2, which usually costs some 13 %.",),
        ),
        ("RTX 3090", "WSL2", 350.0, ()),
    ],
)
def test_power_and_system_are_told_where_they_differ(
    published: str, system: str, limit_w: float | None, said: tuple[str, ...]
) -> None:
    """They explain more of a difference than any setting."""
    here = result(cards=(card(power_limit_w=limit_w),), system=system)

    assert rows((row(published),), here)[0].differs == said


def test_own_settings_are_told() -> None:
    """Who changed a knob should not wonder about the difference."""
    found = rows((row(),), result(overrides={"draft_tokens": "0"}))

    assert found[0].differs == ("You changed draft_tokens=0.",)


def test_the_row_most_alike_comes_first() -> None:
    """Nobody reads the third comparison."""
    found = rows((row("RTX 3090 at 250 W, Linux"), row("RTX 3090, Linux")), result(cards=(card(),)))

    assert [one.expected.card for one in found] == ["RTX 3090, Linux", "RTX 3090 at 250 W, Linux"]


@pytest.mark.parametrize(
    ("note", "streams", "prompt", "reading"),
    [
        ("one stream; eight streams together", 8, None, None),
        ("128 requests at once", 128, None, None),
        ("at 24k; 73.7 at 49k, 60.2 at 88k", None, 24_000, None),
        ("six tasks at 20k; 164 to 167 when copying", None, 20_000, None),
        ("32.0 at 112k", None, None, None),
        ("8k prompt; 0.8 to 1.1 s for short ones", None, 8_000, None),
        ("one stream with MTP4; reading 32k with tables on disk", None, None, 32_000),
        (None, None, None, None),
    ],
)
def test_what_a_figure_is_of_is_read_from_its_note(
    note: str | None, streams: int | None, prompt: int | None, reading: int | None
) -> None:
    """A figure at 112k beside one of a short prompt is no comparison."""
    found = rows((row(note=note),), result())[0]

    assert (found.streams, found.prompt_tokens, found.reading_tokens) == (streams, prompt, reading)


def test_every_preset_has_rows_that_some_machine_can_be_compared_with() -> None:
    """A way of writing cards that cannot be read would never be compared, and nobody would know."""
    unread = []
    for path in sorted((bundled_root() / "presets").glob("*.toml")):
        raw = read_toml(path, dict)
        for one in raw.get("expected", ()):
            is_speed = {"decode_tokens_per_s", "total_tokens_per_s"} & set(one)
            if is_speed and not any(rows((Expected(**one),), here) for here in _machines()):
                unread.append(f"{path.stem}: {one.get('card')}")

    assert unread == []


def _machines() -> list[BenchResult]:
    def cards(name: str, count: int, gib: int) -> tuple[BenchCard, ...]:
        return tuple(card(name, memory_bytes=gib * GIB) for _ in range(count))

    return [
        result(part(), cards=cards(f"NVIDIA GeForce RTX {name}", count, gib), overrides=settings)
        for name, gib in (
            ("3090", 24),
            ("4090", 24),
            ("5090", 32),
            ("4080 SUPER", 32),
            ("3060", 12),
        )
        for count in (1, 2)
        for settings in ({},)
    ] + [
        result(part(), cards=cards("Tesla V100-SXM2-32GB", 4, 32)),
        result(part(), cards=cards("Tesla V100-SXM2-16GB", 4, 16)),
        result(part(), cards=(), processors=2),
    ]
