"""What can be read of a simulation: measurements, reactions, balances of energy."""
