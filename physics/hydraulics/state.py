"""State of the hydraulics."""

from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    """What a restart needs.

    Attributes:
        pressure: of each line of the hydraulic circuit [Pa, absolute], (lines,).
        piston: position of each cylinder's piston from its retracted end [m]; not used for motors.
        spool: position [-] and velocity [1/s] of each valve's spool, and its command behind the hysteresis [-],
            (valves, 3).
        swash: of each displacement pump [-].
        first_share: first sub-step of the circuit of each displacement pump with a control, as a share of the step,
            by the error of the last ones [-].
        account: energy account of each cylinder and motor since the start [J], (actuators, accounts).
        flow_element_loss: energy throttled by each flow element [J], (flow elements,).
        pump_work: work of each displacement pump on the oil [J], (pumps,).
        line_gain: energy stored in the oil of each line, its walls and its accumulator [J], (lines,).
        line_supply: energy from each line of constant pressure [J], (lines,).
        work: of each cylinder or motor on the machine [J].
    """

    pressure: np.ndarray
    piston: np.ndarray
    spool: np.ndarray
    swash: np.ndarray
    first_share: np.ndarray
    account: np.ndarray
    flow_element_loss: np.ndarray
    pump_work: np.ndarray
    line_gain: np.ndarray
    line_supply: np.ndarray
    work: np.ndarray
