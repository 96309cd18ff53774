"""Dynamics of the tree of bodies in generalised coordinates.

After Featherstone, Rigid Body Dynamics Algorithms (2008). Everything is expressed in world axes about one inertial
point, the *origin*: where the first body's frame is at that instant if it floats, the world's origin otherwise.
Inertias then add to their parents without any transformation, and digits are kept however far the machine has
travelled.
"""
