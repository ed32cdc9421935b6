"""What to serve and on which host: reading presets and choosing one."""
