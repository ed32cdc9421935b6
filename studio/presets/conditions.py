"""Whether a condition of a preset holds. Pure; a fact that is not known holds for nothing."""

import dataclasses
from collections.abc import Callable, Mapping

from studio.domain.rules import Condition, Facts, SettingTest, Value


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings at one moment of the resolution, as conditions see them."""

    value: Callable[[str], Value | None]
    """Name of a setting, a quantity or a derived number to its value."""
    default: Callable[[str], Value | None]
    """The same without what the person typed."""
    overrides: Mapping[str, Value]


def holds(condition: Condition, facts: Facts, settings: Settings) -> bool:
    """Return whether all that `condition` names holds."""
    return of_host(condition, facts) and all(
        _test(test, name, settings) for name, test in condition.settings.items()
    )


def of_host(condition: Condition, facts: Facts) -> bool:
    """Return whether the facts hold, settings aside."""
    checks = (
        _is(condition.wsl, facts.is_wsl),
        _is(condition.nvlink, facts.has_nvlink),
        _is(condition.desktop, facts.has_desktop),
        _is(condition.nvcc, facts.has_nvcc),
        not condition.cards or len(facts.gpus) in condition.cards,
        not condition.runtimes or facts.runtime in condition.runtimes,
        _between(facts.card_bytes, condition.min_card_bytes, condition.max_card_bytes),
        _between(facts.memory_bytes, condition.min_memory_bytes, condition.max_memory_bytes),
        _capability(condition, facts.compute_capability),
    )
    return all(checks)


def version(text: str) -> tuple[int, ...]:
    """Return a compute capability so that 8.6 is less than 10.0."""
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _is(wanted: bool | None, found: bool | None) -> bool:
    return wanted is None or wanted is found


def _between(found: float | None, least: float | None, most: float | None) -> bool:
    if least is None and most is None:
        return True
    if found is None:
        return False
    return (least is None or found >= least) and (most is None or found <= most)


def _capability(condition: Condition, found: str | None) -> bool:
    least, most = condition.min_compute_capability, condition.max_compute_capability
    if not (condition.compute_capabilities or least or most):
        return True
    if found is None:
        return False
    return (
        (not condition.compute_capabilities or found in condition.compute_capabilities)
        and (least is None or version(found) >= version(least))
        and (most is None or version(found) <= version(most))
    )


def _test(test: SettingTest, name: str, settings: Settings) -> bool:
    value = settings.value(name)
    if test.given is not None and test.given is not (value is not None):
        return False
    if test.changed is not None and test.changed is not _is_changed(name, settings):
        return False
    if value is None:
        return test.given is False and _asks_no_value(test)
    return _matches(test, value) and _compares(test, name, value, settings)


def _asks_no_value(test: SettingTest) -> bool:
    return SettingTest(given=test.given, changed=test.changed) == test


def _is_changed(name: str, settings: Settings) -> bool:
    return name in settings.overrides and settings.overrides[name] != settings.default(name)


def _same(one: Value, other: Value) -> bool:
    """Return whether two values are the same; `true` is no 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _matches(test: SettingTest, value: Value) -> bool:
    if test.equals is not None and not _same(value, test.equals):
        return False
    if test.one_of and not any(_same(value, one) for one in test.one_of):
        return False
    return not any(_same(value, one) for one in test.none_of)


def _compares(test: SettingTest, name: str, value: Value, settings: Settings) -> bool:
    asks = (test.above, test.below, test.above_default, test.no_multiple_of)
    if all(one is None for one in asks):
        return True
    if isinstance(value, bool | str):
        return False
    if test.above is not None and not value > test.above:
        return False
    if test.below is not None and not value < test.below:
        return False
    return _is_above_default(test, name, value, settings) and _is_no_multiple(test, value, settings)


def _is_above_default(test: SettingTest, name: str, value: float, settings: Settings) -> bool:
    if test.above_default is None:
        return True
    default = settings.default(name)
    if default is None or isinstance(default, bool | str):
        return False
    return test.above_default is (value > default)


def _is_no_multiple(test: SettingTest, value: float, settings: Settings) -> bool:
    if test.no_multiple_of is None:
        return True
    unit = settings.value(test.no_multiple_of)
    if unit is None or isinstance(unit, bool | str) or unit <= 0:
        return False
    return value % unit != 0
