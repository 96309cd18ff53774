"""The open flow elements of a part at the start of a sub-step: their flows, and how these follow the pressures."""

from typing import NamedTuple

import numpy as np

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.faults import Faults
from grouser.physics.hydraulics.flows import flow_with_linear_range, opening, turbulent_flow
from grouser.physics.hydraulics.network import HydraulicNetwork


class OpenElements(NamedTuple):
    """Flow elements that are open, one after the other, so that the flows of several are found at once.

    Attributes:
        number: how many are open, (1,).
        element: number of each.
        share, follows: opening of each [-], and whether it varies with the pilot pressures.
        gain, transition, drop: of each, as in the network; pressure drop [Pa].
        flow, slope, pilot_slope: of each, and its derivatives by pressure drop and by opening.
    """

    number: np.ndarray
    element: np.ndarray
    share: np.ndarray
    follows: np.ndarray
    gain: np.ndarray
    transition: np.ndarray
    drop: np.ndarray
    flow: np.ndarray
    slope: np.ndarray
    pilot_slope: np.ndarray


def make_open_elements(flow_elements: int) -> OpenElements:
    """Buffers for all flow elements of a network."""
    return OpenElements(
        number=np.zeros(1, dtype=np.uintp),
        element=np.zeros(flow_elements, dtype=np.uintp),
        share=np.zeros(flow_elements),
        follows=np.zeros(flow_elements, dtype=np.bool_),
        gain=np.zeros(flow_elements),
        transition=np.zeros(flow_elements),
        drop=np.zeros(flow_elements),
        flow=np.zeros(flow_elements),
        slope=np.zeros(flow_elements),
        pilot_slope=np.zeros(flow_elements),
    )


@kernel
def measure_open_elements(
    network: HydraulicNetwork, first, last, pressure, position, spool, faults: Faults, found: OpenElements
):
    """Finds the open ones of the flow elements `first` to `last` of `part_flow_element`.

    Args:
        network: the circuits.
        first, last: places in `part_flow_element`.
        pressure: of the lines [Pa].
        position: of the actuators [m or rad].
        spool: position of each spool [-].
        faults: of the components.
        found: result.
    """
    _list_open_elements(network, first, last, pressure, position, spool, faults, found)
    _find_turbulent_flows(found.number[0], found.gain, found.transition, found.drop, found.flow, found.slope)
    _find_flows_with_linear_range(network, found)
    for i in range(found.number[0]):
        laminar, share = network.laminar[found.element[i]], found.share[i]
        flow = found.flow[i] + laminar * found.drop[i]
        found.flow[i], found.slope[i] = share * flow, share * (found.slope[i] + laminar)
        found.pilot_slope[i] = flow if found.follows[i] else 0.0


@kernel
def _list_open_elements(
    network: HydraulicNetwork, first, last, pressure, position, spool, faults: Faults, found: OpenElements
):
    """Lists the open flow elements with what their flows follow from."""
    count = np.uintp(0)
    for k in range(np.uintp(first), np.uintp(last)):
        e = np.uintp(network.part_flow_element[k])
        share, follows = opening(network, e, pressure, spool, position, faults)
        if share <= 0.0:
            continue
        found.element[count], found.share[count], found.follows[count] = e, share, follows
        found.gain[count], found.transition[count] = network.gain[e], network.transition[e]
        found.drop[count] = pressure[np.uintp(network.origin[e])] - pressure[np.uintp(network.end[e])]
        count += np.uintp(1)
    found.number[0] = count


@kernel
def _find_turbulent_flows(count, gain, transition, drop, flow, slope):
    """`turbulent_flow` of each; a loop without branches, which the compiler turns into vectors."""
    for i in range(count):
        flow[i], slope[i] = turbulent_flow(gain[i], transition[i], drop[i])


@kernel
def _find_flows_with_linear_range(network: HydraulicNetwork, found: OpenElements):
    """Flows of the elements whose law is another one."""
    for i in range(found.number[0]):
        if network.linear[found.element[i]]:
            found.flow[i], found.slope[i] = flow_with_linear_range(found.gain[i], found.transition[i], found.drop[i])
