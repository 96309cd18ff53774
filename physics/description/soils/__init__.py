"""Soils: presets from the literature, soils by their numbers, and what the numbers must satisfy."""
