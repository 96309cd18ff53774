"""What all rooms stand on: compiled functions, packed trees, rotations and spatial vectors, errors."""
