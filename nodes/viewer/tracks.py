"""The belt of a track in the browser: all of its shoes are one batch."""

import numpy as np
import trimesh
import viser

from grouser.nodes.shared.received_frames import ReceivedFrames
from grouser.nodes.viewer.links import differ
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

    def move(self, position: float, frames: ReceivedFrames) -> None:
        """Moves the shoes, if the sprocket has turned or a sprung wheel has moved so far that it can be seen.

        Args:
            position: of the sprocket's joint [rad].
            frames: poses of the links.
        """
        shoes = self._shoes
        wheels = {link: frames.relative(link, shoes.carrier) for link in shoes.wheel_links}
        now = (shoes.track.radius * position, *(x for pose in wheels.values() for x in pose.position))
        if self._drawn and not differ(now, self._drawn):
            return
        self._drawn = now
        places, turns = shoes.poses(position, Pose(), wheels)
        self.handle.batched_positions = places.astype(np.float32)
        self.handle.batched_wxyzs = _wxyz(turns)


def _wxyz(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions x y z w, (n, 4), in viser's order."""
    return np.roll(quaternions, 1, axis=1).astype(np.float32)
