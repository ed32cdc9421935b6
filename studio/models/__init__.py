"""Model folders: getting, preparing and finding them."""
