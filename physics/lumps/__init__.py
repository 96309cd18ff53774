"""Lumps: soil that is cut becomes grains, and soil again where they rest."""
