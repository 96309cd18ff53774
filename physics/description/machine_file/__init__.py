"""From a URDF or xacro file to a machine, and from machines to a fleet."""
