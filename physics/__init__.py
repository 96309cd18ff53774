"""The physics core: numpy and numba; it knows nothing of ROS."""
