"""Hydraulic elements: their rows of the table, their checks, and the circuit that they form."""
