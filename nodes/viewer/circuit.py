"""What is in the hydraulic circuit now, as a browser shows it."""

from collections.abc import Mapping
from typing import Any

from grouser.nodes.viewer.values import Values

_BAR = 1e5  # [Pa]
_LITRES_PER_MINUTE = 1e-3 / 60.0  # [m3/s]


def shown_circuit(circuit: Values, hydraulics: Values) -> dict[str, Any] | None:
    """What a browser shows of a circuit; None where nothing has been heard of it.

    Args:
        circuit: what `hydraulics/circuit` says.
        hydraulics: what `hydraulics/state` says.

    Returns:
        ``lines``: pressure [bar] and flow [l/min] of each line; ``ports``: flow into each port [l/min]; ``spools``:
        position of each spool [-]; ``flows``: of each pump, cylinder and motor [l/min].
    """
    if not circuit:
        return None
    through = _litres(circuit.get("flow", {}))
    return {
        "lines": {
            line: [round(value / _BAR, 1), through.get(line, 0.0)]
            for line, value in circuit.get("pressure", {}).items()
        },
        "ports": {port: flow for port, flow in _litres(circuit.get("port_flow", {})).items() if flow},
        "spools": {valve: round(value, 3) for valve, value in circuit.get("spool_position", {}).items()},
        "flows": _litres({name: values["flow"] for name, values in hydraulics.items() if "flow" in values}),
    }


def _litres(flows: Mapping[str, float]) -> dict[str, float]:
    """Flows in l/min, to a tenth."""
    return {name: round(flow / _LITRES_PER_MINUTE, 1) for name, flow in flows.items()}
