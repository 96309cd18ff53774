"""Nodes for navigation: the map of a world, and a follower of goals."""
