"""Text without secrets and without what people wrote to a model. Pure.

For lines of logs, at a hundred thousand a second: each rule is tried only where one of its words
stands. What is known of one machine (names, folders, addresses) is the business of
`studio.host.redact`, which stands on this.
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

MASK = "***"

Replace = str | Callable[["re.Match[str]"], str]


class Rule(NamedTuple):
    """A pattern, and the words of which one has to stand in the text, in lower case."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    replacement: Replace


_TOKEN = r"(?:[ =:+]|%20)+['\"]?[A-Za-z0-9._~+/=%-]{6,}"
_VALUE = (
    r"\\\"(?:(?!\\\")[^\n]){0,4096}\\\"|\[[^\]\n]{0,4096}\]|\"(?:[^\"\\\n]|\\.){0,4096}\""
    r"|'(?:[^'\\\n]|\\.){0,4096}'|[^\s'\",;&}\])]+"
)
"""Bounded: a line that somebody else wrote must not cost more than its length."""
_NAME = (
    r"(?:api[_-]?keys?|access[_-]?key(?:[_-]id)?|secret[_-]?key|private[_-]?key|signing[_-]?key"
    r"|encryption[_-]?key|token|secret|passw(?:or)?d|passphrase|credentials?|proxy[_-]auth)"
)
_NOT_SECRET = re.compile(
    r"(?:none|null|true|false|\d{1,9}(?:\.\d+)?|\*\*\*|\[\s*\]|)", re.IGNORECASE
)
_DEMAND = re.compile(r"\$\{\w{1,64}:\?[^}]*\}?")
_OPENED = re.compile(r"\$\{\w*\Z")
_LONGEST_NAME = 64
_PARAMETER = re.compile(
    r"\b(n|max_tokens|min_tokens|temperature|top_p|top_k|min_p|seed|presence_penalty|logprobs"
    r"|frequency_penalty|repetition_penalty|prompt_logprobs|ignore_eos|stream_interval)"
    r"=(-?\d+(?:\.\d+)?|None|True|False)\b"
)
"""Sampling parameters that hold no words of a person's; `stop` and schemas do."""
_SAMPLED = re.compile(r"(?:\w+=[\w.-]+(?:, |$))+")


def _named(match: "re.Match[str]") -> str:
    name, value = match[1], match[2]
    if _is_demand(match):
        return match[0]
    plain = value.strip("\\\"'")
    is_word = name.lower().startswith(("passw", "passphrase", "secret"))
    if _NOT_SECRET.fullmatch(plain) and not (is_word and plain.isdecimal()):
        return match[0]
    quote = next((one for one in ('\\"', '"', "'") if _is_in(value, one)), "")
    return f"{name}{quote}{MASK}{quote}"


def _variable(match: "re.Match[str]") -> str:
    return match[0] if _is_demand(match) else f"{match[1]}{MASK}"


def _is_demand(match: "re.Match[str]") -> bool:
    """Tell whether this is the shell's `${NAME:?words}`: what it says when the value is missing."""
    if _DEMAND.fullmatch(match[2].strip("\\\"'")):
        return True
    before = match.string[max(0, match.start() - _LONGEST_NAME) : match.start()]
    is_open = _OPENED.search(before) is not None
    return is_open and match[1].endswith(":") and match[2].startswith("?")


def _is_in(value: str, quote: str) -> bool:
    return len(value) >= 2 * len(quote) and value.startswith(quote) and value.endswith(quote)


def _basic(match: "re.Match[str]") -> str:
    """Mask what decodes to `user:password`; "Basic authentication" are words."""
    return f"{match[1]}{MASK}" if holds_login(match[2]) else match[0]


