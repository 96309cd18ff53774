"""RAMP, LOWPASS, INTEGRAL, DERIVATIVE, HYSTERESIS: of numbers over time."""

from grouser.function_blocks.block import LIKE, SAME, TIME, TRUTH, Port, with_state


class Ramp:
    """OUT follows IN, no faster than RISE upwards and FALL downwards; from IN in the first cycle."""

    def __init__(self) -> None:
        self.value: float | None = None

    def __call__(self, interval: float, wanted: float, rise: float, fall: float) -> tuple[float]:
        if self.value is None:
            self.value = wanted
        change = min(max(wanted - self.value, -abs(fall) * interval), abs(rise) * interval)
        arrived = change == wanted - self.value
        self.value = wanted if arrived else self.value + change  # a sum would be rounded
        return (self.value,)


class LowPass:
    """OUT follows IN with the time constant T, by implicit Euler; from IN in the first cycle."""

    def __init__(self) -> None:
        self.value: float | None = None

    def __call__(self, interval: float, now: float, time: float) -> tuple[float]:
        if self.value is None or time <= 0.0:
            self.value = now
        else:
            self.value += (now - self.value) * interval / (time + interval)
        return (self.value,)


class Integral:
    """OUT is the integral of IN over time by the trapezoidal rule, from 0 again with R."""

    def __init__(self) -> None:
        self.value = 0.0
        self.before: float | None = None

    def __call__(self, interval: float, now: float, reset: bool) -> tuple[float]:
        if reset:
            self.value = 0.0
        elif self.before is not None:
            self.value += 0.5 * interval * (self.before + now)
        self.before = now
        return (self.value,)


class Derivative:
    """OUT is the change of IN over time, filtered with the time constant T; 0 in the first cycle."""

    def __init__(self) -> None:
        self.value = 0.0
        self.before: float | None = None

    def __call__(self, interval: float, now: float, time: float) -> tuple[float]:
        if self.before is not None and interval > 0.0:
            share = interval / (max(time, 0.0) + interval)
            self.value += share * ((now - self.before) / interval - self.value)
        self.before = now
        return (self.value,)


class Hysteresis:
    """Q becomes true above HIGH and false below LOW; between them it stays."""

    def __init__(self) -> None:
        self.state = False

    def __call__(self, _: float, value: float, low: float, high: float) -> tuple[bool]:
        if value > high:
            self.state = True
        elif value < low:
            self.state = False
        return (self.state,)


_RATE, _FILTER = Port(unit=f"{SAME}/s"), Port(unit="s", default=0.0)
BLOCKS = (
    with_state("RAMP", Ramp, {"IN": LIKE, "RISE": _RATE, "FALL": _RATE}, {"OUT": LIKE}),
    with_state("LOWPASS", LowPass, {"IN": LIKE, "T": TIME}, {"OUT": LIKE}),
    with_state(
        "INTEGRAL", Integral, {"IN": LIKE, "R": Port(truth=True, default=False)}, {"OUT": Port(unit=f"{SAME} s")}
    ),
    with_state("DERIVATIVE", Derivative, {"IN": LIKE, "T": _FILTER}, {"OUT": _RATE}),
    with_state("HYSTERESIS", Hysteresis, {"IN": LIKE, "LOW": LIKE, "HIGH": LIKE}, {"Q": TRUTH}),
)
