"""Sensors, one file for each."""
