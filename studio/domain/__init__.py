"""Values, errors, events and units: no input or output, no clock, no threads."""
