"""Variables in a file changed in place."""

from studio.clients import env_text
from tests.clients.samples import DATA


def test_env_keeps_comments_order_and_quotes() -> None:
    """And an empty value in quotes is one that is set."""
    old = (DATA / "open-webui.env").read_text(encoding="utf-8")

    new = env_text.changed(old, ("OPENAI_API_KEY",), "sk-1")
    new = env_text.changed(new, ("OTHER",), "a b")

    assert new == old.replace("OPENAI_API_KEY=''", "OPENAI_API_KEY=sk-1") + 'OTHER="a b"\n'
