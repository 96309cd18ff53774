"""Chambers of a cylinder: compliance and stiffness of their oil, and the buffers at the ends of the stroke."""

import math

from grouser.physics.base.kernel import kernel
from grouser.physics.hydraulics.network import HydraulicNetwork


@kernel
def chamber_compliances(network: HydraulicNetwork, a, position):
    """Compliance of both lines of actuator a, V / beta and that of their walls [m3/Pa]."""
    line_a, line_b, area_a, area_b = network.line_a[a], network.line_b[a], network.area_a[a], network.area_b[a]
    softness = 1.0 / network.oil.bulk_modulus
    compliance_a = softness * network.volume[line_a] + network.compliance[line_a]
    compliance_b = softness * network.volume[line_b] + network.compliance[line_b]
    if network.stroke[a] < math.inf:
        softness += network.wall[a]
        compliance_a += softness * area_a * position
        compliance_b += softness * area_b * (network.stroke[a] - position)
    return compliance_a, compliance_b


@kernel
def oil_stiffness(network: HydraulicNetwork, a, position):
    """Stiffness of the closed lines along actuator a, beta (S_A^2 / V_A + S_B^2 / V_B) with stiff walls [N/m]."""
    compliance_a, compliance_b = chamber_compliances(network, a, position)
    area_a, area_b = network.area_a[a], network.area_b[a]
    return area_a * area_a / compliance_a + area_b * area_b / compliance_b


@kernel
def end_buffer(network: HydraulicNetwork, a, position):
    """Force [N], stiffness and damping of the end-of-stroke buffer at a position; 0 between the buffers."""
    length, stiffness, damping = network.buffer[a], network.buffer_stiffness[a], network.buffer_damping[a]
    if position < length:
        return stiffness * (length - position), stiffness, damping
    if length > 0.0 and position > network.stroke[a] - length:
        return stiffness * (network.stroke[a] - length - position), stiffness, damping
    return 0.0, 0.0, 0.0
