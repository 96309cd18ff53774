"""Labels of a state's arrays: what each row belongs to, so that `transfer_state` can move it.

A room's `LABELS` is its `State` with one of these words for each array.
"""

from typing import Any

# The whole array is copied, or starts anew.
WHOLE: Any = "whole"
ANEW: Any = "anew"
# Each row of the array belongs to one of these.
POSITION: Any = "position"
RATE: Any = "coordinate rate"
LAW: Any = "joint law"
ROW: Any = "joint law, actuator or shovel's way"
SPRING: Any = "spring of a joint"
DRIVE: Any = "drive"
LINE: Any = "hydraulic line"
ACTUATOR: Any = "hydraulic actuator"
VALVE: Any = "valve"
PUMP: Any = "displacement pump"
WHEEL: Any = "wheel"
SHAPE: Any = "collision shape"
TRACK: Any = "track"
SHOVEL: Any = "shovel"
PAD: Any = "half of a shoe of a track"
