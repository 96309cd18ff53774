"""Deformable blocks in the browser: one mesh for each shape, drawn for each of its blocks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import viser

from grouser.nodes.viewer.colours import linear

_BRICK = np.array([168.0, 115.0, 84.0])
_SHADES = (1.0, 0.86, 0.94, 0.8, 0.9)  # of neighbours: else a wall would be one surface


class BlocksView:
    """Draws blocks.

    Args:
        scene: where they are drawn.
    """

    def __init__(self, scene: viser.SceneApi):
        self._scene = scene
        self._names: Sequence[str] = ()
        self._groups: list[tuple[list[int], Any]] = []

    def receive(self, names: Sequence[str], triangles: Sequence[np.ndarray], poses: np.ndarray) -> None:
        """Draws blocks where they are.

        Args:
            names: of the blocks.
            triangles: of their surfaces, in their axes, (k, 3, 3) each [m].
            poses: x y z qx qy qz qw in the world, (blocks, 7).
        """
        if list(names) != list(self._names):
            self.clear()
            self._names = list(names)
            shapes: dict[bytes, list[int]] = {}
            for number, shape in enumerate(triangles):
                shapes.setdefault(np.round(shape, 6).tobytes(), []).append(number)
            self._groups = [
                (numbers, self._add(group, numbers, triangles[numbers[0]], poses[numbers]))
                for group, numbers in enumerate(shapes.values())
            ]
        for numbers, handle in self._groups:
            handle.batched_positions = poses[numbers, :3].astype(np.float32)
            handle.batched_wxyzs = np.roll(poses[numbers, 3:], 1, axis=1).astype(np.float32)

    def clear(self) -> None:
        """Removes all blocks."""
        for _, handle in self._groups:
            handle.remove()
        self._groups, self._names = [], ()

    def _add(self, group: int, numbers: list[int], triangles: np.ndarray, poses: np.ndarray) -> Any:
        corners = triangles.reshape(-1, 3).astype(np.float32)
        return self._scene.add_batched_meshes_simple(
            f"/blocks/{group}",
            corners,
            np.arange(len(corners), dtype=np.uint32).reshape(-1, 3),
            np.roll(poses[:, 3:], 1, axis=1).astype(np.float32),
            poses[:, :3].astype(np.float32),
            batched_colors=_colours(numbers),
            lod="off",
            flat_shading=True,
        )


def _colours(numbers: Sequence[int]) -> np.ndarray:
    """Colours of blocks by their numbers."""
    return linear(np.array([_SHADES[number % len(_SHADES)] for number in numbers])[:, np.newaxis] * _BRICK)
