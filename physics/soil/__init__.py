"""Soft ground: what it is made of, how it carries wheels, and what they leave of it."""
