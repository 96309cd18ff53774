"""Readings of a simulation: measurements, reactions, balances of energy."""
