"""Labels: a click on a part of the machine names it, with its mass, its contact force and its pressures."""

from collections import deque
from collections.abc import Mapping
from typing import Any

import viser

from grouser.nodes.viewer.values import Values
from grouser.physics.description.data.machine import Machine

_BAR = 1e5  # [Pa]


class Labels:
    """Shows a label at each part that was clicked; another click removes it.

    Args:
        scene: where they are drawn.
    """

    def __init__(self, scene: viser.SceneApi) -> None:
        self._scene = scene
        self._masses: dict[str, float] = {}
        self._clicked: deque[str] = deque()  # in threads of the server; `draw` answers
        self._nodes: dict[str, tuple[str, str]] = {}
        self._shown: dict[str, Any] = {}

    def describe(self, machine: Machine) -> None:
        """Turns to another machine, without labels."""
        for label in self._shown.values():
            label.remove()
        self._shown.clear()
        self._nodes.clear()
        self._masses = {link.name: link.inertial.mass for link in machine.links if link.inertial}

    def offer(self, handle: Any, node: str, link: str = "", cylinder: str = "") -> None:
        """Lets a part have a label.

        Args:
            handle: what is clicked.
            node: name of the node that the label moves with.
            link, cylinder: what the part is.
        """
        self._nodes[node] = (link, cylinder)
        handle.on_click(lambda _event: self._clicked.append(node))

    def draw(self, forces: Mapping[str, float], hydraulics: Values) -> None:
        """Shows, changes and removes labels.

        Args:
            forces: contact force on each link [N].
            hydraulics: what `hydraulics/state` says.
        """
        while self._clicked:
            node = self._clicked.popleft()
            if node in self._shown:
                self._shown.pop(node).remove()
            elif node in self._nodes:
                text = self._text(node, forces, hydraulics)
                self._shown[node] = self._scene.add_label(f"{node}/label", text, anchor="bottom-center")
        for node, label in self._shown.items():
            text = self._text(node, forces, hydraulics)
            if text != label.text:
                label.text = text

    def _text(self, node: str, forces: Mapping[str, float], hydraulics: Values) -> str:
        link, cylinder = self._nodes[node]
        if cylinder:
            values = hydraulics.get(cylinder, {})
            sides = [values[side] / _BAR for side in ("pressure_piston_side", "pressure_rod_side") if side in values]
            figures = [f"{' / '.join(f'{side:.0f}' for side in sides)} bar"] if sides else []
            figures += [f"{1e-3 * values['force']:.1f} kN"] if "force" in values else []
            return ", ".join([cylinder, *figures])
        figures = [f"{self._masses[link]:.4g} kg"] if link in self._masses else []
        figures += [f"contact {1e-3 * forces[link]:.2f} kN"] if link in forces else []
        return ", ".join([link, *figures])
