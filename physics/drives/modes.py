"""Control modes of drives."""

POSITION, VELOCITY, EFFORT = range(3)
MODES = {"position": POSITION, "velocity": VELOCITY, "effort": EFFORT}
