"""Records to text, as pure functions: the live line, summaries, tables.

Numbers become words in studio.domain.units; sentences come from studio.cli.words. Lines fit 80
columns unless a value (an API key, an address) is longer by itself.
"""

import datetime
import json
import shlex
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

from studio.cli import alarm_text, boot_words, service_text, words
from studio.cli.badges_text import badge_pairs
from studio.cli.card_text import card_pairs
from studio.cli.download_text import download_pairs
from studio.cli.traffic_text import traffic_pairs
from studio.domain.control import PresetInfo, ProcessInfo, Status, UpResult
from studio.domain.events import InstallStep, Stage, StageProgress, StageState
from studio.domain.metrics import Tick
from studio.domain.server import BootPhase, EngineSnapshot, EngineState
from studio.domain.units import (
    UNKNOWN,
    bytes_text,
    duration_text,
    latency_text,
    percent_text,
    rate_text,
    tokens_text,
)

READABLE_WIDTH = 80
_SEPARATOR = " · "
_GAP = "  "
_PHASES = {phase.value: phase for phase in BootPhase}
_LABEL_WIDTH = 12
_VALUE_WIDTH = READABLE_WIDTH - 2 - _LABEL_WIDTH
_ID_SHOWN = 12
"""Digits of a runtime id that people see; its folder is named by the same."""


# Stages of `weir up`


def stage_title(progress: StageProgress) -> str:
    """Return what a stage is called on screen."""
    return progress.title or words.STAGES[progress.stage]


def stage_doing(progress: StageProgress) -> str:
    """Return what a stage does right now, else what it is called; for a narrow column."""
    if progress.state is StageState.RUNNING and progress.stage is not Stage.BOOT and progress.note:
        return progress.note
    return stage_title(progress)


def amount_text(value: float | None, unit: str | None) -> str:
    """Return an amount in the unit that a stage counts in."""
    match unit:
        case "bytes":
            return bytes_text(value)
        case "s":
            return duration_text(value)
        case None:
            return percent_text(value)
        case _:
            return UNKNOWN if value is None else f"{value:,.0f}"


def stage_figures(progress: StageProgress) -> str:
    """Return how far a stage is: `93.4 MiB of 585.0 MiB · 35.2 MiB/s`."""
    unit = progress.unit
    pieces: list[str] = []
    if progress.done is not None and unit is not None:
        done, total = amount_text(progress.done, unit), amount_text(progress.total, unit)
        is_over = progress.state is not StageState.RUNNING
        amount = done if is_over and progress.total is None else words.of_total(done, total)
        pieces.append(amount if unit in ("bytes", "s") else words.counted(amount, unit))
    if progress.state is StageState.RUNNING and progress.rate and unit == "bytes":
        pieces.append(words.per_second(bytes_text(progress.rate)))
    return _SEPARATOR.join(pieces)


def stage_share(progress: StageProgress) -> float | None:
    """Return how much of a stage is done, 0 to 1; None when that is not known."""
    if progress.state in (StageState.DONE, StageState.SKIPPED):
        return 1.0
    if progress.done is None or not progress.total:
        return None
    return min(1.0, max(0.0, progress.done / progress.total))


def stage_words(progress: StageProgress, *, has_note: bool = True) -> str:
    """Return state, figures and note of a stage; the note of a failure is the error shown below."""
    note = progress.note if has_note and progress.state is not StageState.FAILED else None
    if progress.stage is Stage.BOOT and note in _PHASES:
        note = boot_words.PHASES[_PHASES[note]]
    step = _step(progress) if progress.state is StageState.RUNNING else None
    pieces = [words.STAGE_STATES[progress.state], step, stage_figures(progress), note]
    return _SEPARATOR.join(piece for piece in pieces if piece)


def _step(progress: StageProgress) -> str | None:
    """Return which step of an installation this is, and how many there are."""
    steps = [step.value for step in InstallStep]
    if progress.step not in steps:
        return progress.step
    return f"{progress.step} ({steps.index(progress.step) + 1} of {len(steps)})"


def boot_sentence(progress: StageProgress) -> str | None:
    """Return what a running boot is at, as a sentence of its own; None for all else."""
    is_running = progress.stage is Stage.BOOT and progress.state is StageState.RUNNING
    if not is_running or progress.note is None or progress.note in _PHASES:
        return None
    return progress.note[:1].upper() + progress.note[1:]


