"""What a command of a drive means."""

POSITION, VELOCITY, EFFORT = range(3)
MODES = {"position": POSITION, "velocity": VELOCITY, "effort": EFFORT}
