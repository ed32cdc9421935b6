"""What is on screen, as plain records: every text, colour role, enabledness and tooltip.

Pure functions of `studio.ui.state` and the domain; no Qt, no clock, no input or output.
"""
