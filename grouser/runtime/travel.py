"""Travel valves: commands that turn sprockets and wheels on hydraulic motors at wanted speeds."""

from collections.abc import Sequence

import numpy as np

from grouser.physics.simulation.view import MachineView
from grouser.runtime.vehicle import VehicleWheel

# Share of the error by which the command is corrected within a second [1/s].
_INTEGRAL = 4.0
# Greatest part of the correction in a command [-].
_CORRECTION = 0.5
# Fastest change of a command: from neutral to full [1/s].
_RAMP = 2.0


class TravelValves:
    """Commands of the valves that turn parts of a vehicle by hydraulic motors.

    The command is the wanted share of the joint's greatest speed, and an integral of the error of the mean speed of all
    joints on the valve. It changes by a ramp, so that the machine accelerates evenly.

    Args:
        wheels: parts of the vehicle; those without a valve are left out.
        simulation: of the machine.

    Attributes:
        valves: names of the valves.
    """

    def __init__(self, wheels: Sequence[VehicleWheel], simulation: MachineView) -> None:
        self.valves = tuple(dict.fromkeys(wheel.valve for wheel in wheels if wheel.valve))
        self._members = [
            [number for number, wheel in enumerate(wheels) if wheel.valve == valve] for valve in self.valves
        ]
        self._joints = [wheel.joint for wheel in wheels]
        self._sense = np.array([wheel.valve_sense for wheel in wheels])
        self._limit = np.array([wheel.speed_limit for wheel in wheels])
        self.rebind(simulation)
        self.reset()

    def rebind(self, simulation: MachineView) -> None:
        """Continues with the same machine in another simulation."""
        self._velocity = simulation.joint_velocity

    def reset(self) -> None:
        """Starts from neutral."""
        self._correction = np.zeros(len(self.valves))
        self._command = np.zeros(len(self.valves))

    def commands(self, speeds: np.ndarray, interval: float) -> dict[str, float]:
        """Commands for the next interval.

        Args:
            speeds: wanted, of the joints of all parts [rad/s].
            interval: until the next command [s].
        """
        for number, members in enumerate(self._members):
            limit, sense = self._limit[members], self._sense[members]
            wanted = float(np.mean(sense * speeds[members] / limit))
            measured = np.array([self._velocity[self._joints[member]] for member in members])
            error = wanted - float(np.mean(sense * measured / limit))
            most = interval * _RAMP
            if wanted == 0.0:
                self._correction[number] = 0.0
                target = 0.0
            else:
                present = self._correction[number] + interval * _INTEGRAL * error
                self._correction[number] = min(max(present, -_CORRECTION), _CORRECTION)
                target = min(max(wanted + self._correction[number], -1.0), 1.0)
            before = self._command[number]
            self._command[number] = before + min(max(target - before, -most), most)
        return dict(zip(self.valves, self._command.tolist(), strict=True))
