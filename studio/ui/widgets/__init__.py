"""What pages are put together from; each is told what to show, none asks."""
