"""Faults of hydraulic components as parameters of a node: `faults.<component>.<fault>`, 0 or false when healthy."""

from collections.abc import Mapping, Sequence
from functools import partial

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.shared.parameters import Declaration
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.machine import Machine
from grouser.physics.hydraulics.faults import Fault, machine_faults
from grouser.physics.simulation.faults import check_fault

FaultValues = Mapping[tuple[str, str], bool | float]


class FaultParameters:
    """Declares a parameter for each fault that a machine can have, and reads them.

    Args:
        endpoints: of the robot; its namespace comes before the parameters' names.
        machine: whose components may fail.
        scheme: of the hydraulics; faults that it does not support are refused.

    Raises:
        GrouserError: a parameter has the wrong type, is out of its range or is not supported by the scheme.
    """

    def __init__(self, endpoints: Endpoints, machine: Machine, scheme: str):
        self._node, self._scheme = endpoints.node, scheme
        faults = {fault.full_name: fault for fault in machine_faults(machine)}
        self._faults = {endpoints.parameter(name): fault for name, fault in faults.items()}
        self._node.add_on_set_parameters_callback(self._refuse)
        endpoints.at_end(partial(self._node.remove_on_set_parameters_callback, self._refuse))
        endpoints.declare({name: declaration_of(fault) for name, fault in faults.items()})

    @property
    def values(self) -> FaultValues:
        """Component and name of each fault -> its value."""
        return self.among(self._node.get_parameters(list(self._faults)))

    def among(self, parameters: Sequence[Parameter]) -> FaultValues:
        """The faults among some parameters, by component and name."""
        faults = [(self._faults[one.name], one.value) for one in parameters if one.name in self._faults]
        return {(fault.component, fault.name): value for fault, value in faults}

    def clear(self) -> None:
        """Sets all faults to healthy."""
        present = self._node.get_parameters(list(self._faults))
        healthy = [Parameter(one.name, value=self._faults[one.name].healthy) for one in present if one.value != 0]
        self._node.set_parameters(healthy)

    def _refuse(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name in self._faults:
                try:
                    check_fault(self._faults[parameter.name], parameter.value, self._scheme)
                except ParameterError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def declaration_of(fault: Fault) -> Declaration:
    return Declaration(fault.healthy, fault.description, False, fault.lowest, fault.highest)
