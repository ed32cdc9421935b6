"""The address that chat clients talk to: keys, routes, streams, usage."""
