"""Chat clients as text."""

import msgspec

from studio.cli import connect_text
from studio.domain.clients import (
    ClientInfo,
    ClientList,
    ClientState,
    Connected,
    ConnectPlan,
    Labelled,
    TryPiece,
    Undone,
)

ZED = ClientInfo(
    id="zed", title="Zed", summary="An editor.", is_found=True, can_write=True, path="/a/s.json",
    state=ClientState.CONNECTED, documented="https://zed.dev", versions="2026",
)  # fmt: skip
PLAN = ConnectPlan(
    client=ZED, base_url="http://127.0.0.1:1/v1", model="m", key_name="Zed", key_exists=False,
    path="/a/s.json", diff="+\x1b[2J", steps=("Do it.",),
    values=(Labelled(label="Key", value="k"),), notes=("Mind.",),
)  # fmt: skip


def test_a_list_says_what_is_connected_and_where() -> None:
    """Those found here first."""
    other = msgspec.structs.replace(ZED, id="b", is_found=False, path=None)
    text = connect_text.list_text(ClientList(clients=(ZED, other), notes=("Note.",)), 80)
    assert text.index("Found on this machine") < text.index("Others")
    assert "connected  /a/s.json" in text
    assert "by hand" in text
    assert "Note." in text


def test_a_plan_shows_the_difference_without_control_characters() -> None:
    """A hostile file could move the cursor."""
    text = connect_text.plan_text(PLAN, 80)
    assert "\x1b" not in text
    assert "`Zed`, made when it is written" in text
    assert "weir connect zed --write" in text
    written = msgspec.structs.replace(PLAN, is_written=True, diff="")
    assert "already says" in connect_text.plan_text(written, 80)
    by_hand = msgspec.structs.replace(PLAN, path=None)
    assert "--file PATH" in connect_text.plan_text(by_hand, 80)


def test_what_was_done_is_said_with_the_way_back() -> None:
    """And that the key goes on working."""
    done = Connected(
        plan=PLAN, path="/a", backup="/a.b", has_changed=True, key_id="k", key_was_made=True
    )
    text = connect_text.connected_text(done, 80)
    assert "/a.b" in text
    assert "--undo" in text
    undone = Undone(client="zed", path="/a", was_removed=True, key_name="Zed")
    assert "weir keys revoke" in connect_text.undone_text(undone)
    assert "132 tok/s" in connect_text.seen_text(TryPiece(ttft_s=0.2, tokens_per_s=132.4, tokens=4))
