"""Balance of hydraulic energy by name, from the accounts of a circuit."""

from collections.abc import Collection

import numpy as np

from grouser.physics.description.data.machine import Machine
from grouser.physics.hydraulics.actuator_geometry import (
    COMPRESSED,
    FRICTION_LOSS,
    OIL_WORK,
    PISTON_WORK,
    RETURNED,
    STOP_LOSS,
    SUPPLIED,
    THROTTLED,
    VISCOUS_LOSS,
)
from grouser.physics.hydraulics.network import HydraulicNetwork
from grouser.physics.hydraulics.prediction import IMPLICIT
from grouser.physics.integrators.context import State
from grouser.physics.readings.measurements import HydraulicBalance


def balance_hydraulics(
    machine: Machine,
    network: HydraulicNetwork,
    lines: Collection[str],
    elements: Collection[str],
    scheme: int,
    state: State,
) -> HydraulicBalance:
    """Balance of the oil's energy since the start.

    Args:
        machine: whose circuit it is.
        network: its arrays.
        lines: their names.
        elements: name of the element that each flow element belongs to.
        scheme: of the integration; the plain ones support cylinders only.
        state: with its accounts.
    """
    actuators = [
        *(cylinder.name for cylinder in machine.cylinders),
        *(motor.name for motor in machine.hydraulic_motors),
    ]
    pumps = [pump.name for pump in machine.pumps if pump.displacement is not None]
    account = state.hydraulics.account
    pump_work = _named(pumps, state.hydraulics.pump_work)
    supplied = _named(lines, state.hydraulics.line_supply)
    throttling, leakage = _losses(network, elements, {*actuators, *pumps}, state.hydraulics.flow_element_loss)
    compression = _named(lines, state.hydraulics.line_gain)
    if scheme != IMPLICIT:
        supplied = {"supply": float(account[:, SUPPLIED].sum()), "tank": -float(account[:, RETURNED].sum())}
        throttling = _named([valve or "" for valve in (c.valve for c in machine.cylinders)], account[:, THROTTLED])
        compression = _named(actuators, account[:, COMPRESSED])
    work = _named(actuators, account[:, OIL_WORK])
    coupling = float((account[:, OIL_WORK] - account[:, PISTON_WORK]).sum())
    friction = _named(actuators, account[:, [VISCOUS_LOSS, FRICTION_LOSS, STOP_LOSS]].sum(axis=1))
    given = sum(pump_work.values()) + sum(supplied.values())
    taken = sum(sum(part.values()) for part in (work, throttling, leakage, compression))
    return HydraulicBalance(
        pump_work, supplied, work, throttling, leakage, compression, friction, coupling, given - taken
    )


def _named(names: Collection[str], amounts: np.ndarray) -> dict[str, float]:
    """Sums by name, without zeros."""
    sums: dict[str, float] = {}
    for name, amount in zip(names, amounts.tolist(), strict=True):
        if amount != 0.0:
            sums[name] = sums.get(name, 0.0) + amount
    return sums


def _losses(
    network: HydraulicNetwork, elements: Collection[str], machines: Collection[str], losses: np.ndarray
) -> tuple[dict[str, float], dict[str, float]]:
    """Losses of the flow elements by component: throttling, and leakage past pistons, rotors and rods."""
    leaks = np.array([name in machines for name in elements], dtype=bool) & (network.gain == 0.0)
    return _named(elements, np.where(leaks, 0.0, losses)), _named(elements, np.where(leaks, losses, 0.0))
