"""URDF: links, joints, shapes and masses, the tree that they form, and where it stands at the start."""
