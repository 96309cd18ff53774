"""Contacts of the machine with its world and with itself.

`collide.py` is the entry: the collision system, and contact detection in a step. `shapes.py` holds the shapes as
arrays, `laws.py` the contact laws of their materials, `pairs.py` the pairs that may touch. `ground.py` finds contacts
with the ground, which `terrain.py` describes: a plane or a height field. `narrow.py` has distances in closed form; for
other convex solids `convex.py` finds the direction of contact by their `separation.py`, and `manifold.py` the contact
points on the sides that face each other (`facing.py`). `contacts.py` is the list of contacts, and `slots.py` assigns
the slots that store their impulses.
"""
