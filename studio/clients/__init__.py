"""Chat clients' own configuration: where it lies, what it says, how it is changed and undone."""
