"""Trials of bridges: an hour of bus trouble on a clock of its own, and times from event to force."""
