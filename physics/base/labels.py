"""Whose the rows of a room's state are, so that they find their place when machines come and go.

A room's `LABELS` is its `State` with one of these words for each array.
"""

from typing import Any

# The whole array goes over as it is, or begins anew.
WHOLE: Any = "whole"
ANEW: Any = "anew"
# A row of the array belongs to one of these.
POSITION: Any = "position"
RATE: Any = "coordinate rate"
LAW: Any = "joint law"
ROW: Any = "joint law or actuator"
SPRING: Any = "spring of a joint"
DRIVE: Any = "drive"
LINE: Any = "hydraulic line"
ACTUATOR: Any = "hydraulic actuator"
VALVE: Any = "valve"
PUMP: Any = "displacement pump"
WHEEL: Any = "wheel"
SHAPE: Any = "collision shape"
