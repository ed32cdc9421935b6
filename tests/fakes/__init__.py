"""Stand-ins for what the tests cannot have: engines, cards, catalogues.

Nothing of the Studio is imported here: the fake engine must start fast.
"""
