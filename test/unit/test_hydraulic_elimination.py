"""Elimination of the lines of a circuit's part: order, layout and kernels against dense algebra."""

import numpy as np
import pytest

from grouser.physics.base.packed import Packed
from grouser.physics.description.data.hydraulics import Fluid
from grouser.physics.hydraulics.elimination import eliminate_lines, substitute_lines
from grouser.physics.hydraulics.network import LOAD_SENSING, NO_FLOW_ELEMENT, NO_LINE, PRESSURES, NetworkBuilder
from grouser.physics.hydraulics.oil import make_oil
from grouser.physics.hydraulics.ordering import MatrixLayout, SparsityPattern

TANK = "tank"
_PUMP = {
    "displacement": 1e-5,
    "speed": 150.0,
    "control": LOAD_SENSING,
    "setting": 2e7,
    "margin": 2e6,
    "range": 1e6,
    "response": 0.05,
    "power": np.inf,
    "least_swash": 0.0,
    "torque_loss": 0.0,
    "leak": NO_FLOW_ELEMENT,
}
_ACTUATOR = {
    "area_a": 2e-3,
    "area_b": 1e-3,
    "stroke": 0.5,
    "mass": 10.0,
    "viscous": 100.0,
    "dry": 0.0,
    "static": 0.0,
    "stribeck": 0.01,
    "wall": 0.0,
    "buffer": 0.0,
    "buffer_stiffness": 0.0,
    "buffer_damping": 0.0,
}


def circuit(prefix, builder, consumers):
    """Consumers behind compensators on one load-sensing pump, with a ring of orifices that causes fill."""
    pump, sense = f"{prefix}pump", f"{prefix}sense"
    builder.add_pump(pump, TANK, sense, **_PUMP)
    builder.add_flow_element(sense, TANK, laminar=1e-13)
    for k in range(consumers):
        metered, a, b = (f"{prefix}{name}{k}" for name in ("metered", "a", "b"))
        builder.add_flow_element(
            *(pump, metered, 1e-6), kind=PRESSURES, pilots={metered: -1e-6, a: 1e-6, sense: 2e-7}, slope=1.0
        )
        builder.add_flow_element(metered, a, 1e-6)
        builder.add_flow_element(b, TANK, 1e-6)
        builder.add_flow_element(a, sense, 1e-7)
        builder.add_flow_element(b, f"{prefix}a{(k + 1) % consumers}", 1e-8)
        builder.add_actuator(a, b, **_ACTUATOR)


@pytest.fixture(scope="module")
def network():
    """Two circuits, the second of which has other unknowns than the first."""
    builder = NetworkBuilder(make_oil(Fluid()), {TANK: 1e5})
    circuit("left_", builder, 4)
    circuit("right_", builder, 3)
    return builder.build(0)


def dense(network, part, entry):
    """The matrix of a part from its entries."""
    first, last = network.part_line_start[part : part + 2]
    lines, count = last - first, int(np.diff(network.part_actuator_start)[part])
    matrix = np.zeros((lines + count, lines + count))
    for i, k in enumerate(range(first, last)):
        pivot = int(network.pivot[k])
        beside = network.beside[network.beside_start[k] : network.beside_start[k + 1]]
        below = network.below[network.below_start[k] : network.below_start[k + 1]]
        matrix[i, i] = entry[pivot]
        matrix[i, beside] = entry[pivot + 1 : pivot + 1 + len(beside)]
        matrix[below, i] = entry[pivot + 1 + len(beside) : pivot + 1 + len(beside) + len(below)]
    closing = int(network.coupling[part])
    matrix[lines:, lines:] = entry[closing : closing + count * count].reshape(count, count)
    return matrix, lines


@pytest.mark.parametrize("part", [0, 1])
def test_elimination_against_dense_algebra(network, part):
    random = np.random.default_rng(3 + part)
    entry = random.uniform(-1.0, 1.0, network.matrix_size)
    first, last = network.part_line_start[part : part + 2]
    entry[network.pivot[first:last]] += 6.0
    matrix, lines = dense(network, part, entry)
    right = random.uniform(-1.0, 1.0, len(matrix) + 1)
    changes, feed, answer, closing = np.split(matrix[:lines], [lines], 1) + np.split(matrix[lines:], [lines], 1)
    r, j, speeds = right[:lines].copy(), right[lines:-1].copy(), random.uniform(-1.0, 1.0, len(matrix) - lines)

    packed = Packed(network)
    assert eliminate_lines(packed, part, entry, right)
    reduced = dense(network, part, entry)[0][lines:, lines:]
    # sums of tens of terms of order one
    assert reduced == pytest.approx(closing - answer @ np.linalg.solve(changes, feed), abs=1e-13)
    assert right[lines:-1] == pytest.approx(j - answer @ np.linalg.solve(changes, r), abs=1e-13)
    right[lines:-1] = speeds
    substitute_lines(packed, part, entry, right)
    assert right[:lines] == pytest.approx(np.linalg.solve(changes, r - feed @ speeds), abs=1e-13)
    assert np.abs(right[:lines]).min() > 1e-6


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_elimination_without_a_pivot(network, value):
    entry = np.ones(network.matrix_size)
    entry[network.pivot[0]] = value
    assert not eliminate_lines(Packed(network), 0, entry, np.ones(len(network.local) + 8))


def test_entries_are_those_of_rows_and_columns(network):
    """Each element writes where the dense matrix has its row and column; constant lines have entry 0."""
    for part in (0, 1):
        numbers = np.arange(network.matrix_size, dtype=float)
        matrix, lines = dense(network, part, numbers)
        own = set(network.part_line[slice(*network.part_line_start[part : part + 2])].tolist())
        elements = network.part_flow_element[slice(*network.part_flow_element_start[part : part + 2])]
        for e in elements:
            columns = [network.origin[e], network.end[e], *network.pilot[e]]
            for row, entries in zip(columns[:2], network.flow_element_entry[e], strict=True):
                for column, place in zip(columns, entries, strict=True):
                    inside = column != NO_LINE and row in own and column in own
                    expected = matrix[network.local[row], network.local[column]] if inside else 0.0
                    assert place == expected
        actuators = network.part_actuator[slice(*network.part_actuator_start[part : part + 2])]
        for k, a in enumerate(actuators):
            for line, (by_speed, by_pressure) in zip(
                (network.line_a[a], network.line_b[a]), network.actuator_entry[a], strict=True
            ):
                assert by_speed == matrix[network.local[line], lines + k] > 0
                assert by_pressure == matrix[lines + k, network.local[line]] > 0
    assert network.local[network.constant].min() >= np.diff(network.part_line_start).max()


def test_layout_holds_the_fill_of_a_star():
    """Four leaves around a centre: from the leaves no fill, and the last unknown sees the centre only."""
    pattern = SparsityPattern(range(6))
    for leaf in (1, 2, 3, 4):
        pattern.couple([0, leaf], [0, leaf])
    pattern.couple([0], [5])
    pattern.couple([5], [0])
    order, rows, columns = pattern.eliminate([0, 1, 2, 3, 4], [5])
    assert set(order[:3]) < {1, 2, 3, 4}
    layout = MatrixLayout(order, rows, columns, [5])
    # entry 0, the diagonals, both sides of five pairs
    assert layout.size == 1 + 6 + 10
    assert layout.entries([1], [2, 1, 5]) == [[0, layout.pivots[order.index(1)], 0]]
    assert layout.targets[-1] == [layout.closing]
