"""Reads control patterns from YAML files; docs/operator.md describes the format."""

from pathlib import Path

import yaml

from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.yaml_reader import Reader, compose
from grouser.runtime.control_mapping import TIP_DIRECTIONS, ControlMapping, Lever, TipControl, TipFunction

_SHAPE_KEYS = ("dead_band", "curve", "rate")
_TOP_KEYS = ("dead_man_button", "emergency_stop_button", "speed", *_SHAPE_KEYS, "tip", "levers", "modes")
_SPEED_KEYS = ("slower_button", "faster_button", "ranges", "start")
_MODE_KEYS = ("button", "levers")
_INPUTS = ("axis", "buttons")
_ACTUATORS = ("valve", "joint", "twist", "tip")
_LEVER_KEYS = (*_INPUTS, *_ACTUATORS, "quantity", "scale", *_SHAPE_KEYS)
_QUANTITIES = ("velocity", "effort")
_PARTS = {"twist": ("x", "y", "yaw", "curvature"), "tip": TIP_DIRECTIONS}
_TIP_KEYS = ("machine", "frame", "link", "point", "functions")
_FUNCTION_KEYS = ("cylinder", "extending", "retracting")
_SLOWEST, _FASTEST = 1e-4, 10.0  # [m/s] of a cylinder
_SHAPE_RANGES = {"dead_band": (0.0, 0.9), "curve": (0.0, 10.0), "rate": (0.1, 1000.0)}
_HIGHEST_INDEX = 63
_SMALLEST_SPEED = 0.01


def load_control_mapping(path: str | Path) -> ControlMapping:
    """Reads a control pattern.

    Raises:
        MachineError: the file cannot be read or is not valid; names file, line, key, value and valid values.
    """
    root = compose(Path(path), "control pattern")
    if root is None:
        raise MachineError("the file is empty", file=path, remedy="give the path of a control pattern")
    return _PatternReader(str(path)).pattern(root)


