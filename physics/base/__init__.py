"""What all rooms are built on: compiled functions, packed trees, rotations and spatial vectors, errors."""
