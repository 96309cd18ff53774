"""Whether a simulator keeps to the ROS 2 interface of working machines; seen from outside only.

`standard` is the interface as tables; `discovery` finds the simulator, `client` hears, asks and commands it,
`description` reads from its URDF what the machine has, and the `checks_…` compare. They import nothing of our own
nodes: what both share would be right or wrong in both.
"""
