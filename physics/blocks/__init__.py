"""Deformable blocks: convex polyhedra that move, turn and deform by modes, bonded at their faces or free.

After the modal discrete elements of Jin, Zhang, Hu and Wang (2011), whose text was not seen; the equations are in
docs/blocks.md.
"""
