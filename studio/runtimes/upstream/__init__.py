"""Another project's repository at one commit, had without trusting whoever hands it over.

Everything stands on git's own naming: an object is named by the digest of its content, a commit
names its tree, a tree its files. Whoever knows the commit can check every byte below it.
"""
