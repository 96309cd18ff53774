"""Dynamics of the tree of bodies in generalised coordinates.

After Featherstone, Rigid Body Dynamics Algorithms (2008). Everything is expressed in world axes about one inertial
point, the *origin*: the current origin of the first body's frame if that body floats, the world's origin otherwise.
Inertias then add to their parents without any transformation, and no digits are lost far from the world's origin.
"""
