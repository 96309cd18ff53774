"""Joysticks by Linux's event devices."""
