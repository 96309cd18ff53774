"""Limits, dry friction and drives along the coordinates of joints: their laws and rows."""
