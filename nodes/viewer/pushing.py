"""The push tool: a part of the machine that is dragged is pushed along the drag, by a force in proportion to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser

from grouser.nodes.viewer.arrows import Arrows
from grouser.physics.description.data.pose import Pose, Vector3
from grouser.physics.description.data.rotation import compose, rotate

COLOUR = (0, 150, 60)
LARGEST = 2.0  # push, over the weight of the machine

Wrench = tuple[Vector3, Vector3]


@dataclass
class Drag:
    """A part in the hand of a browser.

    Attributes:
        frame: of the part.
        grabbed: where, in the world [m].
        along: from there to the pointer, parallel to the picture [m].
        place: where it was grabbed, in the frame [m]; None before the first picture.
    """

    frame: str
    grabbed: np.ndarray
    along: np.ndarray
    place: Vector3 | None = None


class PushTool:
    """Pushes what is dragged, while it is switched on.

    The arrow of the force begins where the part was grabbed and has the scale of the contact forces, so that it ends at
    the pointer; it is at most twice the machine's weight. The force changes as the pointer moves, and keeps its
    direction meanwhile.

    Args:
        scene: where the parts and the arrows are.
    """

    def __init__(self, scene: viser.SceneApi) -> None:
        self._scene = scene
        self._arrows = Arrows(scene, "/pushes")
        self._labels: dict[str, Any] = {}
        self._handles: list[tuple[Any, str]] = []
        self._on = False
        self._drags: dict[int, Drag] = {}  # by the numbers of the browsers; changed by the server's thread

    def clear(self) -> None:
        """Turns to another machine, which is not pushed."""
        self._handles.clear()
        self._drags.clear()
        self._on = False

    def offer(self, handle: Any, frame: str) -> None:
        """Lets a part be pushed.

        Args:
            handle: what is dragged.
            frame: of the link that it belongs to.
        """
        self._handles.append((handle, frame))

    def switch(self, on: bool) -> None:
        """Switches the tool on or off; drags of a part move the camera while it is off."""
        if on == self._on:
            return
        self._on = on
        for handle, frame in self._handles:
            if on:
                handle.on_drag(self._follow(frame))
            else:
                handle.remove_drag_callback()
        self.let_go()  # those that go on are told of no end

    def let_go(self) -> None:
        """Ends all pushes; what is still dragged has to be grabbed anew."""
        self._drags.clear()

    def _follow(self, frame: str) -> Callable[[viser.SceneNodeDragEvent], Any]:
        # A coroutine: the server calls those in the order of the events.
        async def follow(event: viser.SceneNodeDragEvent) -> None:
            grabbed, along = np.array(event.start_position), np.subtract(event.end_position, event.start_position)
            if event.phase == "start":
                self._drags[event.client_id] = Drag(frame, grabbed, along)
            elif event.phase == "end":
                self._drags.pop(event.client_id, None)
            elif (drag := self._drags.get(event.client_id)) is not None:
                drag.along = along

        return follow

    def draw(
        self, pose: Callable[[str], Pose], metres_per_newton: float, weight: float, size: float
    ) -> Mapping[str, Wrench]:
        """Draws the forces.

        Args:
            pose: of a frame in the world.
            metres_per_newton: length of the arrows [m/N].
            weight: of the machine [N].
            size: of the machine [m].

        Returns:
            Frame of each part that is pushed -> force [N] and moment about its origin [N m], along its axes.
        """
        pushes: dict[str, Wrench] = {}
        arrows, texts = [], {}
        for drag in tuple(self._drags.values()):
            frame = pose(drag.frame)
            x, y, z, w = frame.quaternion
            back = (-x, -y, -z, w)
            if drag.place is None:
                drag.place = rotate(back, tuple((drag.grabbed - frame.position).tolist()))
            strength = float(np.linalg.norm(drag.along)) / metres_per_newton
            if not strength:
                continue
            force = drag.along / metres_per_newton * min(1.0, LARGEST * weight / strength)
            own = rotate(back, tuple(force.tolist()))
            pushes[drag.frame] = own, tuple(np.cross(drag.place, own).tolist())
            tail = np.array(compose(frame, Pose(drag.place)).position)
            arrows.append((tail, tail + metres_per_newton * force))
            texts[drag.frame] = f"{1e-3 * float(np.linalg.norm(force)):.3g} kN", arrows[-1][1]
        self._arrows.draw(np.array(arrows).reshape(-1, 2, 3), np.array([COLOUR] * len(arrows)).reshape(-1, 3), size)
        self._write(texts)
        return pushes

    def _write(self, texts: Mapping[str, tuple[str, np.ndarray]]) -> None:
        """Shows the sizes of the forces at the ends of their arrows."""
        for frame in self._labels.keys() - texts.keys():
            self._labels.pop(frame).remove()
        for frame, (text, place) in texts.items():
            if frame not in self._labels:
                name = f"/push/{frame.replace('/', '|')}"
                self._labels[frame] = self._scene.add_label(name, text, position=place, anchor="bottom-center")
            label = self._labels[frame]
            label.position = place
            if label.text != text:
                label.text = text
