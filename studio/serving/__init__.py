"""One engine from Start to Stop: command, life cycle, boot phases, logs."""
