"""What nodes read and command a machine by: a machine by itself, or one of several."""

from grouser.physics.simulation.view import MachineView as Simulated

__all__ = ["Simulated"]
