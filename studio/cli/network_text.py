"""The network policy to text, as pure functions."""

import textwrap
from collections.abc import Iterator

from studio.cli import network_words as words
from studio.cli.render import READABLE_WIDTH, cells_of, padded
from studio.domain.network import AuthorityInfo, NetworkReport
from studio.domain.units import duration_text

_GAP = "  "
_LEAST_COLUMN = 30


def report_text(report: NetworkReport, width: int = READABLE_WIDTH) -> str:
    """Return the policy in force, one thing a line; addresses are never broken."""
    rows = list(_rows(report))
    column = max(cells_of(label) for label, _text in rows) + len(_GAP)
    room = max(_LEAST_COLUMN, width - column)
    lines: list[str] = []
    last = ""
    for label, text in rows:
        for number, line in enumerate(
            textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
        ):
            shown = label if number == 0 and label != last else ""
            lines.append(padded(shown, column) + line)
        last = label
    return "\n".join(lines)


def _rows(report: NetworkReport) -> Iterator[tuple[str, str]]:
    off = words.OFF.format(source=report.offline_source)
    yield words.NETWORK, off if report.offline else words.ON
    yield from _proxies(report)
    yield words.CERTIFICATES, words.PUBLIC
    for one in report.authorities:
        yield words.CERTIFICATES, _authority(one)
    if report.client_certificate is not None:
        yield words.CLIENT, report.client_certificate
    yield from _sources(report)
    yield (
        words.PATIENCE,
        words.PATIENCE_LINE.format(
            connections=report.connections,
            connect=duration_text(report.connect_s),
            stall=duration_text(report.stall_s),
            tries=report.tries,
        ),
    )
    yield words.SETTINGS, report.settings_file
    yield words.BY_HAND, words.DOWNLOADS.format(folder=report.downloads_folder)
    for note in report.notes:
        yield words.NOTES, note


def _proxies(report: NetworkReport) -> Iterator[tuple[str, str]]:
    if not report.proxies:
        yield words.PROXY, words.NO_PROXY
    for proxy in report.proxies:
        password = words.WITH_PASSWORD if proxy.has_password else ""
        yield (
            words.PROXY,
            words.PROXY_LINE.format(
                scheme=proxy.scheme, url=proxy.url, password=password, source=proxy.source
            ),
        )
    if report.proxies and report.no_proxy:
        yield words.EXCEPT, ", ".join(report.no_proxy)


def _sources(report: NetworkReport) -> Iterator[tuple[str, str]]:
    if not report.mirrors:
        yield words.MIRRORS, words.NO_MIRRORS
    for mirror in report.mirrors:
        yield (
            words.MIRRORS,
            words.MIRROR.format(of=mirror.of, at=mirror.at, source=mirror.source),
        )
    index = report.package_index
    yield words.PACKAGES, words.INDEX.format(url=index) if index else words.DEFAULT_INDEX
    for url in report.package_extra_indexes:
        yield words.PACKAGES, words.EXTRA_INDEX.format(url=url)
    for folder in report.package_folders:
        yield words.PACKAGES, words.FOLDER.format(path=folder)


def _authority(one: AuthorityInfo) -> str:
    if one.problem is None:
        return words.AUTHORITY.format(path=one.path, source=one.source)
    return words.AUTHORITY_UNUSED.format(path=one.path, source=one.source, problem=one.problem)