def stage_line(progress: StageProgress) -> str:
    """Return one plain line about a stage, for output that is not a terminal."""
    title, text = stage_title(progress), stage_words(progress)
    return f"{title}: {text}" if text else title


# The live line


def live_line(engine: EngineSnapshot, tick: Tick | None, width: int = READABLE_WIDTH) -> str:
    """Return the line that stands at the foot of `weir up`; drops the last pieces when narrow."""
    if not engine.is_serving:
        return fitted([state_text(engine)], width)
    tick = tick or Tick(at=0.0)
    pool = tick.pool_tokens if tick.pool_tokens is not None else engine.pool_tokens
    pieces = [
        words.pool_piece(percent_text(tick.pool_used_share), tokens_text(pool)),
        rate_text(tick.decode_tokens_per_s),
        words.requests_piece(count_text(tick.running), count_text(tick.waiting)),
        words.ttft_piece(latency_text(tick.ttft_s)),
    ]
    if tick.spill_bytes:
        pieces.insert(1, words.spill_piece(bytes_text(tick.spill_bytes)))
    return fitted(pieces, width)


def fitted(pieces: Sequence[str], width: int) -> str:
    """Return as many of `pieces` as fit, at least the first."""
    kept = pieces[0]
    for piece in pieces[1:]:
        longer = kept + _SEPARATOR + piece
        if len(longer) >= width:
            break
        kept = longer
    return kept


def count_text(count: int | None) -> str:
    """Return a count with thousands separators."""
    return UNKNOWN if count is None else f"{count:,}"


def state_text(engine: EngineSnapshot) -> str:
    """Return the engine's state in words, with the boot phase and the forecast."""
    pieces = [words.STATES[engine.state]]
    if engine.preset and engine.state is not EngineState.STOPPED:
        pieces[0] += f": {engine.preset}"
    if engine.adopted is not None:
        pieces[0] += f": {engine.adopted.name}"
        pieces.append(engine.adopted.url)
    if engine.state is EngineState.STARTING:
        pieces += _boot_pieces(engine)
    if engine.state is EngineState.READY and engine.boot_s is not None:
        temperature = boot_words.TEMPERATURE[engine.is_cold]
        time = duration_text(engine.boot_s)
        pieces.append(boot_words.BOOTED.format(temperature=temperature, time=time))
    if engine.restarts:
        pieces.append(words.restarts_piece(engine.restarts))
    return _SEPARATOR.join(pieces)


def _boot_pieces(engine: EngineSnapshot) -> list[str]:
    """Return what a boot does and how far it is; the service's own sentence, where it has one."""
    pieces = []
    if engine.note is not None:
        pieces.append(engine.note)
    elif engine.phase is not None:
        pieces.append(boot_words.PHASES[engine.phase])
    if engine.elapsed_s is not None:
        elapsed, expected = duration_text(engine.elapsed_s), duration_text(engine.expected_boot_s)
        is_known = engine.elapsed_s < (engine.expected_boot_s or 0.0)
        form = boot_words.FORECAST_PASSED if is_known else "{elapsed}"
        pieces.append(form.format(elapsed=elapsed, expected=expected))
    return pieces


# What `weir up` ends with


def up_summary(result: UpResult) -> str:
    """Return where clients connect, with the key when one was made, and snippets to paste."""
    boot = None if result.boot_s is None else duration_text(result.boot_s)
    head = (
        words.serves_already(result.preset)
        if result.already_running
        else words.serves(result.preset, boot)
    )
    pairs = [
        (words.LABEL_BASE_URL, result.base_url),
        (words.LABEL_API_KEY, result.api_key or words.KEY_KNOWN),
        *([("", words.KEY_SHOWN_ONCE)] if result.api_key else []),
        (words.LABEL_MODEL, result.served_name),
        (words.LABEL_POOL, tokens_text(result.pool_tokens)),
        (words.LABEL_RUNTIME, words.runtime_text(result.runtime, result.runtime_id[:_ID_SHOWN])),
        *badge_pairs(result.badges, result.preset, result.overrides, _VALUE_WIDTH),
    ]
    key = result.api_key or words.KEY_PLACEHOLDER
    said = [*result.notes, *(offer.text for offer in result.offers)]
    return "\n".join(
        [
            head,
            "",
            labelled(pairs),
            "",
            *(line for sentence in said for line in (*_folded(sentence), "")),
            words.WITH_CURL,
            "",
            curl_snippet(result.base_url, key, result.served_name),
            "",
            words.WITH_PYTHON,
            "",
            python_snippet(result.base_url, key, result.served_name),
            "",
        ]
    )


