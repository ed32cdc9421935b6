"""The settings of the gateway, made of what the service said. Pure."""

import ipaddress
from collections.abc import Iterable

from studio.domain.gateway import GatewayReport
from studio.ui.language import t, told
from studio.ui.viewmodels.settings import (
    ADD,
    REMOVE,
    SET,
    CardView,
    Kind,
    Machine,
    Option,
    RowView,
    fact,
    switch,
)

LOOPBACK = "127.0.0.1"
EVERYWHERE = str(ipaddress.IPv4Address(0))


def gateway_cards(machine: Machine) -> tuple[CardView, ...]:
    """Return where chat clients come in."""
    report = machine.gateway
    if report is None:
        return ()
    return (_door(report, is_live=machine.is_live), _who(report), _names(report))


def _door(report: GatewayReport, *, is_live: bool) -> CardView:
    chosen = report.settings
    is_open = t("Open now.") if report.is_open else t("Opens with the next start.")
    if not is_live:
        is_open = t("Not known until the service answers.")
    options = [
        Option(value=LOOPBACK, text=t("This machine")),
        Option(value=EVERYWHERE, text=t("Every network")),
    ]
    if chosen.address not in (LOOPBACK, EVERYWHERE):
        options.append(Option(value=chosen.address, text=chosen.address))
    rows = [
        fact("gateway.urls", t("Address"), "\n".join(report.urls), note=is_open, is_mono=True),
        RowView(
            id="gateway.port",
            title=t("Port"),
            kind=Kind.TEXT,
            about=t("Clients that are set up already have to be told."),
            value=str(report.port),
            button=t(SET),
            is_short=True,
        ),
        RowView(
            id="gateway.address",
            title=t("Reached from"),
            kind=Kind.CHOICE,
            about=t(
                "Every network: everybody in it can try keys. A tunnel needs none of this: "
                "`ssh -L {port}:127.0.0.1:{port} HOST`."
            ).format(port=report.port),
            value=chosen.address,
            options=tuple(options),
        ),
        switch(
            "gateway.tls",
            t("Encrypted"),
            is_on=chosen.tls,
            about=t("With a certificate of the Studio's own, which clients must be told to trust."),
            note=t("Fingerprint {fingerprint}").format(fingerprint=report.fingerprint)
            if report.fingerprint
            else "",
        ),
    ]
    own = f"{chosen.certificate}={chosen.private_key}" if chosen.certificate else ""
    rows.append(
        RowView(
            id="gateway.certificate",
            title=t("Certificate of your own"),
            kind=Kind.TEXT,
            about=t("Two files: the certificate, `=`, and its key. Switches encryption on."),
            value=own,
            placeholder="/srv/a.pem=/srv/a.key",
            button=t(SET),
            is_mono=True,
        )
    )
    rows += [
        fact(f"gateway.note-{number}", t("To note"), told(note), is_warning=True)
        for number, note in enumerate(report.notes)
    ]
    return CardView(id="door", title=t("The door"), rows=tuple(rows))


def _who(report: GatewayReport) -> CardView:
    chosen = report.settings
    return CardView(
        id="who",
        title=t("Who may ask"),
        rows=(
            RowView(
                id="gateway.keys",
                title=t("Keys"),
                kind=Kind.DEED,
                value=t("Always needed, also from this machine: any web page could ask otherwise."),
                button=t("Keys…"),
            ),
            RowView(
                id="gateway.hosts",
                title=t("Other names"),
                kind=Kind.LIST,
                about=t("Under which a proxy of yours passes requests on."),
                placeholder="studio.example",
                items=_plain(chosen.hosts),
                button=t(ADD),
                remove=t(REMOVE),
            ),
            RowView(
                id="gateway.origins",
                title=t("Web pages"),
                kind=Kind.LIST,
                about=t("That may ask from a browser, with a key."),
                placeholder="http://localhost:3000",
                items=_plain(chosen.origins),
                button=t(ADD),
                remove=t(REMOVE),
            ),
        ),
    )


def _names(report: GatewayReport) -> CardView:
    whatever = t("whatever is served")
    items = tuple(
        Option(value=alias, text=f"{alias} → {meant or whatever}")
        for alias, meant in report.settings.aliases.items()
    )
    return CardView(
        id="names",
        title=t("Names of models"),
        rows=(
            RowView(
                id="gateway.aliases",
                title=t("Aliases"),
                kind=Kind.LIST,
                about=t("`gpt-4o` means whatever is served, `gpt-4o=NAME` one model."),
                placeholder="gpt-4o",
                items=items,
                button=t(ADD),
                remove=t(REMOVE),
            ),
        ),
    )


def _plain(values: Iterable[str]) -> tuple[Option, ...]:
    return tuple(Option(value=one, text=one) for one in values)
