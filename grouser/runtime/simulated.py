"""What nodes read and command a machine by."""

from grouser.physics.simulation.simulation import Simulation
from grouser.physics.simulation.view import Part

# A machine by itself, or one of several.
Simulated = Simulation | Part
