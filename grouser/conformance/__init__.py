"""Checks of a simulator against the ROS 2 interface of working machines, from outside only.

`standard` is the interface as tables; `discovery` finds the simulator, `client` subscribes, requests and commands,
`description` reads the parts of the machine from its URDF, and the `checks_…` compare. They import nothing from
grouser's nodes: an error in shared code would not be found.
"""
