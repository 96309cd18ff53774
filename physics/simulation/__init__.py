"""A machine in a world, or several: stepped, commanded and read by name."""
