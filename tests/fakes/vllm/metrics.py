"""`/metrics` of the fake engine: the recorded text of the real one, with live numbers in it."""

import bisect
import re
from collections.abc import Iterator

from tests.fakes.vllm.log import ENGINE
from tests.fakes.vllm.settings import BLOCK_TOKENS, Settings

_TEMPLATE = ENGINE / "metrics" / "dummy-idle.txt"
_LE = re.compile(r'le="([^"]+)"')
_REASON = re.compile(r'finished_reason="(\w+)"')


class Histogram:
    """A histogram with the recorded buckets."""

    def __init__(self, bounds: list[float]) -> None:
        self._bounds = sorted(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self.total = 0.0
        self.count = 0

    def observe(self, value: float) -> None:
        """Count one value."""
        self._counts[bisect.bisect_left(self._bounds, value)] += 1
        self.total += value
        self.count += 1

    def at_most(self, bound: float) -> int:
        """Return how many values were at most `bound`."""
        return sum(self._counts[: bisect.bisect_right(self._bounds, bound)])


class Metrics:
    """What the fake engine counts."""

    def __init__(self, settings: Settings) -> None:
        self.running = 0
        self.waiting = 0
        self.resident_tokens = 0
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.generated_tokens = 0
        self.finished: dict[str, int] = {}
        self._settings = settings
        self._lines = _TEMPLATE.read_text(encoding="utf-8").splitlines()
        self._histograms = {
            f"vllm:{name}": Histogram(list(self._bounds(f"vllm:{name}_bucket{{")))
            for name in (
                "time_to_first_token_seconds",
                "inter_token_latency_seconds",
                "e2e_request_latency_seconds",
                "request_prompt_tokens",
                "request_generation_tokens",
            )
        }

    def observe(self, name: str, value: float) -> None:
        """Count a value in the histogram `name`, without its prefix."""
        self._histograms[f"vllm:{name}"].observe(value)

    @property
    def used_share(self) -> float:
        """Return how full the pool is, 0 to 1."""
        return self.resident_tokens / self._settings.pool_tokens

    def text(self) -> str:
        """Return the whole text."""
        named = f'model_name="{self._settings.served_names[0]}"'
        lines = []
        for line in self._lines:
            if line.startswith("vllm:"):
                head, _, value = line.rpartition(" ")
                head = re.sub(r'model_name="[^"]*"', named, head)
                line = f"{self._config(head)} {self._value(head, value)}"
            lines.append(line)
        return "\n".join(lines) + "\n"

    def _bounds(self, begin: str) -> Iterator[float]:
        for line in self._lines:
            if line.startswith(begin) and (match := _LE.search(line)):
                yield float(match[1])

    def _value(self, head: str, recorded: str) -> str:
        name = head.partition("{")[0]
        if name == "vllm:request_success_total":
            reason = _REASON.search(head)
            return f"{float(self.finished.get(reason[1] if reason else '', 0))}"
        numbers: dict[str, float] = {
            "vllm:num_requests_running": self.running,
            "vllm:num_requests_waiting": self.waiting,
            "vllm:kv_cache_usage_perc": self.used_share,
            "vllm:prompt_tokens_total": self.prompt_tokens,
            "vllm:prompt_tokens_cached_total": self.cached_tokens,
            "vllm:prefix_cache_queries_total": self.prompt_tokens,
            "vllm:prefix_cache_hits_total": self.cached_tokens,
            "vllm:generation_tokens_total": self.generated_tokens,
        }
        if name in numbers:
            return f"{float(numbers[name])}"
        family, _, part = name.rpartition("_")
        histogram = self._histograms.get(family)
        if histogram is None or part == "created":
            return recorded
        if part == "bucket" and (bound := _LE.search(head)):
            return f"{float(histogram.at_most(float(bound[1])))}"
        return f"{histogram.total if part == 'sum' else float(histogram.count)}"

    def _config(self, head: str) -> str:
        if not head.startswith("vllm:cache_config_info{"):
            return head
        pool = self._settings.pool_tokens
        for name, value in (
            ("num_gpu_blocks", pool // BLOCK_TOKENS),
            ("kv_cache_size_tokens", pool),
            ("kv_cache_max_concurrency", pool / self._settings.max_model_len),
            ("kv_cache_memory_bytes", self._settings.kv_bytes),
        ):
            head = re.sub(rf'\b{name}="[^"]*"', f'{name}="{value}"', head)
        return head
