"""The operating system: files, processes, sockets, downloads, probes."""