def _folded(sentence: str, width: int = READABLE_WIDTH) -> list[str]:
    return textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False)


def curl_snippet(base_url: str, key: str, model: str) -> str:
    """Return a shell command that streams one answer."""
    body = json.dumps(
        {
            "model": model,
            "stream": True,
            "messages": [{"role": "user", "content": words.SAMPLE_QUESTION}],
        },
        ensure_ascii=False,
    )
    return " \\\n  ".join(
        [
            f"curl -N {shlex.quote(base_url + '/chat/completions')}",
            f"-H {shlex.quote('Authorization: Bearer ' + key)}",
            "-H 'Content-Type: application/json'",
            f"-d {shlex.quote(body)}",
        ]
    )


def python_snippet(base_url: str, key: str, model: str) -> str:
    """Return a Python program that streams one answer with the openai client."""
    return "\n".join(
        [
            "from openai import OpenAI",
            "",
            "client = OpenAI(",
            f"    base_url={_literal(base_url)},",
            f"    api_key={_literal(key)},",
            ")",
            "stream = client.chat.completions.create(",
            f"    model={_literal(model)},",
            f'    messages=[{{"role": "user", "content": {_literal(words.SAMPLE_QUESTION)}}}],',
            "    stream=True,",
            ")",
            "for chunk in stream:",
            '    print(chunk.choices[0].delta.content or "", end="", flush=True)',
        ]
    )


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# weir status


def status_text(status: Status, now: float, more: Sequence[tuple[str, str]] = ()) -> str:
    """Return `weir status` for people; `more` stands below the engine's own lines."""
    engine, tick, gateway = status.engine, status.tick or Tick(at=now), status.gateway
    is_ready = engine.is_serving
    pairs = [(words.LABEL_ENGINE, state_text(engine))]
    if engine.error is not None:
        pairs.append((words.LABEL_ERROR, f"{engine.error.message} ({engine.error.code})"))
        if engine.state is EngineState.FAILED:
            pairs.append(("", words.SEE_FIX))
    elif engine.died_of is not None:
        pairs.append((words.LABEL_DEATH, _death_text(engine.died_of, engine.died_at)))
    pairs += _boot_pairs(engine)
    if engine.note is not None and engine.state is not EngineState.STARTING:
        pairs.append((words.LABEL_NOTE, engine.note))
    under_way = [one for one in status.stages if one.state is StageState.RUNNING]
    pairs += [(words.LABEL_STAGE, stage_line(one)) for one in under_way]
    pairs.append((words.LABEL_ADDRESS, gateway.base_url or words.GATEWAY_CLOSED))
    if is_ready:
        pairs += _ready_pairs(engine, tick, gateway.requests)
    pairs += more
    if engine.runtime and engine.runtime_id:
        text = words.runtime_text(engine.runtime, engine.runtime_id[:_ID_SHOWN])
        pairs.append((words.LABEL_RUNTIME, text))
    pairs += badge_pairs(engine.badges, engine.preset, engine.overrides, _VALUE_WIDTH)
    pairs += alarm_text.status_pairs(status.alarms)
    if tick.memory_bytes is not None:
        pairs.append(
            (
                words.LABEL_MEMORY,
                words.memory_text(
                    bytes_text(tick.engine_rss_bytes),
                    bytes_text(tick.memory_used_bytes),
                    bytes_text(tick.memory_bytes),
                ),
            )
        )
    pairs += card_pairs(status)
    pairs += download_pairs(status)
    pairs += traffic_pairs(status)
    service = status.service
    since = duration_text(max(0.0, now - service.started_at))
    pairs += [
        (words.LABEL_KEYS, words.keys_text(status.keys)),
        (words.LABEL_SERVICE, words.service_text(service.version, service.pid, since)),
        (words.LABEL_HOME, service.home),
    ]
    return labelled([*pairs, *service_text.news(status.autostart, status.sleep)])


