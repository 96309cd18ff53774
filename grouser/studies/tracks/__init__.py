"""Tracks by their equations: vehicles that turn by their tracks, and rows of shoes that pull on soil."""
