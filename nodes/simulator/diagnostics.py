"""The simulator's diagnostics: a report of the physics thread as a message."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from grouser.nodes.shared.messages import set_stamp
from grouser.nodes.shared.scheduling import PacedScheduling, scheduling_values
from grouser.runtime.report import LoopReport

KEPT_REAL_TIME = 0.98  # share of the wanted real-time factor below which the simulation counts as slow


def diagnostics_message(
    name: str,
    report: LoopReport | str,
    wanted_factor: float,
    refused_commands: int,
    scheduling: PacedScheduling,
) -> DiagnosticArray:
    """Five statuses: pace, solver, energy, commands and timing; of dug soil, a recording and a replay one more each.

    Args:
        name: of the node; the statuses are called `<name>: pace` and so on.
        report: of the physics thread; a text that says why there is none.
        wanted_factor: wanted real-time factor; 0: as fast as possible.
        refused_commands: number of commands refused by the node and by the simulation.
        scheduling: of the physics thread: asked and got.
    """
    if isinstance(report, str):
        waiting = DiagnosticStatus(name=f"{name}: pace", level=DiagnosticStatus.OK, message=report)
        return DiagnosticArray(status=[waiting])
    message = DiagnosticArray(
        status=[
            _pace(name, report, wanted_factor),
            _solver(name, report),
            _energy(name, report),
            _commands(name, report, refused_commands),
            _timing(name, report, scheduling),
        ]
    )
    if report.soil is not None:
        message.status = [*message.status, _soil(name, report.soil)]
    if report.recording is not None:
        message.status = [*message.status, _recording(name, report.recording)]
    if report.replay is not None:
        message.status = [*message.status, _replay(name, report.replay)]
    set_stamp(message.header.stamp, round(report.time * 1e9))
    return message


def _status(name, level, message, values):
    pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
    return DiagnosticStatus(name=name, hardware_id="grouser", level=level, message=message, values=pairs)


def _pace(name, report, wanted_factor):
    level, message = DiagnosticStatus.OK, "in real time"
    if report.failure:
        level, message = DiagnosticStatus.ERROR, report.failure
    elif not report.active:
        message = "inactive"
    elif report.paused:
        message = "paused"
    elif report.real_time_factor < KEPT_REAL_TIME * wanted_factor:
        level, message = DiagnosticStatus.WARN, "slower than wanted"
    values = {
        "real_time_factor": f"{report.real_time_factor:.3f}",
        "overruns": str(report.overruns),
        "dropped_samples": str(report.dropped_samples),
        "step_time_p50 [s]": f"{report.step_time_median:.3e}",
        "step_time_p99 [s]": f"{report.step_time_p99:.3e}",
        "step_time_max [s]": f"{report.step_time_max:.3e}",
    }
    return _status(f"{name}: pace", level, message, values)


def _solver(name, report):
    values = {
        "residual [m/s]": f"{report.residual:.3e}",
        "residual_max [m/s]": f"{report.residual_max:.3e}",
        "unsettled_steps": str(report.unsettled_steps),
        "iterations": str(report.iterations),
        "iterations_max": str(report.iterations_max),
        "contacts": str(report.contact_count),
    }
    return _status(f"{name}: solver", DiagnosticStatus.OK, "", values)


def _energy(name, report):
    """Present energy of the machine, and balances of machine and oil since the start."""
    own = {
        "kinetic": report.kinetic_energy,
        "potential": report.potential_energy,
        "elastic": report.elastic_energy,
        "actuator_work": report.actuator_work,
        "dissipation": report.dissipation,
        "balance_residual": report.balance_residual,
    }
    oil = {f"oil_{account}": amount for account, amount in report.hydraulic_energy.items()}
    values = {f"{account} [J]": f"{amount:.6g}" for account, amount in {**own, **oil}.items()}
    return _status(f"{name}: energy", DiagnosticStatus.OK, "", values)


def _soil(name, soil):
    """Balance of the solid mass of soil."""
    accounts = ("field", "carried", "falling", "lumps", "departed", "displaced", "residual")
    values = {f"{account} [kg]": getattr(soil, account) for account in accounts}
    values["relative_residual"] = soil.relative_residual
    shown = {account: f"{amount:.6g}" for account, amount in values.items()}
    return _status(f"{name}: soil", DiagnosticStatus.OK, "", shown)


def _commands(name, report, refused_commands):
    level, message = DiagnosticStatus.OK, ""
    if report.emergency_stop:
        level, message = DiagnosticStatus.WARN, "emergency stop"
    elif report.silent_sources:
        level, message = DiagnosticStatus.WARN, f"silent: {', '.join(report.silent_sources)}"
    values = {
        "refused_commands": str(refused_commands),
        "watchdog_trips": str(report.watchdog_trips),
        "silent_sources": ", ".join(report.silent_sources),
        "late_commands": str(sum(report.late_commands.values())),
        "late_sources": ", ".join(f"{source} ({count})" for source, count in report.late_commands.items()),
        "emergency_stop": str(report.emergency_stop).lower(),
        "program": report.program,
    }
    return _status(f"{name}: commands", level, message, values)


def _recording(name, recording):
    level, message = DiagnosticStatus.OK, "complete so far"
    if recording.problem:
        level, message = DiagnosticStatus.ERROR, f"incomplete: {recording.problem}"
    values = {"file": recording.file, "recorded [s]": f"{recording.seconds:.3f}"}
    return _status(f"{name}: recording", level, message, values)


def _replay(name, replay):
    level, message = DiagnosticStatus.OK, "the same to the last bit"
    if replay.difference:
        level, message = DiagnosticStatus.ERROR, replay.difference
    elif replay.problem:
        level, message = DiagnosticStatus.WARN, f"incomplete: {replay.problem}"
    values = {
        "end [s]": f"{replay.end:.6f}",
        "backward": str(replay.backward).lower(),
        "compared": str(replay.compared),
        "memory [bytes]": str(replay.memory),
    }
    return _status(f"{name}: replay", level, message, values)


def _timing(name, report, scheduling):
    refusals = () if scheduling.granted is None else scheduling.granted.refusals
    level = DiagnosticStatus.WARN if refusals else DiagnosticStatus.OK
    values = {
        "command_to_force_p50 [s]": f"{report.command_to_force_p50:.3e}",
        "command_to_force_p99 [s]": f"{report.command_to_force_p99:.3e}",
        "command_to_force_max [s]": f"{report.command_to_force_max:.3e}",
        **scheduling_values(scheduling.asked, scheduling.granted),
    }
    return _status(f"{name}: timing", level, "; ".join(refusals), values)
