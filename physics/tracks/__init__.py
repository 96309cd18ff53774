"""Tracks: belts of shoes that press on the ground and shear it."""
