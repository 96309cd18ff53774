"""The services of `simulation_interfaces`, where they are offered: every supported feature answers as specified."""

import itertools
from collections.abc import Sequence
from typing import Any

from grouser.conformance import standard
from grouser.conformance.checks_spawning import check_spawning
from grouser.conformance.client import interface
from grouser.conformance.report import Section
from grouser.conformance.stepping import Step, check_steps, hear_time
from grouser.conformance.subject import Subject

_NOBODY = "no_such_entity"
_STEPS = 7


def check_interfaces(subject: Subject, section: Section) -> None:
    """Requests features, states, entities and steps."""
    offered = subject.control.interfaces
    if not offered:
        section.absent("services", standard.SIMULATION_INTERFACES)
        return
    if interface(f"{standard.SIMULATION_INTERFACES}/Result") is None:
        section.skip("services", "answers", f"{standard.SIMULATION_INTERFACES} is not installed here")
        return
    strange = sorted(name for name in offered.values() if not name.startswith(f"{subject.offer.node}/"))
    section.check("names", "under the node's name", ", ".join(strange) or "so", not strange)
    runs = subject.watch()  # It may be starting before that.
    features = _check_features(subject, section)
    if not runs:
        section.skip("entities and states", "as they are", f"no time received: {subject.silence}")
        return
    _check_entities(subject, section)
    if {"GetSimulationState", "SetSimulationState"} <= set(offered):
        _check_states(subject, section, features)
    else:
        section.absent("state", "can be read and set")
    check_spawning(subject, section, features)


def _check_features(subject: Subject, section: Section) -> set[str]:
    answer, refusal = subject.control.request("GetSimulatorFeatures")
    if answer is None:
        section.check("GetSimulatorFeatures", "an answer", refusal, False)
        return set()
    kind = type(answer.features)
    names = {getattr(kind, name): name for name in standard.FEATURES if hasattr(kind, name)}
    listed = {names.get(feature, str(feature)) for feature in answer.features.features}
    empty = sorted(
        feature for feature in listed if standard.FEATURES.get(feature, "") not in subject.control.interfaces
    )
    section.check("features", "only what is offered", ", ".join(empty) or f"{len(listed)} offered", not empty)
    unsupported = _result_kind().RESULT_FEATURE_UNSUPPORTED
    for service in standard.GETTERS:
        if any(standard.FEATURES[feature] == service for feature in listed if feature in standard.FEATURES):
            answer, refusal = subject.control.request(service)
            answered = answer is not None and answer.result.result != unsupported
            section.check(f"{service}: answer", "supported as it is listed", refusal or "so", answered)
    return listed


def _check_entities(subject: Subject, section: Section) -> None:
    if "GetEntities" in subject.control.interfaces:
        answer, refusal = subject.control.request("GetEntities")
        section.check("GetEntities", "result OK", refusal or f"{len(answer.entities)} entities", not refusal)
    for service in standard.ABOUT_ENTITIES:
        if service in subject.control.interfaces:
            answer, refusal = subject.control.request(service, entity=_NOBODY)
            refused = answer is not None and answer.result.result == _result_kind().RESULT_NOT_FOUND
            section.check(f"{service}: {_NOBODY}", "result NOT_FOUND", refusal or "result OK", refused)


