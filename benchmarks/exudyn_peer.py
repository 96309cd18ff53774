"""The double flexible pendulum of cable elements in Exudyn: absolute nodal coordinates, generalised alpha method."""

from itertools import pairwise
from typing import Any

import numpy as np

from grouser.benchmarks.peers import require
from grouser.experiments import load
from grouser.experiments.protocol import complete_parameters


class DoublePendulum:
    """Two links of cable elements.

    Args:
        exudyn: the module.
        system: assembled.
        settings: of the integration.
        ends: nodes at the ends of the links.
    """

    def __init__(self, exudyn: Any, system: Any, settings: Any, ends: list[Any]):
        self._exudyn, self._system, self._settings, self._ends = exudyn, system, settings, ends

    def step(self) -> None:
        """Makes all steps."""
        solver = self._exudyn.DynamicSolverType.GeneralizedAlpha
        self._system.SolveDynamic(self._settings, solverType=solver)

    def tips(self) -> np.ndarray:
        """Ends of both links [m], (2, 2)."""
        kind = self._exudyn.OutputVariableType.Position
        return np.array([self._system.GetNodeOutput(node, kind)[:2] for node in self._ends])


def make_double_pendulum(exudyn: Any, elements: int, step: float, duration: float) -> DoublePendulum:
    """The pendulum of `double_flexible_pendulum` at its start.

    Args:
        exudyn: the module.
        elements: of each link.
        step: [s].
        duration: [s].
    """
    items = require("exudyn.itemInterface")
    given = complete_parameters(load("double_flexible_pendulum"), {})
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    before = system.AddMarker(items.MarkerBodyPosition(bodyNumber=ground))
    part, x, ends = given["length"] / elements, 0.0, []
    for _ in range(2):
        nodes = []
        for k in range(elements + 1):
            nodes.append(system.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[x + k * part, 0.0, 1.0, 0.0])))
        for first, last in pairwise(nodes):
            cable = system.AddObject(
                items.ObjectANCFCable2D(
                    nodeNumbers=[first, last],
                    physicsLength=part,
                    physicsMassPerLength=given["mass"] / given["length"],
                    physicsBendingStiffness=given["bending_stiffness"],
                    physicsAxialStiffness=given["axial_stiffness"],
                )
            )
            mass = system.AddMarker(items.MarkerBodyMass(bodyNumber=cable))
            system.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0.0, -given["gravity"], 0.0]))
        start, end = (system.AddMarker(items.MarkerNodePosition(nodeNumber=node)) for node in (nodes[0], nodes[-1]))
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[before, start]))
        before, x = end, x + given["length"]
        ends.append(nodes[-1])
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(duration / step)
    settings.timeIntegration.endTime = duration
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = duration
    settings.linearSolver.solverType = exudyn.LinearSolverType.EXUdense
    return DoublePendulum(exudyn, system, settings, ends)
