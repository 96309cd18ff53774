"""Sensors: one file for each element, and the family of all."""