class _PatternReader(Reader):
    """Reads the parts of a pattern from the nodes of one file."""

    def pattern(self, root: yaml.Node) -> ControlMapping:
        name = "control pattern"
        nodes = self.mapping(root, name, _TOP_KEYS)
        shape = {key: self._shape(nodes[key], key) for key in _SHAPE_KEYS if key in nodes}
        levers = self._levers(nodes["levers"], "", shape) if "levers" in nodes else ()
        modes: list[tuple[str, int]] = []
        for mode, node in self.entries(nodes["modes"], "modes") if "modes" in nodes else []:
            parts = self.mapping(node, f"mode {mode}", _MODE_KEYS)
            modes.append((mode, self._index(self.required(parts, "button", node, f"mode {mode}"), "button")))
            levers += self._levers(self.required(parts, "levers", node, f"mode {mode}"), mode, shape)
        if not levers:
            raise self.error(root, name, "it has no levers", "add levers: [...] or modes: {...}")
        stop = nodes.get("emergency_stop_button")
        pattern = ControlMapping(
            levers=levers,
            dead_man_button=self._index(self.required(nodes, "dead_man_button", root, name), "dead_man_button"),
            emergency_stop_button=None if stop is None else self._index(stop, "emergency_stop_button"),
            modes=tuple(modes),
            tip=self._tip(nodes["tip"], levers) if "tip" in nodes else None,
            **(self._speed(nodes["speed"]) if "speed" in nodes else {}),
        )
        self._check_buttons(root, pattern)
        self._check_joints(root, pattern)
        self._check_tip(root, pattern)
        return pattern

    def _tip(self, node: yaml.Node, levers: tuple[Lever, ...]) -> TipControl:
        nodes = self.mapping(node, "tip", _TIP_KEYS)
        machine, frame, link = (
            self.text(self.required(nodes, key, node, "tip"), key) for key in ("machine", "frame", "link")
        )
        functions = {}
        for valve, entry in self.entries(self.required(nodes, "functions", node, "tip"), "functions"):
            parts = self.mapping(entry, f"function {valve}", _FUNCTION_KEYS)
            cylinder, *speeds = (self.required(parts, key, entry, f"function {valve}") for key in _FUNCTION_KEYS)
            functions[valve] = TipFunction(
                self.text(cylinder, "cylinder"),
                *(
                    self.number(speed, key, _SLOWEST, _FASTEST)
                    for key, speed in zip(_FUNCTION_KEYS[1:], speeds, strict=True)
                ),
            )
        point = self.vector(self.required(nodes, "point", node, "tip"), "point")
        moved = {lever.actuator for lever in levers if lever.kind == "tip"}
        if not moved:
            raise self.error(node, "tip", "no lever moves it", "add a lever with tip: reach, height or attitude")
        directions = tuple(direction for direction in TIP_DIRECTIONS if direction in moved)
        return TipControl(machine, frame, link, point, functions, directions)

    def _speed(self, node: yaml.Node) -> dict:
        nodes = self.mapping(node, "speed", _SPEED_KEYS)
        ranges: list[tuple[str, float]] = []
        for name, value in self.entries(self.required(nodes, "ranges", node, "speed"), "ranges"):
            share = self.number(value, f"range {name}", _SMALLEST_SPEED, 1.0)
            if ranges and share <= ranges[-1][1]:
                raise self.error(value, f"range {name}", f"{share:g} is out of order", "begin with the slowest")
            ranges.append((name, share))
        names = tuple(name for name, _ in ranges)
        start = self.choice(nodes["start"], "start", names) if "start" in nodes else names[0]
        buttons = {
            key: self._index(self.required(nodes, key, node, "speed"), key)
            for key in ("slower_button", "faster_button")
        }
        return {"speed_ranges": tuple(ranges), "first_range": names.index(start), **buttons}

    def _levers(self, node: yaml.Node, mode: str, shape: dict[str, float]) -> tuple[Lever, ...]:
        return tuple(self._lever(entry, mode, shape) for entry in self.items(node, "levers"))

    def _lever(self, node: yaml.Node, mode: str, shape: dict[str, float]) -> Lever:
        nodes = self.mapping(node, "lever", _LEVER_KEYS)
        source = self._one_of(node, nodes, _INPUTS)
        target = self._one_of(node, nodes, _ACTUATORS)
        if "quantity" in nodes and target != "joint":
            raise self.error(nodes["quantity"], "lever", f"a {target} has no quantity", "remove it")
        kind = target
        if target == "joint":
            kind = self.choice(nodes["quantity"], "quantity", _QUANTITIES) if "quantity" in nodes else _QUANTITIES[0]
        name = self.text(nodes[target], target)
        if target in _PARTS:
            self.choice(nodes[target], target, _PARTS[target])
        return Lever(
            kind=kind,
            actuator=name,
            scale=self._scale(nodes, kind),
            axis=self._index(nodes["axis"], "axis") if source == "axis" else None,
            buttons=self._two_buttons(nodes["buttons"]) if source == "buttons" else (),
            mode=mode,
            **{**shape, **{key: self._shape(nodes[key], key) for key in _SHAPE_KEYS if key in nodes}},
        )

    def _one_of(self, node: yaml.Node, nodes: dict[str, yaml.Node], keys: tuple[str, ...]) -> str:
        named = [key for key in keys if key in nodes]
        if len(named) != 1:
            found = " and ".join(named) or "nothing"
            raise self.error(node, "lever", f"it names {found}; valid is one of {', '.join(keys)}")
        return named[0]

    def _scale(self, nodes: dict[str, yaml.Node], kind: str) -> float:
        if "scale" not in nodes:
            return 1.0
        limit = 1.0 if kind == "valve" else 1e6
        scale = self.number(nodes["scale"], "scale", -limit, limit)
        if scale == 0.0:
            raise self.error(nodes["scale"], "scale", "0 moves nothing", "give another number, or remove the lever")
        return scale

    def _shape(self, node: yaml.Node, key: str) -> float:
        return self.number(node, key, *_SHAPE_RANGES[key])

    def _index(self, node: yaml.Node, name: str) -> int:
        value = self.number(node, name, 0, _HIGHEST_INDEX)
        if value != int(value):
            raise self.error(node, name, f"{value:g} is not a whole number; valid: 0 to {_HIGHEST_INDEX}")
        return int(value)

    def _two_buttons(self, node: yaml.Node) -> tuple[int, ...]:
        entries = self.items(node, "buttons")
        buttons = tuple(self._index(entry, "buttons") for entry in entries)
        if len(buttons) != 2 or buttons[0] == buttons[1]:
            raise self.error(node, "buttons", "two different buttons are needed", "write [negative end, positive end]")
        return buttons

    def _check_buttons(self, root: yaml.Node, pattern: ControlMapping) -> None:
        controls = pattern.control_buttons
        moving = {button for lever in pattern.levers for button in lever.buttons}
        for place, button in enumerate(controls):
            if button in controls[:place] or button in moving:
                raise self.error(root, "control pattern", f"button {button} does two things", "give each its own")

    def _check_joints(self, root: yaml.Node, pattern: ControlMapping) -> None:
        kinds: dict[str, str] = {}
        for lever in pattern.levers:
            if lever.kind in _QUANTITIES and kinds.setdefault(lever.actuator, lever.kind) != lever.kind:
                raise self.error(root, f"joint {lever.actuator}", "it has two quantities", "keep velocity or effort")

    def _check_tip(self, root: yaml.Node, pattern: ControlMapping) -> None:
        if pattern.tip is None and any(lever.kind == "tip" for lever in pattern.levers):
            raise self.error(root, "control pattern", "a lever moves a tip, and there is none", "add tip: {...}")
