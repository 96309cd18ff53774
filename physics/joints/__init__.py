"""What acts along the coordinates of joints: their laws, and their rows."""
