"""What `weir gateway` takes."""

from studio.cli.arguments import parse


def test_an_alias_takes_a_model_or_means_whatever_is_served() -> None:
    """`weir gateway alias gpt-4o`."""
    bare, named = (parse(["gateway", "alias", "gpt-4o", *rest]) for rest in ([], ["qwen"]))

    assert (bare.command, bare.name, bare.model) == ("gateway alias", "gpt-4o", None)
    assert named.model == "qwen"
    assert parse(["gateway"]).command == "gateway"
    assert parse(["gateway", "--json"]).json
    assert parse(["gateway", "listen", "0.0.0.0", "--expose"]).expose
    assert parse(["gateway", "listen", "--port", "18044"]).port == 18044
