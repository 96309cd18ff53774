"""Recordings of a run, MCAP files: machine and world, events with their times, and hashes of the state."""
