"""Where a figure of a plan comes from, in words; several sources are joined to one text. Pure."""

from studio.ui.language import t, told

_JOINED = "; "


def source_words(source: str) -> str:
    """Return a source in the person's language; of several, each that is known.

    A source may have the mark that joins them inside: what is not known alone is tried with more.
    """
    pieces = source.split(_JOINED)
    words: list[str] = []
    while pieces:
        wholes = (_JOINED.join(pieces[:count]) for count in range(1, len(pieces) + 1))
        known = next((whole for whole in wholes if told(whole) != whole), pieces[0])
        words.append(told(known))
        del pieces[: known.count(_JOINED) + 1]
    first, *rest = words
    for one in rest:
        first = t("{one}; {next}").format(one=first, next=one)
    return first
