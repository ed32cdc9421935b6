"""What rules find, in words."""

from studio.domain.rules import Finding


def test_a_finding_names_the_way_out_where_there_is_one() -> None:
    """Half of a sentence sends a person searching."""
    assert Finding(name="a", sentence="No.").in_words == "No."
    assert Finding(name="a", sentence="No.", hint="Set `x=1`.").in_words == "No. Set `x=1`."
