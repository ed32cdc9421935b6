"""How one file comes over a line that breaks: its parts on disk, its requests, what went wrong."""
