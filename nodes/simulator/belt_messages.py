"""The shoes of tracks as markers, each track in the frame of the link that carries it."""

import numpy as np
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from grouser.nodes.shared.messages import set_stamp
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
        self._headers = [Header(frame_id=source.frames.name(shoes.carrier)) for shoes in self._tracks]
        self._plates = [_plates(shoes, header) for shoes, header in zip(self._tracks, self._headers, strict=True)]
        self._message = MarkerArray(markers=[marker for plates in self._plates for marker in plates])

    def message(self, nanoseconds: int, belts: Belts) -> MarkerArray:
        """The markers where the shoes are now, always in the same message.

        Args:
            nanoseconds: simulation time.
            belts: of the machine.
        """
        for shoes, header, plates, position in zip(
            self._tracks, self._headers, self._plates, belts.positions, strict=True
        ):
            wheels = {link: self._pose(link, belts) for link in shoes.wheel_links}
            places, turns = shoes.poses(float(position), self._pose(shoes.carrier, belts), wheels)
            # the middle of a plate is out of the path
            x, y, z, w = turns.T
            out = [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)]
            middles = places.T + 0.5 * shoes.track.thickness * np.array(out)
            set_stamp(header.stamp, nanoseconds)
            for marker, place, turn in zip(plates, middles.T.tolist(), turns.tolist(), strict=True):
                middle, orientation = marker.pose.position, marker.pose.orientation
                middle.x, middle.y, middle.z = place
                orientation.x, orientation.y, orientation.z, orientation.w = turn
        return self._message

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
