"""Granular media: spheres by the discrete element method, and the boundaries that they touch."""
