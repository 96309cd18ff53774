"""URDF: links, joints, shapes, masses, the kinematic tree and its initial placement."""
