"""The real-time runtime without ROS: the physics thread, who commands it, what is sampled from it, and when."""
