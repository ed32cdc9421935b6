"""Sentences of `weir disk`. Those with braces are filled with `format`."""

ABOUT = "Show what the Studio takes of its disk: runtimes, models, caches, records."
HEADINGS = ("WHAT", "SIZE", "FILES")
OTHERS = "Everything else on this disk"
FREE = "Free"
WHOLE = "The disk"
OWN = "All of the Studio"
PLACE = "In {home}; models in other folders are not counted."
WAYS = "`weir runtime gc` removes what no runtime uses any more."
