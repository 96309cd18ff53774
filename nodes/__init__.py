"""ROS 2 nodes: each converts messages, calls the simulation and converts back."""
