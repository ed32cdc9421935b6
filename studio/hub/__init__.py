"""Models from hubs: what a repository holds, and its files, whole and proven."""
