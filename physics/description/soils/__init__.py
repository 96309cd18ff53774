"""Soils: presets from the literature, soils with given parameters, and checks of the parameters."""
