"""What `weir status` says about caches and about keys whose prompts are kept."""

from studio.cli import cache_words, prompt_words
from studio.domain.control import Status


def traffic_pairs(status: Status) -> list[tuple[str, str]]:
    """Return labels and values; none where there is nothing to say."""
    pairs = []
    if status.cache_findings:
        pairs.append((cache_words.LABEL_STATUS, cache_words.status(status.cache_findings)))
    for kept in status.prompt_logs:
        until = (kept.until or "")[:16].replace("T", " ")
        pairs.append((prompt_words.LABEL, prompt_words.KEPT_ROW.format(key=kept.key, until=until)))
    return pairs
