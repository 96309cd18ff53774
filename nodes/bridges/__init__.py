"""Nodes that connect joysticks, buses and controllers: one class for all kinds, and a program for each."""
