"""Rules that change requests: which there are, which are on, and for whom."""

from collections.abc import Callable, Mapping

import msgspec

from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput, NotFound
from studio.domain.gateway import Adjustment, AdjustmentChange, AdjustmentList
from studio.gateway.adjust import ALL, Adjuster
from studio.gateway.engine import EngineTarget
from studio.gateway.traps import Trap


class Adjustments:
    """What the control API may ask about them."""

    def __init__(
        self,
        adjuster: Adjuster,
        settings: SettingsFile,
        *,
        engine: Callable[[], EngineTarget | None],
        names: Callable[[], Mapping[str, str]],
    ) -> None:
        """`names`: of the keys, by id."""
        self._adjuster = adjuster
        self._settings = settings
        self._engine = engine
        self._names = names
        self._is_live = False
        self._apply()

    def begin(self) -> None:
        """Take notice that from now on requests pass."""
        self._is_live = True

    def all(self) -> AdjustmentList:
        """Return every rule."""
        engine = self._engine()
        fitting = self._adjuster.fitting(engine) if engine is not None else ()
        chosen = self._settings.now.gateway
        return AdjustmentList(
            adjustments=tuple(
                self._info(one, None if engine is None else one in fitting)
                for one in self._adjuster.rules
            ),
            are_off=chosen.adjust.get(ALL) is False,
        )

    def change(self, change: AdjustmentChange) -> AdjustmentList:
        """Switch a rule, or all of them, for everybody or for a key; holds for the next request.

        Raises: NotFound (`adjustment-unknown`), BadInput (`adjustment-all-on`), HostLacks.
        """
        known = {one.id for one in self._adjuster.rules}
        if change.id != ALL and change.id not in known:
            raise NotFound(
                "adjustment-unknown",
                f"There is no change of requests called {change.id!r}.",
                hint="`weir gateway adjust` lists them.",
            )
        if change.id == ALL and change.is_on:
            raise BadInput(
                "adjustment-all-on",
                "Not all of them can be switched on together: some are done only where they are"
                " allowed one by one.",
                hint="`weir gateway adjust all default` lets each be as it is by itself.",
            )
        now = self._settings.now.gateway
        of_keys = {key: dict(chosen) for key, chosen in now.adjust_keys.items()}
        if change.key is None:
            adjust = _with(now.adjust, change)
        else:
            adjust = now.adjust
            of_keys[change.key] = _with(of_keys.get(change.key, {}), change)
        of_keys = {key: chosen for key, chosen in of_keys.items() if chosen}
        after = msgspec.structs.replace(now, adjust=adjust, adjust_keys=of_keys)
        self._settings.change(gateway=after)
        self._apply()
        return self.all()

    def forget(self, key_id: str) -> None:
        """Forget what was chosen for a key that is gone."""
        now = self._settings.now.gateway
        if key_id in now.adjust_keys:
            of_keys = {key: one for key, one in now.adjust_keys.items() if key != key_id}
            self._settings.change(gateway=msgspec.structs.replace(now, adjust_keys=of_keys))
            self._apply()

    def _apply(self) -> None:
        chosen = self._settings.now.gateway
        self._adjuster.choose(chosen.adjust, chosen.adjust_keys)

    def _info(self, rule: Trap, fits: bool | None) -> Adjustment:
        adjuster, chosen = self._adjuster, self._settings.now.gateway
        names = self._names()
        is_on = adjuster.is_on(rule, None)
        keys = {
            names.get(key, key): adjuster.is_on(rule, key)
            for key in chosen.adjust_keys
            if adjuster.is_on(rule, key) is not is_on
        }
        return Adjustment(
            id=rule.id,
            what=rule.what,
            why=rule.why,
            source=rule.source,
            routes=rule.routes,
            is_on=is_on,
            is_default=rule.id not in chosen.adjust and ALL not in chosen.adjust,
            is_asked=rule.is_asked,
            fits=fits,
            keys=keys,
            times=adjuster.times[rule.id] if self._is_live else None,
        )


def _with(chosen: Mapping[str, bool], change: AdjustmentChange) -> dict[str, bool]:
    after = {name: is_on for name, is_on in chosen.items() if name != change.id}
    if change.is_on is not None:
        after[change.id] = change.is_on
    return after
