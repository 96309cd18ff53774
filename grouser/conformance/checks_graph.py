"""The ROS graph: topics, services and actions, their types, the publishers' quality of service."""

from grouser.conformance import standard
from grouser.conformance.report import Section
from grouser.conformance.subject import Subject

# Discovery is asynchronous: the endpoints of a node may become known some time after the node [s].
_DISCOVERY = 2.0


def check_graph(subject: Subject, section: Section) -> None:
    """Compares the graph with the tables of `standard`."""
    subject.client.until(lambda: _all_discovered(subject), _DISCOVERY)
    for output in standard.OUTPUTS:
        _check_output(subject, section, output)
    clocks = len(subject.offer.publishers("/clock"))
    section.check("/clock: publishers", "1", str(clocks), clocks == 1)
    for entry in standard.INPUTS:
        _check_input(subject, section, entry)
    services = subject.offer.services()
    for call in standard.SERVICES:
        dispensable = call.instead in subject.control.interfaces
        _check_call(subject, section, call, services.get(subject.offer.full(call.name)), dispensable)
    actions = subject.offer.actions()
    for call in standard.ACTIONS:
        _check_call(subject, section, call, actions.get(subject.offer.full(call.name)), False)


def _all_discovered(subject: Subject) -> bool:
    """Whether each required topic has a publisher or a subscriber of the simulator."""
    outputs = (subject.offer.topics(output) for output in standard.OUTPUTS if needed(subject, output.needs))
    inputs = (
        subject.offer.own_subscribers(subject.offer.full(entry.name))
        for entry in standard.INPUTS
        if needed(subject, entry.needs)
    )
    return all(outputs) and all(inputs)


def needed(subject: Subject, needs: str) -> bool:
    """Whether a row of `standard` is required; without a description only the rows for every machine are."""
    return needs == standard.EVERY_MACHINE if subject.description is None else subject.description.has(needs)


def _check_output(subject: Subject, section: Section, output: standard.Output) -> None:
    topics = subject.offer.topics(output)
    if not topics:
        if needed(subject, output.needs):
            section.check(f"{output.name}: type", output.type, "no publisher", False)
        else:
            section.absent(f"{output.name}: type", output.type)
        return
    publishers = [publisher for topic in topics for publisher in subject.offer.own_publishers(topic)]
    several = len(topics) > 1 or output.name.startswith("/")
    name = output.name if several else subject.offer.short(topics[0])
    many = f" ({len(topics)} topics)" if len(topics) > 1 else ""
    types = sorted({publisher.type for publisher in publishers})
    section.check(f"{name}: type", output.type, " ".join(types) + many, types == [output.type])
    qualities = sorted({f"{publisher.reliability}, {publisher.durability}" for publisher in publishers})
    quality = f"{output.reliability}, {output.durability}"
    section.check(f"{name}: QoS", quality, "; ".join(qualities), qualities == [quality])


def _check_input(subject: Subject, section: Section, entry: standard.Input) -> None:
    subscribers = subject.offer.own_subscribers(subject.offer.full(entry.name))
    valid = entry.types
    if len(valid) > 1 and standard.STAMPED_TWIST in subject.own_parameters:
        valid = valid[:1] if subject.parameters[standard.STAMPED_TWIST] else valid[1:]
    expected = " or ".join(valid)
    if not subscribers and not needed(subject, entry.needs):
        section.absent(f"{entry.name}: type", expected)
        return
    types = sorted({subscriber.type for subscriber in subscribers})
    seen = " ".join(types) or "no subscriber"
    section.check(f"{entry.name}: type", expected, seen, len(types) == 1 and types[0] in valid)
    durabilities = sorted({subscriber.durability for subscriber in subscribers})
    if subscribers:  # one that asks for earlier messages does not match ordinary publishers
        expected = standard.VOLATILE
        section.check(f"{entry.name}: QoS", expected, ", ".join(durabilities), expected in durabilities)


def _check_call(subject: Subject, section: Section, call: standard.Call, kind: str | None, dispensable: bool) -> None:
    if kind is not None or (needed(subject, call.needs) and not dispensable):
        section.check(f"{call.name}: type", call.type, kind or "not offered", kind == call.type)
    else:
        section.absent(f"{call.name}: type", call.type)
