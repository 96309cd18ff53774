"""Arrows in the scene, drawn anew as they change."""

import numpy as np
import viser


class Arrows:
    """Arrows of one kind.

    Args:
        scene: where they are drawn.
        node: their name in it.
    """

    def __init__(self, scene: viser.SceneApi, node: str) -> None:
        self._scene, self._node = scene, node
        self._handle: viser.ArrowsHandle | None = None

    def draw(self, points: np.ndarray, colours: np.ndarray, size: float, visible: bool = True) -> None:
        """Draws arrows in place of those drawn before.

        Args:
            points: start and end of each in the world [m], shape (n, 2, 3).
            colours: of each, red, green and blue, shape (n, 3).
            size: of the machine, by which they are thick [m].
            visible: whether they are shown.
        """
        points, colours = points.astype(np.float32), colours.astype(np.uint8)
        if self._handle is not None and len(self._handle.points) != len(points):
            self._handle.remove()
            self._handle = None
        if not len(points):
            return
        if self._handle is None:
            width = 0.006 * size
            self._handle = self._scene.add_arrows(
                self._node,
                points,
                colours,
                shaft_radius=width,
                head_radius=2.5 * width,
                head_length=6.0 * width,
                visible=visible,
            )
        elif not np.array_equal(self._handle.points, points):
            self._handle.points = points
            if not np.array_equal(self._handle.colors, colours):
                self._handle.colors = colours
        if self._handle.visible != visible:
            self._handle.visible = visible
