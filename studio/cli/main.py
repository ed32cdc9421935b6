"""The front door of the command line: argv to exit status.

Imports next to nothing, so that `weir --help` is instant; each command loads what it needs. Every
`StudioError` becomes words (or, with `--json`, a document) and its exit status, nothing becomes a
traceback.
"""

from collections.abc import Sequence

import msgspec

from studio.cli import words
from studio.cli.arguments import Invocation, parse
from studio.cli.console import Console, OutputClosed
from studio.cli.mistakes import TextAsked, UsageError
from studio.cli.reach import Connector
from studio.domain.errors import ErrorInfo, ServiceUnreachable, StudioError

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
_INTERRUPTED = ErrorInfo(
    code="interrupted", message=words.INTERRUPTED, exit_status=EXIT_INTERRUPTED
)


def run(argv: Sequence[str], connector: Connector, console: Console | None = None) -> int:
    """Run one command; return its exit status."""
    console = console or Console.of_process(json="--json" in argv)
    try:
        return _run(argv, connector, console)
    except OutputClosed:
        return EXIT_OK
    except StudioError as error:
        return _failed(error.info, console)


def _run(argv: Sequence[str], connector: Connector, console: Console) -> int:
    try:
        return _dispatch(parse(argv), connector, console)
    except TextAsked as asked:
        console.say(asked.text)
        return EXIT_OK
    except UsageError as error:
        usage = ErrorInfo(
            code="usage", message=error.sentence, hint=error.hint, exit_status=EXIT_USAGE
        )
        return _failed(usage, console)
    except KeyboardInterrupt:
        return _failed(_INTERRUPTED, console)


def _failed(info: ErrorInfo, console: Console) -> int:
    # Ctrl+C needs no explanation to the person who pressed it, only to a program.
    if info.exit_status != EXIT_INTERRUPTED:
        console.error(info)
    elif console.json:
        console.document(info)
    return info.exit_status


def _dispatch(call: Invocation, connector: Connector, console: Console) -> int:
    if call.command == "service run":
        return connector.service_run(until_released=call.until_released, autostart=call.autostart)
    if call.command == "ui":
        return connector.ui(list(call.window_arguments))
    import asyncio

    from studio.cli.dispatch import command_of

    if call.host is not None:
        from studio.cli.replay import Replaying

        connector = Replaying(connector, call.host, console)
    try:
        return asyncio.run(command_of(call.command)(call, connector, console))
    except msgspec.MsgspecError as error:
        raise ServiceUnreachable(
            "service-answer-unknown",
            words.versions_differ(str(error)),
            hint=words.HINT_VERSIONS_DIFFER,
        ) from error
