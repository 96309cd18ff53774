"""Where the machine touches its world and itself.

`collide.py` is the entry: what may touch, and how contacts are found in a step. `shapes.py` holds the shapes as arrays,
`laws.py` how their surfaces touch, `pairs.py` which of them may touch each other. `ground.py` finds contacts with the
ground, which `terrain.py` describes: a plane or a height field. `narrow.py` has distances in closed form; for other
convex solids `convex.py` finds the direction in which they touch, and `manifold.py` the points. `contacts.py` lists
what was found, and `slots.py` says where each contact's impulse is remembered.
"""
