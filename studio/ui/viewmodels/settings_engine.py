"""The settings of care, monitor and updates, made of what the service said. Pure."""

from studio.domain.alarms import AlarmList, Mute
from studio.domain.history import HistoryState
from studio.domain.logs import LogLimits
from studio.domain.runtimes import RuntimeUpdate, RuntimeUpdates, UpdateKind
from studio.domain.scrape import ScrapeInfo
from studio.domain.settings import CareSettings, OnDeath, OnStall
from studio.domain.units import UNKNOWN, bytes_text
from studio.ui.language import t, told
from studio.ui.viewmodels.dates import epoch_text
from studio.ui.viewmodels.settings import (
    SET,
    CardView,
    Kind,
    Machine,
    Option,
    RowView,
    fact,
    switch,
)
from studio.ui.viewmodels.settings_adopt import adopt_card
from studio.ui.viewmodels.settings_program import program_card
from studio.ui.viewmodels.words import plural


def engine_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return what follows a death, a standstill and an early request; and who else may serve."""
    care = machine.care
    if care is None:
        return ()
    return (_death(care), _stall(care), _wait(care), adopt_card(machine))


def _death(care: CareSettings) -> CardView:
    row = RowView(
        id="care.on-death",
        title=t("When it dies"),
        kind=Kind.CHOICE,
        about=t("The third death within ten minutes is the last either way."),
        value=care.on_death.value,
        options=(
            Option(value=OnDeath.RESTART.value, text=t("Start it again")),
            Option(value=OnDeath.TELL.value, text=t("Leave it, and say why")),
        ),
    )
    return CardView(id="death", title=t("Death"), rows=(row,))


def _stall(care: CareSettings) -> CardView:
    return CardView(
        id="stall",
        title=t("Standstill"),
        about=t("It has work, and takes no step any more."),
        rows=(
            RowView(
                id="care.on-stall",
                title=t("When it stands still"),
                kind=Kind.CHOICE,
                value=care.on_stall.value,
                options=(
                    Option(value=OnStall.RESTART.value, text=t("Start it again")),
                    Option(value=OnStall.WAIT.value, text=t("Wait")),
                    Option(value=OnStall.TELL.value, text=t("Say it")),
                ),
            ),
            _seconds("stall-s", t("Counts after"), care.stall_s, t("as the preset says"), care),
        ),
    )


def _wait(care: CareSettings) -> CardView:
    row = _seconds(
        "wait-s", t("Wait for it"), care.wait_s, t("60, or as long as its boot takes"), care
    )
    return CardView(
        id="wait",
        title=t("Requests that come while it starts"),
        about=t("Instead of failing they wait; 0 lets them fail at once."),
        rows=(row,),
    )


def _seconds(
    name: str, title: str, value: float | None, otherwise: str, care: CareSettings
) -> RowView:
    return RowView(
        id=f"care.{name}",
        title=title,
        kind=Kind.TEXT,
        value="" if value is None else f"{value:g}",
        placeholder=otherwise,
        note=t("Seconds."),
        button=t(SET),
        can_reset=name in care.chosen,
    )


def monitor_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return how often is looked, what is kept, what is silent."""
    cards = []
    if machine.care is not None:
        cards.append(_sampling(machine.care))
    if machine.history is not None:
        cards.append(_history(machine.history, machine.care))
    if machine.alarms is not None:
        cards.append(_mutes(machine.alarms))
    if machine.logs is not None:
        cards.append(_logs(machine.logs))
    if machine.scrape is not None:
        cards.append(_scrape(machine.scrape))
    return tuple(cards)


def _sampling(care: CareSettings) -> CardView:
    row = RowView(
        id="care.sample-s",
        title=t("Seconds between looks"),
        kind=Kind.TEXT,
        about=t("At cards, engine and host: from 0.2 to 10. `weir status --json` says the cost."),
        value=f"{care.sample_s:g}",
        button=t(SET),
        can_reset="sample-s" in care.chosen,
        is_short=True,
    )
    return CardView(id="sampling", title=t("Looking"), rows=(row,))


