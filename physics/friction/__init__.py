"""Dry friction of joints: its laws, and sticking and sliding within a step."""
