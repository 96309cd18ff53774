"""Control mapping: which axis or buttons of a joystick command which actuator, and how."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grouser.physics.base.errors import ParameterError

# joy_linux divides values from -32768 to 32767 by 32767.
_BEYOND_ONE = 1e-4
TIP_DIRECTIONS = ("reach", "height", "attitude")


@dataclass(frozen=True)
class Lever:
    """One direction of a stick, or two buttons, that move one actuator.

    Attributes:
        kind: of the actuator: ``valve``, ``velocity`` or ``effort`` of a joint, ``position`` of a joint, whose target
            the lever moves, ``twist``, or ``tip``.
        actuator: name of a valve or of a joint, of a part of the twist, ``x``, ``y``, ``yaw`` or ``curvature``, or of
            the tip's velocity, ``reach``, ``height`` or ``attitude``.
        scale: command at full deflection: spool command in [-1, 1], rad/s or m/s, N m or N; of a twist m/s, rad/s, or
            yaw rate divided by forward speed [1/m]; of a tip m/s, of its attitude rad/s. Its sign is that of the
            positive end, which in ROS is left and forward.
        axis: number of the axis; None for a lever made of buttons.
        buttons: numbers of the buttons for full deflection to the negative and to the positive end.
        dead_band: deflection below which the lever is in neutral, in [0, 1).
        curve: exponent k of `deflection`, >= 0: larger values are finer near neutral.
        rate: highest rate of change [full deflections per second].
        mode: in which it is active; "": in all.
    """

    kind: str
    actuator: str
    scale: float
    axis: int | None
    buttons: tuple[int, ...] = ()
    dead_band: float = 0.1
    curve: float = 0.0
    rate: float = 5.0
    mode: str = ""

    def deflection(self, axes: Sequence[float], buttons: Sequence[int]) -> float:
        """Deflection from neutral, in [-1, 1].

        The range beyond the dead band is scaled to s in [0, 1] and shaped by (e^(k s) - 1) / (e^k - 1), with the slope
        k / (e^k - 1) in neutral: 0.43 for k = 1.5.
        """
        raw = buttons[self.buttons[1]] - buttons[self.buttons[0]] if self.axis is None else axes[self.axis]
        share = (min(abs(raw), 1.0) - self.dead_band) / (1.0 - self.dead_band)
        if share <= 0.0:
            return 0.0
        bent = math.expm1(self.curve * share) / math.expm1(self.curve) if self.curve > 0.0 else share
        return math.copysign(bent, raw)


@dataclass(frozen=True)
class TipFunction:
    """A cylinder that moves a tip.

    Attributes:
        cylinder: its name.
        extending, retracting: its speed at full spool [m/s].
    """

    cylinder: str
    extending: float
    retracting: float


@dataclass(frozen=True)
class TipControl:
    """The tip of a tool, commanded by its velocity in the vertical plane of the arm.

    Attributes:
        machine: path of its file, or the name of one that comes with grouser.
        frame: link whose x-z plane the tip moves in: ``reach`` along x, ``height`` along z, ``attitude`` about -y.
        link: that carries the tip.
        point: the tip in the frame of `link` [m].
        functions: valve -> the cylinder that it moves.
        directions: that levers move, in this order: ``reach``, ``height``, ``attitude``; the others are left free.
    """

    machine: str
    frame: str
    link: str
    point: tuple[float, float, float]
    functions: Mapping[str, TipFunction]
    directions: tuple[str, ...] = TIP_DIRECTIONS


@dataclass(frozen=True)
class ControlMapping:
    """Functions of a joystick's levers and buttons: a control pattern such as ISO or SAE.

    Attributes:
        levers: of all modes.
        dead_man_button: enables motion while it is held.
        emergency_stop_button: stops the machine; None: not mapped.
        modes: names, and the buttons that select them; the first one is initially selected. Empty: a single mode.
        speed_ranges: names, and factors of full deflection in (0, 1], ascending; at least one.
        first_range: index of the initial speed range.
        slower_button, faster_button: select the next speed range; None: not mapped.
        tip: that levers of the kind ``tip`` move; None: none.
    """

    levers: tuple[Lever, ...]
    dead_man_button: int
    emergency_stop_button: int | None = None
    modes: tuple[tuple[str, int], ...] = ()
    speed_ranges: tuple[tuple[str, float], ...] = (("full", 1.0),)
    first_range: int = 0
    slower_button: int | None = None
    faster_button: int | None = None
    tip: TipControl | None = None

    @property
    def control_buttons(self) -> tuple[int, ...]:
        """Buttons that are not part of a lever."""
        single = (self.dead_man_button, self.emergency_stop_button, self.slower_button, self.faster_button)
        return (*(button for button in single if button is not None), *(button for _, button in self.modes))

    def check(self, axes: Sequence[float], buttons: Sequence[int]) -> None:
        """Checks joystick input before it is used.

        Raises:
            ParameterError: there are fewer axes or buttons than the mapping needs, an axis is not a number in [-1, 1],
                or a button is neither 0 nor 1.
        """
        last_axis = max((lever.axis for lever in self.levers if lever.axis is not None), default=-1)
        last_button = max(*self.control_buttons, *(button for lever in self.levers for button in lever.buttons), -1)
        for name, values, last in (("axes", axes, last_axis), ("buttons", buttons, last_button)):
            if len(values) <= last:
                raise ParameterError(f"length of {name}", len(values), f"at least {last + 1}, which the pattern needs")
        for index, value in enumerate(axes):
            if not abs(value) <= 1.0 + _BEYOND_ONE:  # NaN is refused too
                raise ParameterError(f"axes[{index}]", value, "a finite number in [-1, 1]")
        for index, button in enumerate(buttons):
            if button not in (0, 1):
                raise ParameterError(f"buttons[{index}]", button, "0 or 1")
