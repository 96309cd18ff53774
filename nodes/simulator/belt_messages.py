"""The shoes of tracks as markers, each track in the frame of the link that carries it."""

import numpy as np
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from grouser.nodes.shared.prepared_message import PreparedMessage
from grouser.physics.description.data.pose import Pose
from grouser.runtime.belt_shoes import BeltShoes
from grouser.runtime.sampling import Belts
from grouser.runtime.streams import StreamSource

_RUBBER = ColorRGBA(r=0.15, g=0.15, b=0.16, a=1.0)


class BeltMarkers:
    """A cube for the plate of every shoe; between two messages RViz moves them with their links.

    Args:
        source: the machine.
    """

    def __init__(self, source: StreamSource) -> None:
        machine = source.machine
        self._links = {link.name: number for number, link in enumerate(machine.links)}
        self._tracks = [BeltShoes(machine, track) for track in machine.tracks]
        headers = [Header(frame_id=source.frames.name(shoes.carrier)) for shoes in self._tracks]
        plates = [
            plate for shoes, header in zip(self._tracks, headers, strict=True) for plate in _plates(shoes, header)
        ]
        self._message = PreparedMessage(
            MarkerArray(markers=plates), [header.stamp for header in headers], [plate.pose for plate in plates]
        )

    def message(self, nanoseconds: int, belts: Belts) -> bytes:
        """The serialized markers where the shoes are now.

        Args:
            nanoseconds: simulation time.
            belts: of the machine.
        """
        poses = []
        for shoes, position in zip(self._tracks, belts.positions, strict=True):
            wheels = {link: self._pose(link, belts) for link in shoes.wheel_links}
            places, turns = shoes.poses(float(position), self._pose(shoes.carrier, belts), wheels)
            # the middle of a plate is out of the path
            x, y, z, w = turns.T
            out = [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)]
            middles = places + 0.5 * shoes.track.thickness * np.array(out).T
            poses.append(np.hstack([middles, turns]))
        return self._message.filled(nanoseconds, np.vstack(poses))

    def _pose(self, link: str, belts: Belts) -> Pose:
        x, y, z, *turn = belts.poses[self._links[link]].tolist()
        return Pose((x, y, z), (turn[0], turn[1], turn[2], turn[3]))


def _plates(shoes: BeltShoes, header: Header) -> list[Marker]:
    name, size = shoes.track.name, shoes.boxes[0, 1].tolist()
    markers = [
        Marker(header=header, ns=name, id=number, type=Marker.CUBE, action=Marker.ADD, color=_RUBBER, frame_locked=True)
        for number in range(shoes.track.shoes)
    ]
    for marker in markers:
        marker.scale.x, marker.scale.y, marker.scale.z = size
    return markers
