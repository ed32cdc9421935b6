"""The patch engine: an ordered series of unified diffs onto an installed package tree.

`parse` reads patches, `decide` says where each hunk fits (both pure), `apply` changes a folder and
can be killed at any instant, `digest` names the result. Fuzz is 0: every line of a hunk has to be
there; how far it has moved is reported.
"""
