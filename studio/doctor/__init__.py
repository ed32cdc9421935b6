"""What a host is good for: its facts against what runtimes need, in words. Pure throughout.

An unknown fact never counts against a host; it is shown as unknown.
"""
