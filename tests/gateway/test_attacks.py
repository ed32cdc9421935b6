"""What an attacker sends: each attack is one request, aimed at one defence."""

from studio.domain.selftest import Defence
from studio.gateway.attacks import MARK, Ground, Manner, attacks

GROUND = Ground(port=18020, key="sk-weir-abc", head_bytes=4096, head_count=20, body_bytes=1024)
ALL = attacks(GROUND)


def test_every_defence_is_attacked_and_no_attack_is_told_twice() -> None:
    """A code is what a report and a bug are named by."""
    codes = [attack.code for attack in ALL]

    assert len(codes) == len(set(codes))
    assert {attack.defence for attack in ALL} == set(Defence)
    assert len(ALL) > 100


def test_an_attack_names_itself_to_the_engine() -> None:
    """Attacks run side by side; what reaches the engine must be told apart."""
    for attack in ALL:
        is_named = f"{MARK}: {attack.code}\r\n".encode() in attack.sent.replace(b"\n", b"\r\n")
        is_bare = b"HTTP/1.1" not in attack.sent or f"{MARK}: {attack.code}".encode() in attack.sent
        assert is_named or is_bare, attack.code
        assert b"@CODE@" not in attack.sent


def test_attacks_without_a_key_are_the_ones_that_are_not_aimed_at_it() -> None:
    """At the open address no key is known: there an attack must fail before keys are looked at."""
    keyless = [attack for attack in ALL if not attack.needs_key]

    assert not {attack.defence for attack in keyless} & {Defence.TIME, Defence.BODY_SIZE}
    assert all(attack.manner is Manner.AT_ONCE for attack in keyless)


def test_smuggled_requests_hide_inside_the_outer_ones() -> None:
    """A variant without a second request inside proves nothing."""
    hiding = {"smuggle-cl-te", "smuggle-te-cl", "smuggle-te-te", "smuggle-cl-twice"}

    for attack in ALL:
        if attack.code in hiding:
            assert attack.sent.count(b"POST /v1/chat/completions HTTP/1.1") == 2
