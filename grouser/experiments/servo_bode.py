"""Frequency response of a servo drive with compensator and torque feedback (Mikhailova, 2004)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from grouser.experiments.drawing import Reference, draw_reference
from grouser.experiments.protocol import Result
from grouser.experiments.servo_parameters import SERVO, read_loop
from grouser.studies.servo.frequency_response import frequency_response

DESCRIPTION = "frequency response of a servo drive with torque feedback (Mikhailova, 2004)"

PARAMETERS = dict(SERVO)

_UNITS = {
    "frequency": "rad/s",
    "magnitude_db": "dB",
    "phase_deg": "deg",
    "dc_gain": "-",
    "crossover_frequency": "rad/s",
    "phase_margin_deg": "deg",
    "phase_crossover_frequency": "rad/s",
    "gain_margin_db": "dB",
    "max_real_closed_loop_pole": "1/s",
    "margins_hold": "-",
}
REFERENCE = {"frequency": "frequency", "magnitude_db": "magnitude_db", "phase_deg": "phase_deg"}


def run(**parameters: Any) -> Result:
    """Opens the loop behind the angle's sensor.

    Returns:
        Magnitude and phase over frequency, gain at rest, crossover frequency and phase margin, the frequency at which
        the phase is -180 degrees and the gain margin there, the real part of the rightmost pole of the closed loop,
        and `margins_hold`: false where the open loop is unstable, and margins have no meaning. Missing figures are
        None: a margin without a crossing, and the gain at rest of an integrating loop.
    """
    response = frequency_response(read_loop(parameters))
    results = {name: getattr(response, name) for name in _UNITS}
    return Result({name: value if np.all(np.isfinite(value)) else None for name, value in results.items()}, _UNITS)


def response_panels(figure: Any) -> tuple[Any, Any]:
    """Panels of a matplotlib figure for magnitude [dB] and phase [deg] over frequency, with reference lines."""
    upper, lower = figure.subplots(2, 1, sharex=True)
    for panel, label, level in ((upper, "magnitude [dB]", 0.0), (lower, "phase [deg]", -180.0)):
        panel.set_xscale("log")
        panel.axhline(level, color="black", linewidth=0.8)
        panel.set_ylabel(label)
        panel.grid(alpha=0.3, which="both")
    lower.set_xlabel("angular frequency [rad/s]")
    return upper, lower


def plot(parameters: Mapping[str, Any], result: Result, figure: Any, reference: Reference) -> None:
    """Draws magnitude and phase over frequency, with the crossings."""
    upper, lower = response_panels(figure)
    for panel, curve in ((upper, "magnitude_db"), (lower, "phase_deg")):
        panel.plot(result["frequency"], result[curve], label="open loop")
        draw_reference(panel, reference, "frequency", curve)
        for crossing, dashes in (("crossover_frequency", "--"), ("phase_crossover_frequency", ":")):
            if result[crossing] is not None:
                name = crossing.replace("_", " ")
                panel.axvline(result[crossing], color="grey", linestyle=dashes, linewidth=1.2, label=name)
        panel.legend(fontsize="small")
    words = []
    if result["phase_margin_deg"] is not None:
        words.append(f"phase margin {result['phase_margin_deg']:.1f} deg")
    if result["gain_margin_db"] is not None:
        words.append(f"gain margin {result['gain_margin_db']:.1f} dB")
    if not result["margins_hold"]:
        words = ["the open loop is unstable: margins have no meaning"]
    figure.suptitle("servo drive, open loop: " + ", ".join(words))