def _check_states(subject: Subject, section: Section, features: set[str]) -> None:
    """Plays, pauses, steps and resets."""
    state = interface(f"{standard.SIMULATION_INTERFACES}/SimulationState")
    control, result = subject.control, _result_kind()

    def set_state(value: int) -> tuple[Any, str]:
        return control.request("SetSimulationState", state=state(state=value))

    def check_state(label: str, value: int) -> None:
        answer, refusal = control.request("GetSimulationState")
        seen = refusal or str(answer.state.state)
        section.check(label, f"state {value}", seen, seen == str(value))

    control.pause(False)
    check_state("state while running", state.STATE_PLAYING)
    if "StepSimulation" in control.interfaces:
        answer, refusal = control.request("StepSimulation", steps=1)
        # The service fails, and the result has the code of a wrong state.
        refused = answer is not None and answer.result.result in (
            result.RESULT_OPERATION_FAILED,
            result.RESULT_INCORRECT_STATE,
        )
        section.check("StepSimulation while running", "result 4 or 3", refusal or "result OK", refused)
    if "SIMULATION_STATE_PAUSE" not in features:
        section.absent("pausing", "SIMULATION_STATE_PAUSE")
        return
    _, refusal = set_state(state.STATE_PAUSED)
    section.check("pausing", "result OK", refusal or "result OK", not refusal)
    check_state("state while paused", state.STATE_PAUSED)
    answer, refusal = set_state(state.STATE_PAUSED)
    already = interface(f"{standard.SIMULATION_INTERFACES}/srv/SetSimulationState").Response.ALREADY_IN_TARGET_STATE
    same = answer is not None and answer.result.result == already
    section.check("pausing once more", f"result {already}", refusal or "result OK", same)
    if "StepSimulation" in control.interfaces:
        hear_time(subject, lambda: control.request("StepSimulation", steps=1)[1])
        _check_steps(subject, section, "StepSimulation", lambda: control.request("StepSimulation", steps=_STEPS)[1])
    if "SimulateSteps" in control.interfaces:
        _check_steps(subject, section, "SimulateSteps", lambda: _act(subject, section))
    if "ResetSimulation" in control.interfaces and "SIMULATION_RESET_STATE" in features:
        scope = interface(f"{standard.SIMULATION_INTERFACES}/srv/ResetSimulation").Request.SCOPE_STATE
        before = subject.now
        _, refusal = control.request("ResetSimulation", scope=scope)
        subject.settle()
        clock = subject.stream("/clock")
        back = clock is not None and clock.recording.time < before
        seen = refusal or ("time goes back" if back else "result OK")
        section.check("ResetSimulation of the state", "result OK, time advances", seen, not refusal and not back)
    _, refusal = set_state(state.STATE_PLAYING)
    section.check("resume", "result OK", refusal or "result OK", not refusal)
    check_state("state after it", state.STATE_PLAYING)


def _check_steps(subject: Subject, section: Section, service: str, step: Step) -> None:
    check_steps(subject, section, f"{service}: {_STEPS} steps", _STEPS, step)


def _act(subject: Subject, section: Section) -> str:
    """Steps by the action and checks its feedback; returns the error message."""
    kind = interface(f"{standard.SIMULATION_INTERFACES}/action/SimulateSteps")
    name = subject.control.interfaces["SimulateSteps"]
    outcome = subject.client.act(name, kind, kind.Goal(steps=_STEPS), lambda last: last.remaining_steps == 0)
    if outcome is None:
        return "no result"
    result, feedback = outcome
    _check_feedback(section, [(one.completed_steps, one.remaining_steps) for one in feedback])
    code = result.result
    return "" if code.result == type(code).RESULT_OK else f"result {code.result}: {code.error_message}"


def _check_feedback(section: Section, feedback: Sequence[tuple[int, int]]) -> None:
    """Checks that the feedback counts up to all steps."""
    label, expected = "SimulateSteps: feedback", f"up to {_STEPS} completed, 0 remain"
    if not feedback:
        section.check(label, expected, "none", False)
        return
    grows = all(before < after for (before, _), (after, _) in itertools.pairwise(feedback))
    adds_up = all(completed + remaining == _STEPS for completed, remaining in feedback)
    section.check(
        label,
        expected,
        f"{feedback[-1][0]} completed, {feedback[-1][1]} remain",
        grows and adds_up and feedback[-1][1] == 0,
    )


def _result_kind() -> Any:
    """The message class of results, which is installed."""
    return interface(f"{standard.SIMULATION_INTERFACES}/Result")
