"""Flexible links."""
