"""Parameters: described, with their ranges; a bad value is refused with a reason."""

from rcl_interfaces.msg import ParameterType

from grouser.conformance import standard
from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

_NUMBERS = (ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_INTEGER)
_PATIENCE = "cmd_vel_timeout"
_IMPOSSIBLE = -1.0  # [s]


def check_parameters(subject: Subject, section: Section) -> None:
    """Checks the descriptors of the parameters of the interface."""
    wanted = (*standard.PARAMETERS, standard.STEP, standard.STAMPED_TWIST)
    names = [name for name in wanted if name in subject.own_parameters]
    for name in sorted(set(wanted) - set(names)):
        default = standard.PARAMETERS.get(name)
        section.absent(name, "a parameter", "not declared" + ("" if default is None else f": {default} holds"))
    described = subject.client.descriptors(subject.offer.node, names)
    bare = [entry.name for entry in described if not entry.description]
    section.check("descriptions", "of each", f"not: {', '.join(bare)}" if bare else f"of {len(names)}", not bare)
    boundless = [
        entry.name
        for entry in described
        if entry.type in _NUMBERS and not (entry.floating_point_range or entry.integer_range)
    ]
    seen = f"not: {', '.join(boundless)}" if boundless else "so"
    section.check("ranges", "of each number", seen, not boundless)
    if subject.passive or _PATIENCE not in names:
        return
    before = subject.client.parameters(subject.offer.node, [_PATIENCE])
    answer = subject.client.set_parameter(subject.offer.node, _PATIENCE, _IMPOSSIBLE)
    after = subject.client.parameters(subject.offer.node, [_PATIENCE])
    if answer.successful:
        subject.client.set_parameter(subject.offer.node, _PATIENCE, before[_PATIENCE])
    refused = not answer.successful and bool(answer.reason) and before == after
    section.check(f"{_PATIENCE} of {_IMPOSSIBLE:g}", "refused, with a reason", answer.reason or "accepted", refused)
