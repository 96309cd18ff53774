"""What a bridge counts."""

from collections import Counter
from dataclasses import dataclass, field

from grouser.bridges.histogram import Histogram


@dataclass
class InputFigures:
    """Counts of an incoming message.

    Attributes:
        valid: messages that passed every rule.
        obeyed: those whose commands went to the plant.
        refused: reason -> number.
        errors: messages with an error code on a used field.
        lost: that the counter shows as lost.
        safe_entries: how often the link fell while live.
        longest_hold: longest time from the last valid message to the safe state, of a live link [s].
    """

    valid: int = 0
    obeyed: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    lost: int = 0
    safe_entries: int = 0
    longest_hold: float = 0.0


@dataclass
class OutputFigures:
    """Counts of an outgoing message.

    Attributes:
        sent: messages.
        stopped: those that could not go: closed, or with a value that is no number.
        held: values held at the border of their range.
        skipped: sending times that passed while the bridge was late.
    """

    sent: int = 0
    stopped: int = 0
    held: int = 0
    skipped: int = 0


@dataclass
class BridgeFigures:
    """Counts of a bridge.

    Attributes:
        inputs, outputs: by name of the message.
        strangers: refused bytes of no known message: reason -> number.
        event_to_command: from the arrival of an obeyed message until its commands were handed to the plant [s].
        measurement_to_sent: from taking the measurements of due messages until these were handed to the transport [s].
        lateness: of the timer [s].
    """

    inputs: dict[str, InputFigures]
    outputs: dict[str, OutputFigures]
    strangers: Counter[str] = field(default_factory=Counter)
    event_to_command: Histogram = field(default_factory=Histogram)
    measurement_to_sent: Histogram = field(default_factory=Histogram)
    lateness: Histogram = field(default_factory=Histogram)
