"""What the gateway's attack on itself found, as text."""

from studio.cli import selftest_words as words
from studio.cli.render import padded
from studio.domain.selftest import AttackResult, Defence, SelftestReport
from studio.domain.units import duration_text

_COLUMN = 24


def report_text(report: SelftestReport) -> str:
    """Return a line for each defence, what came through below it, and the verdict."""
    lines: list[str] = []
    for defence in Defence:
        attacks = [one for one in report.attacks if one.defence is defence]
        if attacks:
            lines += _about(defence, attacks)
    live = words.NOT_LIVE if report.address is None else words.LIVE.format(address=report.address)
    return "\n".join([*lines, "", live, _verdict(report)])


def _about(defence: Defence, attacks: list[AttackResult]) -> list[str]:
    through = [one for one in attacks if not one.is_repelled]
    held = words.HELD.format(repelled=len(attacks) - len(through), all=len(attacks))
    lines = [f"  {padded(words.DEFENCES[defence], _COLUMN)}{held}"]
    for one in through:
        said = words.FOUND.format(
            title=one.title, code=one.code, place=words.PLACES[one.place], found=one.found
        )
        lines.append(f"    {words.LET_THROUGH}: {said}")
    return lines


def _verdict(report: SelftestReport) -> str:
    count = len(report.attacks)
    if report.is_safe:
        return words.SAFE.format(count=count, took=duration_text(report.took_s))
    through = sum(not one.is_repelled for one in report.attacks)
    names = ", ".join(words.DEFENCES[one].lower() for one in report.open_defences)
    return words.OPEN.format(count=through, all=count, defences=names) + "\n" + words.ADVICE
