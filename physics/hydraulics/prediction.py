"""Schemes that integrate the oil over a step, and what they predict of the actuators."""

import math
from typing import NamedTuple

import numpy as np

from grouser.physics.hydraulics.actuator_geometry import ActuatorGeometry

SPLIT, SEMI_IMPLICIT, IMPLICIT = range(3)
SCHEMES = {"split": SPLIT, "semi_implicit": SEMI_IMPLICIT, "implicit": IMPLICIT}
# Longest sub-step of the published schemes [s].
SUBSTEP = 1e-4
_MOST_SUBSTEPS = 1000
# A slower piston is at rest [m/s].
STILL = 1e-6
# Columns of the trace.
TRACE_TIME, TRACE_POSITION, TRACE_VELOCITY, TRACE_PISTON_PRESSURE, TRACE_ROD_PRESSURE, TRACE_SPOOL = range(6)


class Prediction(NamedTuple):
    """Prediction of each actuator by the sub-steps, shape (actuators,) unless stated otherwise.

    Attributes:
        velocity: of the piston at the end of the step [m/s].
        position: at the end of the step [m].
        impulse: of the pressures and of friction on the mechanism over the step, without holds and stops that still act
            at its end [N s].
        stuck: whether dry friction or the brake holds the piston at the end.
        hold: greatest force of dry friction and brake [N].
        flow: into the piston side and into the rod side, mean over the step [m3/s], (actuators, 2).
        supply_power: mean over the step [W].
        trace: end of each sub-step: time since the start of the step [s], position [m], velocity [m/s], pressures on
            the piston and rod side [Pa], spool [-]; (actuators, sub-steps, 6).
        trace_length: number of sub-steps taken.
    """

    velocity: np.ndarray
    position: np.ndarray
    impulse: np.ndarray
    stuck: np.ndarray
    hold: np.ndarray
    flow: np.ndarray
    supply_power: np.ndarray
    trace: np.ndarray
    trace_length: np.ndarray


def make_prediction(geometry: ActuatorGeometry, step: float) -> Prediction:
    """Buffers for steps of this length [s]."""
    actuators = len(geometry.valve)
    most = min(max(10 * math.ceil(step / SUBSTEP), 10), _MOST_SUBSTEPS)
    return Prediction(
        np.zeros(actuators),
        np.zeros(actuators),
        np.zeros(actuators),
        np.zeros(actuators, dtype=np.bool_),
        np.zeros(actuators),
        np.zeros((actuators, 2)),
        np.zeros(actuators),
        np.zeros((actuators, most, 6)),
        np.zeros(actuators, dtype=np.int64),
    )
