"""Flexible links as elastic links: their modes are the elastic coordinates, and stations carry all that is on them.

The floating frame is the link's frame, to which the elastic axis is clamped. With first-order coupling, bending draws
the sections towards the start of the axis by 1/2 the integral of v'2 + w'2: centrifugal and axial forces then stiffen
or soften the link. After Kane, Ryan and Banerjee, "Dynamics of a cantilever beam attached to a moving base" (1987), and
Fan and Zhang, "Dynamic modeling and simulation of flexible robots based on different discretization methods" (2016).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import (
    Collision,
    ElasticCoordinate,
    ElasticShape,
    Inertial,
    Joint,
    Link,
    Visual,
)
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import matrix, quaternion_from_rpy
from grouser.physics.flexible_links.attachments import with_attachments
from grouser.physics.flexible_links.cutting import Axis, cut_shape
from grouser.physics.flexible_links.modal_beam import ModalBeam
from grouser.physics.flexible_links.names import disabled_for_pieces, held_apart, refuse_repeated
from grouser.physics.flexible_links.stations import Stations, mass_stations

# Share of the length within which places are one.
_SAME_PLACE = 1e-9


@lru_cache(maxsize=64)
def modal_beam(flexible: FlexibleLink) -> ModalBeam:
    """The modes of a flexible link."""
    return ModalBeam(flexible)


@lru_cache(maxsize=64)
def stations_of(flexible: FlexibleLink) -> Stations:
    """Its lumps of mass."""
    return mass_stations(modal_beam(flexible))


def divide(machine: Machine, flexible: FlexibleLink) -> Machine:
    """Makes a flexible link an elastic one, whose mass and attachments are on stations fixed to it.

    The link keeps its frame, and the joint that carries it. Stations are the links `<link>.k`, k from 1, on fixed
    joints of the same names, first those with mass along the axis, then massless ones where joints, loop joints,
    cylinders and sensors are attached: at their projection on the elastic axis. Station frames are parallel to the
    link's frame while the link is straight. What is at or before the start of the axis stays on the link. Visuals and
    collision shapes are cut across the axis into a piece for each station with mass.

    Args:
        machine: from the description.
        flexible: the link.

    Raises:
        MachineError: a link or joint already has the name of a station.
    """
    return _Division(machine, flexible).divided()


class _Division:
    def __init__(self, machine: Machine, flexible: FlexibleLink):
        self.machine, self.flexible = machine, flexible
        self.beam, self.stations = modal_beam(flexible), stations_of(flexible)
        self.axes = matrix(quaternion_from_rpy(*flexible.rpy))
        self.start = np.array(flexible.xyz)
        self.places: list[float] = self.stations.place.tolist()
        self.attached: dict[float, str] = {}

    def divided(self) -> Machine:
        """The machine with the link divided."""
        # all attachments come first: they make the stations
        machine, name = self._attached(), self.flexible.link
        joints = list(machine.joints)
        whole = next(link for link in machine.links if link.name == name)
        visuals, collisions = self._pieces(whole.visuals), self._pieces(whole.collisions)
        pieces = [self._name(k) for k in sorted(collisions) if k > 0]
        elastic = replace(
            whole,
            inertial=None,
            visuals=tuple(visuals.get(0, ())),
            collisions=tuple(collisions.get(0, ())),
            elastic=tuple(self._coordinates()),
        )
        links = [elastic if link.name == name else link for link in machine.links]
        for number, joint in enumerate(self._station_joints(), start=1):
            joints.append(joint)
            shapes = tuple(collisions.get(number, ())), tuple(visuals.get(number, ()))
            links.append(Link(joint.child, self._inertial(number), *shapes))
        apart = (*machine.disabled_collisions, *held_apart(self.machine, self.flexible))
        result = replace(
            machine,
            links=tuple(links),
            joints=tuple(joints),
            contacts=tuple(
                contact
                for given in machine.contacts
                for contact in (given, *(replace(given, link=piece) for piece in pieces if given.link == name))
            ),
            disabled_collisions=tuple(disabled_for_pieces(apart, name, pieces)) if whole.collisions else apart,
        )
        refuse_repeated(result, self.flexible)
        return result

    def _attached(self) -> Machine:
        """The machine with all that is on the link attached to stations."""
        machine = replace(self.machine, joints=tuple(map(self._on_station, self.machine.joints)))
        return with_attachments(machine, self._place)

    def _coordinates(self) -> Iterator[ElasticCoordinate]:
        for mode in self.beam.modes:
            stiffness = mode.frequency**2
            yield ElasticCoordinate(f"{mode.kind}_{mode.number}", stiffness, self.flexible.damping * stiffness)

    def _station_joints(self) -> Iterator[Joint]:
        """Fixed joints of all stations."""
        places = np.array(self.places)
        for number, (at, shape) in enumerate(zip(places, self._shapes(places), strict=True), start=1):
            pose, name = Pose(_vector(self.start + at * self.axes[:, 0])), self._name(number)
            yield Joint(name, "fixed", self.flexible.link, name, pose, elastic_shape=shape)

    def _shapes(self, places: np.ndarray) -> list[ElasticShape]:
        return elastic_shapes(self.beam, places)

    def _inertial(self, number: int) -> Inertial | None:
        """Mass properties of a station; None for one that only carries attachments."""
        if number > len(self.stations.place):
            return None
        mass, *moments = self.stations.inertia[number - 1]
        inertia = self.axes @ np.diag(moments) @ self.axes.T
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tolist()
        return Inertial(Pose(), float(mass), (xx, xy, xz, yy, yz, zz))

    def _on_station(self, joint: Joint) -> Joint:
        """A joint, on its station if it is on the link."""
        if joint.parent != self.flexible.link:
            return joint
        station, xyz = self._place(joint.parent, joint.pose.position)
        if station == joint.parent:
            return replace(joint, elastic_shape=self._shapes(np.zeros(1))[0])
        return replace(joint, parent=station, pose=replace(joint.pose, position=xyz))

    def _place(self, link: str, xyz: Vector3) -> tuple[str, Vector3]:
        """Station that carries a point of the link, and the point in its frame; points of other links are unchanged."""
        if link != self.flexible.link:
            return link, xyz
        length = self.flexible.length
        along = min(float((np.array(xyz) - self.start) @ self.axes[:, 0]), length)
        if along <= _SAME_PLACE * length:
            return link, xyz
        same = [at for at in self.attached if abs(at - along) <= _SAME_PLACE * length]
        if not same:
            self.places.append(along)
            self.attached[along] = self._name(len(self.places))
            same = [along]
        return self.attached[same[0]], _vector(np.array(xyz) - self.start - same[0] * self.axes[:, 0])

    def _pieces(self, shapes: tuple[Collision, ...] | tuple[Visual, ...]) -> dict[int, list]:
        """Pieces of shapes by the number of their station, 0 for the link itself."""
        middles = 0.5 * (self.stations.place[:-1] + self.stations.place[1:])
        axis = Axis(self.start, self.axes[:, 0], np.array([0.0, *middles]))
        pieces: dict[int, list] = {}
        for shape in shapes:
            for number, pose, geometry in cut_shape(shape.geometry, shape.pose, axis):
                if number > 0:
                    origin = self.start + self.places[number - 1] * self.axes[:, 0]
                    pose = replace(pose, position=_vector(np.array(pose.position) - origin))
                pieces.setdefault(number, []).append(replace(shape, pose=pose, geometry=geometry))
        return pieces

    def _name(self, number: int) -> str:
        return f"{self.flexible.link}.{number}"


def elastic_shapes(beam: ModalBeam, places: np.ndarray) -> list[ElasticShape]:
    """How the coordinates move the sections of a flexible link, in the axes of the link's frame.

    Args:
        beam: the link's modes.
        places: of the sections along the elastic axis [m].
    """
    axes = matrix(quaternion_from_rpy(*beam.flexible.rpy))
    translation, rotation = beam.translation(places) @ axes.T, beam.rotation(places) @ axes.T
    shortening, axis, contraction = beam.shortening(places), _vector(axes[:, 0]), beam.contraction(places)
    return [
        ElasticShape(
            tuple(map(_vector, translation[k])),
            tuple(map(_vector, rotation[k])),
            tuple(map(tuple, shortening[k].tolist())) if shortening[k].any() else (),
            axis,
            float(contraction[k]),
        )
        for k in range(len(places))
    ]


def _vector(array: np.ndarray) -> Vector3:
    x, y, z = array.tolist()
    return x, y, z
