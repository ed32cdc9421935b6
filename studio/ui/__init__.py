"""The Qt window: presents, decides nothing."""
