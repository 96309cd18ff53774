"""What nodes read and command a machine by."""

from grouser.physics.part import Part
from grouser.physics.simulation import Simulation

# A machine by itself, or one of several.
Simulated = Simulation | Part
