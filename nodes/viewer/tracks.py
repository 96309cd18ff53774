"""The belt of a track in the browser: all of its shoes are one batch."""

from collections.abc import Mapping

import numpy as np
import trimesh
import viser

from grouser.physics.description.data.pose import Pose
from grouser.runtime.belt_shoes import BeltShoes

SHOE_COLOUR = (13, 13, 15)  # the browser takes the colours of batches as linear


class TrackView:
    """Draws the shoes of a track; the browser gets their mesh once, and then only poses.

    Args:
        scene: where they are drawn.
        node: name of the node of the link that carries the track.
        shoes: of the track.
    """

    def __init__(self, scene: viser.SceneApi, node: str, shoes: BeltShoes) -> None:
        self._shoes = shoes
        self._drawn: tuple[float, ...] = ()
        box = trimesh.creation.box()
        vertices = np.concatenate([centre + size * box.vertices for centre, size in shoes.boxes])
        faces = np.concatenate([box.faces + number * len(box.vertices) for number in range(len(shoes.boxes))])
        places, turns = shoes.poses(0.0, Pose(), dict.fromkeys(shoes.wheel_links, Pose()))
        self.handle = scene.add_batched_meshes_simple(
            f"{node}/belt_{shoes.track.name.replace('/', '|')}",
            vertices,
            faces,
            _wxyz(turns),
            places.astype(np.float32),
            batched_colors=SHOE_COLOUR,
            flat_shading=True,
        )

    def move(self, position: float, poses: Mapping[str, Pose]) -> None:
        """Moves the shoes, if the sprocket has turned or a sprung wheel has moved.

        Args:
            position: of the sprocket's joint [rad].
            poses: of the links in the world.
        """
        shoes = self._shoes
        carrier, wheels = poses[shoes.carrier], {link: poses[link] for link in shoes.wheel_links}
        now = (position, *(carrier.position if wheels else ()), *(x for pose in wheels.values() for x in pose.position))
        if now == self._drawn:
            return
        self._drawn = now
        places, turns = shoes.poses(position, carrier, wheels)
        self.handle.batched_positions = places.astype(np.float32)
        self.handle.batched_wxyzs = _wxyz(turns)

    def remove(self) -> None:
        """Removes it from the scene."""
        self.handle.remove()


def _wxyz(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions x y z w, (n, 4), in viser's order."""
    return np.roll(quaternions, 1, axis=1).astype(np.float32)
