"""Dry friction laws."""
