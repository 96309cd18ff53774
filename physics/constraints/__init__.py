"""Constraint rows and the sequential-impulse solver.

After Catto, Iterative Dynamics with Temporal Coherence (2005), Guendelman et al. (2003), and Strashnov and Mironenko
(2023) for the piston as one constraint among all.
"""