def holds_login(text: str) -> bool:
    """Tell whether `text` is the base64 of something like `user:password`."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        plain = raw.decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    return ":" in plain and plain.isprintable()


def _request(match: "re.Match[str]") -> str:
    """Keep whose request it is and how it is sampled; drop what was said."""
    kind, rest = match[2], match[3]
    if rest.startswith(MASK) or (kind == "params" and _SAMPLED.fullmatch(rest)):
        return match[0]  # it was redacted before
    if kind == "output":
        ended = re.search(r", finish_reason: (\w+)\W*$", rest)
        reason = f", finish_reason: {ended[1]}" if ended else ""
        return f"{match[1]}output: {MASK}{reason}"
    shown = f"prompt: {MASK}" if kind == "prompt" else ""
    at = 0 if kind == "params" else rest.rfind("params: SamplingParams(")
    if at < 0:
        return match[1] + shown
    known: dict[str, str] = {}
    for name, value in _PARAMETER.findall(rest, at):
        known.setdefault(name, value)
    values = ", ".join(f"{name}={value}" for name, value in known.items())
    return f"{match[1]}{shown}{', ' if shown else ''}params: {values or MASK}"


_QUERY = Rule(
    ("token=", "key=", "sig=", "signature=", "password=", "secret=", "auth=", "credential="),
    re.compile(
        r"([?&;][\w.-]{0,80}(?:token|key|sig|signature|password|secret|auth|credential)=)"
        r"[^&\s#'\"<>]+",
        re.IGNORECASE,
    ),
    rf"\1{MASK}",
)
_OPTION = Rule(
    ("--",),
    re.compile(
        r"(--(?:api-key|[\w-]{0,40}token|password|secret)['\"]?[=, ]+['\"]?)(?!-)[^\s'\",]+"
    ),
    rf"\1{MASK}",
)
_VARIABLE = Rule(
    ("vllm_api_key", "hf_token"),
    re.compile(r"((?:VLLM_API_KEY|HF_TOKEN)['\"]?[=: ]+['\"]?)([^\s'\",]+)"),
    _variable,
)
_NAMED = Rule((), re.compile(rf"({_NAME}\\?['\"]?\s*[:=]\s*)({_VALUE})", re.IGNORECASE), _named)
_NAMED_TOKEN = Rule(
    ("_token", "-token", "token=", "token:", 'token"', "token'", "token\\"),
    _NAMED.pattern,
    _NAMED.replacement,
)
_REQUEST = Rule(
    ("received request ", "generated response ", "details: prompt"),
    re.compile(
        r"((?:Received request|Generated response|Request) \S+?(?: \(streaming \w+\))?"
        r"(?:: | details: ))(prompt|params|output): ?(.*)"
    ),
    _request,
)
_TOKEN_IDS = Rule(
    ("prompt_token_ids", "output_token_ids"),
    re.compile(r"((?:prompt|output)_token_ids['\"]?[=:] ?)[\[(][\d, ]*[\])]?"),
    rf"\1{MASK}",
)
_SAID = Rule(
    ("input_value=",),
    re.compile(r"input_value=(?!ArgsKwargs).*?(?=, input_type=|$)", re.MULTILINE),
    f"input_value={MASK}",
)

# Looking for a word costs 30 µs per 64 KiB, so there are few, and the rules of each look closer. A
# pattern that begins with plain text is searched for ten times faster, hence the looks back.
_RULES: dict[str, tuple[Rule, ...]] = {
    "received r": (_REQUEST,),
    "generated r": (_REQUEST,),
    "prompt": (_REQUEST, _TOKEN_IDS),
    "input_v": (_SAID,),
    "sk-": (Rule((), re.compile(r"sk-(?<!\wsk-)[A-Za-z0-9][\w-]{5,}"), MASK),),
    "hf_": (Rule((), re.compile(r"hf_(?<!\whf_)[A-Za-z0-9]{8,}"), MASK),),
    "bearer": (Rule((), re.compile(rf"\b(bearer){_TOKEN}", re.IGNORECASE), rf"\1 {MASK}"),),
    "basic": (
        Rule((), re.compile(r"\b(basic(?: |%20)+)([\w+/-]{6,}={0,2})", re.IGNORECASE), _basic),
    ),
    "@": (
        Rule(
            ("://",),
            re.compile(r"://[^\s/?#'\"<>@:]{0,256}(?::[^\s'\"<>]{0,512})?@"),
            f"://{MASK}@",
        ),
    ),
    "%40": (
        Rule(
            ("%3a",),
            re.compile(r"(%3a%2f%2f)(?:(?!%2f)[^\s&'\"<>]){0,512}%40", re.IGNORECASE),
            rf"\1{MASK}%40",
        ),
    ),
    "token": (_TOKEN_IDS, _QUERY, _OPTION, _VARIABLE, _NAMED_TOKEN),
    "key": (
        _QUERY,
        _OPTION,
        _VARIABLE,
        Rule(
            ("api_key", "api-key", "apikey", "access", "secret", "private", "signing", "encrypt"),
            _NAMED.pattern,
            _NAMED.replacement,
        ),
    ),
    "sig": (_QUERY,),
    "auth": (_QUERY, Rule(("proxy_auth", "proxy-auth"), _NAMED.pattern, _NAMED.replacement)),
    "secret": (_QUERY, _OPTION, _NAMED),
    "pass": (
        _QUERY,
        _OPTION,
        Rule(("passw", "passphrase"), _NAMED.pattern, _NAMED.replacement),
    ),
    "credential": (_QUERY, _NAMED),
}


def redact(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return `text` with `secrets`, all that looks like a key, and prompts replaced by `***`."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, MASK)
    lowered = text.lower()
    for word, rules in _RULES.items():
        if word in lowered:
            for rule in rules:
                if not rule.words or any(one in lowered for one in rule.words):
                    text = rule.pattern.sub(rule.replacement, text)
    return text
