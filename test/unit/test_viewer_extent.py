"""What the cameras of the viewer point at."""

import numpy as np
import pytest

from grouser.nodes.viewer.extent import LARGEST, Extent
from grouser.physics.description.data.pose import Pose

ROD = np.array([[-1.0, -0.01, -0.01], [1.0, 0.01, 0.01]])
QUARTER_TURN = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))  # about z


def test_a_box_turns_with_its_link() -> None:
    """A slender rod has the extent of a slender rod, whichever way it points."""
    extent = Extent()
    extent.add("arm", Pose((1.0, 0.0, 0.0)), ROD, moves=True)
    low, high = extent.corners(lambda _link: Pose((0.0, 0.0, 3.0), QUARTER_TURN))
    assert low == pytest.approx([-0.01, 0.0, 2.99]) and high == pytest.approx([0.01, 2.0, 3.01])


@pytest.mark.parametrize("length, counts", [(0.99 * LARGEST, True), (1.01 * LARGEST, False)])
def test_what_cannot_move_counts_unless_it_is_much_larger(length: float, counts: bool) -> None:
    extent, cube = Extent(), np.array([[-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]])
    extent.add("slider", Pose(), cube, moves=True)
    base = length * cube
    extent.add("base", Pose(), base, moves=False)
    assert extent.corners(lambda _link: Pose()) == pytest.approx(base if counts else cube)


def test_nothing_is_a_cube_around_the_origin() -> None:
    assert np.ptp(Extent().corners(lambda _link: Pose()), axis=0) == pytest.approx([1.0, 1.0, 1.0])
