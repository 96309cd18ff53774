"""Recordings of a run, MCAP files: what was simulated, what was done to it and when, and what its state was."""