def _boot_pairs(engine: EngineSnapshot) -> list[tuple[str, str]]:
    """Return what there is to say about the boot once it is over, and while it is tried again."""
    said = [(boot_words.LABEL_TRIES, sentence) for sentence in engine.tries]
    if engine.pool_note is not None:
        said.append((boot_words.LABEL_POOL_NOTE, engine.pool_note))
    said += [(boot_words.LABEL_OFFER, offer.text) for offer in engine.offers]
    width = READABLE_WIDTH - _LABEL_WIDTH - len(_GAP)
    return [(label, line) for label, sentence in said for line in _folded(sentence, width)]


def _ready_pairs(engine: EngineSnapshot, tick: Tick, requests: int) -> list[tuple[str, str]]:
    pool = tick.pool_tokens if tick.pool_tokens is not None else engine.pool_tokens
    share, total = percent_text(tick.pool_used_share), tokens_text(pool)
    speed = [
        words.decode_piece(rate_text(tick.decode_tokens_per_s)),
        words.prefill_piece(rate_text(tick.prefill_tokens_per_s)),
        words.ttft_piece(latency_text(tick.ttft_s)),
    ]
    asked = [
        words.requests_piece(count_text(tick.running), count_text(tick.waiting)),
        words.answered_piece(count_text(requests)),
    ]
    return [
        (words.LABEL_MODEL, engine.served_name or UNKNOWN),
        (words.LABEL_CONTEXT, words.context_text(tokens_text(engine.max_model_len))),
        (words.LABEL_POOL, words.of_total(share, total)),
        (words.LABEL_SPEED, _SEPARATOR.join(speed)),
        (words.LABEL_REQUESTS, _SEPARATOR.join(asked)),
    ]


# Tables


def labelled(pairs: Iterable[tuple[str, str]]) -> str:
    """Return lines of a label and a value; a label that repeats is shown once."""
    lines: list[str] = []
    last = None
    rows = list(pairs)
    width = max([_LABEL_WIDTH, *(cells_of(label) + 1 for label, _value in rows)])
    for label, value in rows:
        shown = "" if label == last else label
        lines.append(f"  {padded(shown, width)}{value}")
        last = label
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Return rows in columns; the last column is cut at `width` (None: never)."""
    sizes = [max(cells_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        line = _GAP.join(padded(cell, size) for cell, size in zip(row, sizes, strict=True)).rstrip()
        lines.append(line if width is None else cut(line, width))
    return "\n".join(lines)


def cells_of(text: str) -> int:
    """Return how many terminal columns `text` takes: two for each wide character."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 1 + (unicodedata.east_asian_width(one) in "WF")
        for one in text
    )


def padded(text: str, size: int) -> str:
    """Return `text` filled up to `size` terminal columns."""
    return text + " " * (size - cells_of(text))


def cut(text: str, width: int) -> str:
    """Return `text` in at most `width` terminal columns."""
    if cells_of(text) <= width:
        return text
    kept = text
    while cells_of(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…"


def verdict_text(preset: PresetInfo) -> str:
    """Return whether a preset fits this machine, what it still has to fetch, and its licence."""
    pieces = [words.FITS if preset.usable else words.FITS_NOT]
    if preset.usable and preset.download_bytes is not None:
        is_here = preset.download_bytes == 0
        amount = bytes_text(preset.download_bytes)
        pieces.append(words.NOTHING_TO_DOWNLOAD if is_here else words.to_download(amount))
    # Alone, "not known" would be about anything.
    is_known = preset.licence != words.LICENCE_NOT_KNOWN
    licence = preset.licence if is_known else words.LICENCE.format(licence=preset.licence)
    return _SEPARATOR.join([*pieces, licence])


def processes_text(processes: Sequence[ProcessInfo], now: float, width: int | None) -> str:
    """Return the Studio's processes, one a line."""
    rows = [words.PROCESS_HEADINGS]
    for one in processes:
        age = None if one.started_at is None else max(0.0, now - one.started_at)
        rows.append(
            (
                str(one.pid),
                str(one.parent),
                one.role,
                bytes_text(one.rss_bytes),
                duration_text(one.cpu_s),
                duration_text(age),
                one.command,
            )
        )
    return table(rows, width)


def _death_text(cause: str, at: float | None) -> str:
    if at is None:
        return cause
    moment = datetime.datetime.fromtimestamp(at, tz=datetime.UTC)
    return words.DEATH_AT.format(at=moment_text(moment.isoformat()), cause=cause)


def moment_text(iso: str) -> str:
    """Return an ISO 8601 moment in local time, to the minute; anything else as it is."""
    try:
        moment = datetime.datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
