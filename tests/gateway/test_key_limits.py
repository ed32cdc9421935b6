"""Limits: one spelling each, and no mistake that opens more than was meant."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.errors import BadInput
from studio.domain.keys import KeyLimits
from studio.gateway.dialects import Refusal
from studio.gateway.key_limits import Gate, checked, plain
from studio.gateway.routes import find, passing

NOW_S = datetime.datetime(2026, 11, 29, 12, 0, tzinfo=datetime.UTC).timestamp()


@pytest.mark.parametrize(
    ("limits", "part"),
    [
        (KeyLimits(requests_per_minute=0), "requests a minute"),
        (KeyLimits(requests_per_minute=10**6), "100,000"),
        (KeyLimits(tokens_per_day=-1), "tokens a day"),
        (KeyLimits(max_context=10**13), "context"),
        (KeyLimits(tokens_per_day=10, warn_tokens_per_day=11), "after the end"),
        (KeyLimits(models=()), "1 to 100 models"),
        (KeyLimits(models=("a\nb",)), "no name of a model"),
        (KeyLimits(routes=("embedings",)), "no route"),
        (KeyLimits(addresses=("192.168.1.5/24",)), "a host inside a network"),
        (KeyLimits(addresses=("example.com",)), "no address"),
        (KeyLimits(expires_at="soon"), "no moment"),
        (KeyLimits(expires_at="99999y"), "no moment"),
        (KeyLimits(expires_at="2026-11-28"), "over already"),
        (KeyLimits(expires_at="0001-01-01"), "0001"),
    ],
)
def test_a_limit_that_means_nothing_is_refused_with_what_would(limits: KeyLimits, part: str):
    """A typing mistake must never end in a key that may do everything."""
    with pytest.raises(BadInput, match=part) as caught:
        checked(limits, now_s=NOW_S)

    assert caught.value.code == "key-limit-invalid"
    assert caught.value.hint


def test_a_route_that_is_nearly_right_is_named():
    """People type from memory."""
    with pytest.raises(BadInput) as caught:
        checked(KeyLimits(routes=("embedings",)), now_s=NOW_S)

    assert "`embeddings`" in (caught.value.hint or "")


def test_each_limit_is_kept_in_one_spelling():
    """What is listed later is what was understood."""
    made = checked(
        KeyLimits(
            models=(" qwen ", "qwen"),
            routes=("/v1/embeddings", "openai"),
            addresses=("10.0.0.7", "fd00::/8"),
            expires_at="30d",
        ),
        now_s=NOW_S,
    )

    assert made.models == ("qwen",)
    assert made.routes == ("embeddings", "openai")
    assert made.addresses == ("10.0.0.7/32", "fd00::/8")
    assert datetime.datetime.fromisoformat(made.expires_at).timestamp() == NOW_S + 30 * 86_400
    assert checked(made, now_s=NOW_S) == made


@pytest.mark.parametrize(
    ("networks", "peer", "is_let_in"),
    [
        (("192.168.1.0/24",), "192.168.1.77", True),
        (("192.168.1.0/24",), "192.168.2.77", False),
        (("192.168.1.0/24",), "::ffff:192.168.1.77", True),
        (("fd00::/8",), "fd12::1%eth0", True),
        (("127.0.0.1",), "::1", False),
        (("127.0.0.1",), None, False),
        (("127.0.0.1",), "nonsense", False),
    ],
)
def test_a_key_works_only_from_its_networks(networks, peer, is_let_in):
    """A key that leaks is worth nothing elsewhere."""
    gate = Gate(checked(KeyLimits(addresses=networks), now_s=NOW_S))
    route = find("/v1/chat/completions")

    for _ in range(2):  # the second look is answered from memory
        if is_let_in:
            gate.check(route, peer)
        else:
            with pytest.raises(Refusal) as caught:
                gate.check(route, peer)
            assert (caught.value.status, caught.value.code) == (403, "key-address")


@pytest.mark.parametrize(
    ("routes", "open_paths"),
    [
        (("anthropic",), {"/v1/messages", "/v1/messages/count_tokens"}),
        (("messages",), {"/v1/messages", "/v1/messages/count_tokens"}),
        (("embeddings",), {"/v1/embeddings"}),
        (
            ("responses",),
            {"/v1/responses", "/v1/responses/{id}", "/v1/responses/{id}/cancel"},
        ),
        (("completions",), {"/v1/completions"}),
    ],
)
def test_a_key_reaches_its_routes_and_no_other(routes, open_paths):
    """`completions` is not the end of `chat/completions`."""
    gate = Gate(checked(KeyLimits(routes=routes), now_s=NOW_S))
    reached, codes = set(), set()
    for route in passing():
        try:
            gate.check(route, "127.0.0.1")
        except Refusal as refusal:
            codes.add(refusal.code)
        else:
            reached.add(route.name)

    assert reached == open_paths
    assert codes == {"key-route"}
    gate.check(find("/v1/models"), "127.0.0.1")  # clients look before they ask


def test_a_key_ends_at_its_moment():
    """Not a second later."""
    gate = Gate(checked(KeyLimits(expires_at="12h"), now_s=NOW_S))

    assert not gate.has_expired(NOW_S + 12 * 3600 - 1)
    assert gate.has_expired(NOW_S + 12 * 3600)
    assert not Gate(KeyLimits()).has_expired(1e12)


@given(st.ip_addresses())
def test_every_address_is_its_own_network_and_only_that(address):
    """Also IPv6 that carries IPv4."""
    gate = Gate(checked(KeyLimits(addresses=(str(plain(address)),)), now_s=NOW_S))

    gate.check(find("/v1/embeddings"), str(address))


@given(st.builds(KeyLimits, addresses=st.tuples(st.text()), expires_at=st.none() | st.text()))
def test_any_text_is_a_limit_or_an_error_of_ours(limits):
    """What is typed never ends in a traceback, nor in a limit that later cannot be read."""
    code = "key-limit-invalid"
    try:
        Gate(checked(limits, now_s=NOW_S))
    except BadInput as error:
        code = error.code

    assert code == "key-limit-invalid"
