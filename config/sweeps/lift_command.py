"""The goal of lift_command.yaml."""

HEIGHT = 0.25  # [m]
PRESSURE = 10e6  # of the supply [Pa]


def cost(record):
    """Distance to the height as a share of it, and a tenth of the peak of the pressure as a share of the supply's."""
    distance = abs(record["lift"][-1] - HEIGHT) / HEIGHT
    return distance + 0.1 * record["pressure.lift.piston_side"].max() / PRESSURE