def _history(state: HistoryState, care: CareSettings | None) -> CardView:
    size = t("{bytes} of {most} at most").format(
        bytes=bytes_text(state.bytes), most=bytes_text(state.most_bytes)
    )
    rows = [
        fact("history.size", t("Size"), size, note=state.file),
        fact(
            "history.oldest",
            t("Reaches back to"),
            epoch_text(state.oldest_at),
            tooltip=t("Nothing is kept yet.") if state.oldest_at is None else "",
        ),
    ]
    if care is not None:
        rows.append(
            RowView(
                id="care.history-mib",
                title=t("Never larger than, in MiB"),
                kind=Kind.TEXT,
                about=t("From 32 to 16,384. When it is full, the oldest minutes go."),
                value=str(care.history_mib),
                button=t(SET),
                can_reset="history-mib" in care.chosen,
                is_short=True,
            )
        )
    if state.note is not None:
        rows.append(fact("history.note", t("To note"), told(state.note), is_warning=True))
    return CardView(
        id="history",
        title=t("History"),
        about=t("Every second at first, coarser as it ages; the bound is never crossed."),
        rows=tuple(rows),
    )


def _mutes(alarms: AlarmList) -> CardView:
    titles = {one.code: told(one.title) for one in (*alarms.ended, *alarms.active)}
    items = tuple(
        Option(value=mute.code, text=f"{titles.get(mute.code, mute.code)} · {_until(mute)}")
        for mute in alarms.mutes
    )
    row = RowView(
        id="alarms.mutes",
        title=t("Muted alarms"),
        kind=Kind.LIST,
        about=t("Still watched, shown and kept, but nothing is said of them."),
        items=items,
        remove=t("Unmute"),
        note="" if items else t("None is muted."),
    )
    return CardView(id="mutes", title=t("Alarms"), rows=(row,))


def _until(mute: Mute) -> str:
    if mute.until is not None:
        return t("until {when}").format(when=epoch_text(mute.until))
    return t("as long as it holds") if mute.is_once else t("until you unmute it")


def _logs(limits: LogLimits) -> CardView:
    return CardView(
        id="logs",
        title=t("Engine's log"),
        about=t("The oldest file goes when the newest is full."),
        rows=(
            RowView(
                id="logs.file-mib",
                title=t("Size of a file, in MiB"),
                kind=Kind.TEXT,
                value=str(limits.file_mib),
                button=t(SET),
                is_short=True,
            ),
            RowView(
                id="logs.files",
                title=t("Files"),
                kind=Kind.TEXT,
                value=str(limits.files),
                button=t(SET),
                is_short=True,
            ),
        ),
    )


def _scrape(info: ScrapeInfo) -> CardView:
    rows = [
        switch(
            "scrape.on",
            t("Open for Prometheus"),
            is_on=info.is_on,
            about=t("On this machine, with a token of its own: `weir metrics show-token`."),
            note=told(info.note or ""),
        )
    ]
    if info.url is not None:
        rows.append(fact("scrape.url", t("Address"), info.url, is_mono=True))
    return CardView(id="scrape", title=t("Figures for others"), rows=tuple(rows))


def update_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return what could be newer."""
    program = program_card(machine)
    cards = () if machine.updates is None else (_runtimes(machine.updates),)
    return cards if program is None else (*cards, program)


def _runtimes(found: RuntimeUpdates) -> CardView:
    about = t(
        "Installed runtimes are compared with the list that came with this version of the Studio; "
        "nobody is asked."
    )
    rows = [_update(number, one) for number, one in enumerate(found.updates)]
    if not rows:
        rows = [fact("updates.none", t("Runtimes"), t("Nothing newer than what is installed."))]
    rows.append(
        RowView(
            id="updates.open",
            title=t("Take one up"),
            kind=Kind.DEED,
            value=t("It is installed beside, tried on this machine, and only then used."),
            button=t("Runtimes…"),
        )
    )
    return CardView(id="runtimes", title=t("Runtimes"), about=about, rows=tuple(rows))


def _update(number: int, update: RuntimeUpdate) -> RowView:
    kind = (
        t("Its recipe has changed.")
        if update.kind is UpdateKind.RECIPE
        else t("A newer runtime of its kind.")
    )
    changes = plural(len(update.packages), "package changes", "packages change")
    size = bytes_text(update.fetch_bytes)
    fetch = t("{size} to fetch").format(size=size) if size != UNKNOWN else ""
    more = [part for part in (changes if update.packages else "", fetch) if part]
    parts = [kind.rstrip(".。") if more else kind, *more]
    return fact(
        f"updates.{number}",
        told(update.title),
        " · ".join(parts),
        note=" ".join(told(one) for one in update.reasons),
        is_warning=not update.usable,
    )
