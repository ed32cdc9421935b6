"""The engine as the gateway sees it."""

from studio.gateway.engine import EngineTarget
from studio.host.http_client import Upstream


def test_an_engine_without_a_key_is_asked_without_one():
    """One that somebody else started may have none."""
    upstream = Upstream(port=1)

    assert EngineTarget(upstream=upstream, key=None, served_name="m").authorization == []
    assert EngineTarget(upstream=upstream, key="k", served_name="m").authorization == [
        (b"authorization", b"Bearer k")
    ]


def test_a_template_that_wants_one_system_message_is_known_by_its_words():
    """The doctor tells whose reminders are moved; of an unknown template it tells nothing."""

    def target(template):
        return EngineTarget(upstream=Upstream(port=1), key=None, served_name="m", template=template)

    assert target("{{ raise('System message must be at the beginning.') }}").wants_system_first
    assert not target("{{ messages }}").wants_system_first
    assert not target(None).wants_system_first
