"""The settings of the window itself, and what the Studio says about privacy. Pure."""

from studio.domain.secrets import StoreKind
from studio.ui.language import CHINESE, NAMES, SOURCE, t, told
from studio.ui.viewmodels.dates import instant_text
from studio.ui.viewmodels.settings import (
    CardView,
    Kind,
    Machine,
    Option,
    RowView,
    WindowChoices,
    fact,
    switch,
)

SYSTEM = "system"


def window_cards(choices: WindowChoices) -> tuple[CardView, ...]:
    """Return what the window remembers."""
    look = CardView(
        id="look",
        title=t("Look and language"),
        rows=(_language(choices), _theme(choices), _motion(choices)),
    )
    manners = CardView(id="manners", title=t("Manners"), rows=(_notices(choices), _tray(choices)))
    return (look, manners)


def _language(choices: WindowChoices) -> RowView:
    return RowView(
        id="window.language",
        title=t("Language"),
        kind=Kind.PICK,
        about=t(
            "The window is built anew at once, at the same place. Lines of the engine's log stay "
            "as they are."
        ),
        value=choices.language or SYSTEM,
        options=(
            Option(value=SYSTEM, text=t("As the system says")),
            Option(value=SOURCE, text=NAMES[SOURCE]),
            Option(value=CHINESE, text=NAMES[CHINESE]),
        ),
    )


def _theme(choices: WindowChoices) -> RowView:
    return RowView(
        id="window.theme",
        title=t("Theme"),
        kind=Kind.CHOICE,
        about=t("Ctrl+T changes it from anywhere."),
        value=choices.theme,
        options=(
            Option(value=SYSTEM, text=t("System")),
            Option(value="dark", text=t("Dark")),
            Option(value="light", text=t("Light")),
        ),
    )


def _motion(choices: WindowChoices) -> RowView:
    note = (
        t("The system asks for less motion.")
        if choices.system_is_reduced
        else t("The system asks for nothing.")
    )
    return RowView(
        id="window.motion",
        title=t("Motion"),
        kind=Kind.CHOICE,
        about=t(
            "Reduced: the weir, charts and figures move every five seconds instead of every "
            "second, and nothing blinks or slides. States and errors still come at once."
        ),
        note=note if choices.motion == SYSTEM else "",
        value=choices.motion,
        options=(
            Option(value=SYSTEM, text=t("System")),
            Option(value="full", text=t("Full")),
            Option(value="reduced", text=t("Reduced")),
        ),
    )


def _notices(choices: WindowChoices) -> RowView:
    return switch(
        "window.notifies",
        t("Notifications"),
        is_on=choices.notifies,
        about=t(
            "When an engine is ready, has failed, or spills; only while this window is not in "
            "front."
        ),
    )


def _tray(choices: WindowChoices) -> RowView:
    about = t("The sign in the tray goes on showing how the engine stands.")
    if not choices.has_tray:
        about = t(
            "This desktop has no tray, so closing the window closes it. What is served goes on "
            "either way."
        )
    return switch("window.to-tray", t("Close into the tray"), is_on=choices.to_tray, about=about)


def privacy_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return what is asked of whom and when, and what is kept."""
    return (_outside(machine), _inside(machine))


def _outside(machine: Machine) -> CardView:
    return CardView(
        id="outside",
        title=t("Nothing leaves this machine"),
        about=t(
            "No prompt, no answer, no figure, no error and no name of yours is sent to anybody. "
            "There is no account, no telemetry and no report that sends itself. The Studio goes "
            "out only to fetch what you ask for:"
        ),
        rows=(
            fact(
                "privacy.runtime",
                t("A runtime"),
                t("When you install or update one: names and versions of its packages."),
                note=t("Asks the package index and the publishers of the wheels, or your mirrors."),
            ),
            fact(
                "privacy.series",
                t("Patches of others"),
                t("When such a runtime is installed, or you look up its newest commit."),
                note=t("Asks the project's repository on GitHub."),
            ),
            fact(
                "privacy.model",
                t("A model"),
                t("When you get one: its name, and your token for that hub if you gave one."),
                note=t("Asks Hugging Face or ModelScope, or your mirror."),
            ),
            fact(
                "privacy.adopted",
                t("A vLLM that you adopt"),
                t("While it is adopted: what your chat clients send, to the address you gave."),
            ),
            fact(
                "privacy.updates",
                t("A newer Studio"),
                _newer(machine),
                note=_feed(machine),
            ),
            fact(
                "privacy.now",
                t("Right now"),
                _now(machine),
                note=t("Network, on this page, switches it off."),
            ),
        ),
    )


def _newer(machine: Machine) -> str:
    if machine.care is None:
        return _unread(machine)
    if machine.care.check_updates:
        return t("Once a day, because you allow it under Updates: what the newest version is.")
    return t("Only when you press “Look now” under Updates.")


def _now(machine: Machine) -> str:
    if machine.network is None:
        return _unread(machine)
    if machine.network.offline:
        return t("The network is switched off: nothing at all is asked.")
    return t("The network is allowed, for these only.")


def _unread(machine: Machine) -> str:
    return t("Reading…") if machine.is_live else t("Not known until the service answers.")


def _feed(machine: Machine) -> str:
    feed = machine.program.feed if machine.program is not None else None
    return t("Asks {feed}; it fetches nothing.").format(feed=feed) if feed else ""


def _inside(machine: Machine) -> CardView:
    return CardView(
        id="inside",
        title=t("What is kept here"),
        rows=(
            fact(
                "privacy.prompts",
                t("Prompts"),
                _prompts(machine),
                is_warning=bool(_kept(machine)),
                note=t("Only `weir keys prompts NAME on` keeps them, for one key and some time."),
            ),
            fact(
                "privacy.usage",
                t("Usage"),
                t("Counts of requests and tokens for each key, for 400 days. No text."),
            ),
            fact(
                "privacy.logs",
                t("Logs"),
                t("Keys and prompts are taken out of every line before it is kept."),
            ),
            fact("privacy.keys", t("Keys"), _keys(machine), note=_why_file(machine)),
            fact(
                "privacy.report",
                t("Reports"),
                t("A file that you look through, save and send yourself, or not."),
            ),
        ),
    )


def _kept(machine: Machine) -> tuple[str, ...]:
    return tuple(
        f"{key.name} ({instant_text(key.prompts_until)})"
        for key in machine.keys or ()
        if key.prompts_until is not None
    )


def _prompts(machine: Machine) -> str:
    kept = _kept(machine)
    if kept:
        return t("Kept now, until the time in brackets: {names}.").format(names=", ".join(kept))
    return t("None are kept.") if machine.keys is not None else _unread(machine)


def _keys(machine: Machine) -> str:
    hashes = t("Kept as hashes.")
    store = machine.store
    if store is None:
        return hashes
    place = (
        t("Those that a program has to read again lie in the system's keyring ({where}).")
        if store.kind is StoreKind.KEYRING
        else t("Those that a program has to read again lie in files of yours alone: {where}.")
    )
    return f"{hashes} {place.format(where=store.where)}"


def _why_file(machine: Machine) -> str:
    store = machine.store
    if store is None or store.reason is None:
        return ""
    return t("Not in the keyring: {reason}.").format(reason=told(store.reason).rstrip(".。"))
