"""PID: a controller with limits that its integral knows."""

import math
from collections.abc import Sequence
from typing import Any

from grouser.function_blocks.block import LIKE, Block, BlockError, BlockType, Port, refuse_rest, take_number, take_text

_HIGH = 1e12
_KEYS = ("SET", "IN", "AUTO", "gain", "integral_time", "derivative_time", "filter_time", "lowest", "highest", "unit")


class Controller:
    """PID controller with the ideal form, derivative of the measurement and a bounded integral.

    u = gain (e + integral of e / integral_time - derivative_time d IN/dt), e = SET - IN. The derivative is that of the
    measurement, filtered with `filter_time`, so that a new set value gives no kick. The integral stands still while the
    output is at a limit that it would leave further behind (anti-windup by conditional integration). Where AUTO is
    false the output is 0, held within the limits, and the integral is empty.

    Source: K. J. Astrom and T. Hagglund, "PID Controllers: Theory, Design, and Tuning", 2nd edition, ch. 3.

    Args:
        gain: output a unit of error.
        integral_time: [s]; 0: no integral.
        derivative_time: [s].
        filter_time: time constant of the derivative [s].
        lowest, highest: limits of the output.
    """

    def __init__(
        self,
        gain: float,
        integral_time: float,
        derivative_time: float,
        filter_time: float,
        lowest: float,
        highest: float,
    ) -> None:
        self.gain, self.integral_time, self.derivative_time = gain, integral_time, derivative_time
        self.filter_time, self.lowest, self.highest = filter_time, lowest, highest
        self.integral = 0.0
        self.slope = 0.0
        self.before: float | None = None

    def __call__(self, interval: float, wanted: float, measured: float, on: bool) -> tuple[float, float]:
        error = wanted - measured
        if not on:
            self.integral, self.slope, self.before = 0.0, 0.0, None
            return min(max(0.0, self.lowest), self.highest), error
        if self.before is not None and interval > 0.0:
            share = interval / (self.filter_time + interval)
            self.slope += share * ((measured - self.before) / interval - self.slope)
        self.before = measured
        added = error * interval / self.integral_time if self.integral_time > 0.0 else 0.0
        free = self.gain * (error + self.integral + added - self.derivative_time * self.slope)
        output = min(max(free, self.lowest), self.highest)
        if free == output or self.gain * added * (free - output) < 0.0:
            self.integral += added
        return output, error


def _make(parameters: dict[str, Any], _: Sequence[str]) -> Block:
    gain = take_number(parameters, "gain", None, -_HIGH, _HIGH)
    integral, derivative, smoothing = (
        take_number(parameters, f"{kind}_time", 0.0, 0.0, 1e6) for kind in ("integral", "derivative", "filter")
    )
    lowest = take_number(parameters, "lowest", -math.inf, -math.inf, math.inf)
    highest = take_number(parameters, "highest", math.inf, -math.inf, math.inf)
    if lowest > highest:
        raise BlockError(f"lowest is {lowest:g}, above highest, {highest:g}")
    unit = take_text(parameters, "unit", "-")
    refuse_rest(parameters, _KEYS)
    inputs = {"SET": LIKE, "IN": LIKE, "AUTO": Port(truth=True, default=True)}
    outputs = {"OUT": Port(unit=unit), "ERROR": LIKE}
    return Block("PID", inputs, outputs, lambda: Controller(gain, integral, derivative, smoothing, lowest, highest))


BLOCKS = (BlockType("PID", "controller with limits and anti-windup; OUT has the unit `unit`", _KEYS, _make),)
