"""A bridge's links, counts and latencies as diagnostics."""

from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from grouser.bridges.figures import InputFigures, OutputFigures
from grouser.bridges.histogram import Distribution, Histogram
from grouser.bridges.link import LinkState
from grouser.bridges.runner import BridgeRunner
from grouser.nodes.shared.scheduling import scheduling_values

_LEVELS = {
    LinkState.ABSENT: DiagnosticStatus.WARN,
    LinkState.CHECKING: DiagnosticStatus.WARN,
    LinkState.LIVE: DiagnosticStatus.OK,
    LinkState.STALE: DiagnosticStatus.ERROR,
    LinkState.LATCHED: DiagnosticStatus.ERROR,
}


def state_message(name: str, runner: BridgeRunner) -> DiagnosticArray:
    """States alone: of the transport and of every link; for the latched topic."""
    return DiagnosticArray(status=[_transport(name, runner), *_links(name, runner, {})])


def diagnostics_message(name: str, runner: BridgeRunner) -> DiagnosticArray:
    """States, counts and latencies.

    Args:
        name: of the node; the statuses are called `<name>: transport`, `<name>: <message>` and `<name>: timing`.
        runner: of the bridge.
    """
    figures = runner.bridge.figures
    links = _links(name, runner, {message: _input_values(one) for message, one in figures.inputs.items()})
    outputs = [
        _status(f"{name}: {message}", DiagnosticStatus.OK, "outgoing", _output_values(one))
        for message, one in figures.outputs.items()
    ]
    return DiagnosticArray(status=[_transport(name, runner), *links, *outputs, _timing(name, runner)])


def _transport(name: str, runner: BridgeRunner) -> DiagnosticStatus:
    state, strangers = runner.transport.state, runner.bridge.figures.strangers
    level = DiagnosticStatus.OK if state.is_open else DiagnosticStatus.ERROR
    values = {
        "openings": str(state.openings),
        **runner.transport.facts,
        **{f"refused: {reason}": str(count) for reason, count in sorted(strangers.items())},
        **{f"injected: {fault}": str(count) for fault, count in sorted(runner.faults.injected.items())},
    }
    return _status(f"{name}: transport", level, "open" if state.is_open else state.reason or "not open yet", values)


def _links(name: str, runner: BridgeRunner, values: Mapping[str, Mapping[str, str]]) -> list[DiagnosticStatus]:
    reasons = runner.bridge.reasons
    statuses = []
    for message, state in runner.bridge.states.items():
        fell = state in (LinkState.STALE, LinkState.LATCHED)
        contest = runner.bridge.contested.get(message, "")
        reason = contest or (reasons.get(message, "") if fell else "")
        level = DiagnosticStatus.ERROR if contest else _LEVELS[state]
        text = f"{state.value}: {reason}" if fell or contest else state.value
        statuses.append(_status(f"{name}: {message}", level, text, values.get(message, {})))
    return statuses


def _input_values(figures: InputFigures) -> dict[str, str]:
    return {
        "valid": str(figures.valid),
        "obeyed": str(figures.obeyed),
        "lost": str(figures.lost),
        "errors": str(figures.errors),
        "safe_entries": str(figures.safe_entries),
        "longest_hold [s]": f"{figures.longest_hold:.4f}",
        **{f"refused: {reason}": str(count) for reason, count in sorted(figures.refused.items())},
    }


def _output_values(figures: OutputFigures) -> dict[str, str]:
    return {
        "sent": str(figures.sent),
        "stopped": str(figures.stopped),
        "held_at_border": str(figures.held),
        "skipped": str(figures.skipped),
    }


def _timing(name: str, runner: BridgeRunner) -> DiagnosticStatus:
    values = {
        **_latency("event_to_command", runner.bridge.figures.event_to_command),
        **_latency("measurement_to_sent", runner.bridge.figures.measurement_to_sent),
        **_latency("lateness", runner.bridge.figures.lateness),
    }
    granted = runner.granted
    refusals = () if granted is None else granted.refusals
    level = DiagnosticStatus.WARN if refusals else DiagnosticStatus.OK
    values |= scheduling_values(runner.scheduling, granted)
    return _status(f"{name}: timing", level, "; ".join(refusals), values)


def _latency(name: str, histogram: Histogram) -> dict[str, str]:
    figures = histogram.distribution()
    return {
        f"{name}_p50 [s]": f"{figures.p50:.3e}",
        f"{name}_p99 [s]": f"{figures.p99:.3e}",
        f"{name}_max [s]": f"{figures.largest:.3e}",
        f"{name}_histogram": histogram_text(figures),
    }


def histogram_text(figures: Distribution) -> str:
    """The classes that are not empty, each as its upper edge [s] and its count: ``<2e-04: 31``."""
    edges = (*(f"<{edge:.0e}" for edge in figures.edges), f">={figures.edges[-1]:.0e}")
    return " ".join(f"{edge}: {count}" for edge, count in zip(edges, figures.counts, strict=True) if count)


def _status(name: str, level: bytes, message: str, values: Mapping[str, str]) -> DiagnosticStatus:
    pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
    return DiagnosticStatus(name=name, hardware_id="grouser", level=level, message=message, values=pairs)
