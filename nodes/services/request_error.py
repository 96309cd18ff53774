"""Errors of requests, with the result codes of `simulation_interfaces`."""

from enum import Enum


class Reason(Enum):
    """Names of result codes; their numbers are in the messages of each service."""

    FEATURE_UNSUPPORTED = "RESULT_FEATURE_UNSUPPORTED"
    NOT_FOUND = "RESULT_NOT_FOUND"
    INCORRECT_STATE = "RESULT_INCORRECT_STATE"
    OPERATION_FAILED = "RESULT_OPERATION_FAILED"
    ALREADY_IN_TARGET_STATE = "ALREADY_IN_TARGET_STATE"
    INCORRECT_TRANSITION = "INCORRECT_TRANSITION"
    INVALID_POSE = "INVALID_POSE"
    NAME_NOT_UNIQUE = "NAME_NOT_UNIQUE"
    NAME_INVALID = "NAME_INVALID"
    NAMESPACE_INVALID = "NAMESPACE_INVALID"
    NO_RESOURCE = "NO_RESOURCE"
    UNSUPPORTED_FORMAT = "UNSUPPORTED_FORMAT"
    RESOURCE_PARSE_ERROR = "RESOURCE_PARSE_ERROR"
    MISSING_ASSETS = "MISSING_ASSETS"
    UNSUPPORTED_ASSETS = "UNSUPPORTED_ASSETS"
    UNSUPPORTED_ELEMENTS = "UNSUPPORTED_ELEMENTS"
    ENTITIES_SPAWN_FAILED = "ENTITIES_SPAWN_FAILED"
    NO_WORLD_LOADED = "NO_WORLD_LOADED"
    DEFAULT_SOURCES_FAILED = "DEFAULT_SOURCES_FAILED"


class RequestError(Exception):
    """A refused request; nothing has changed.

    Args:
        reason: its result code.
        text: explanation for the user.
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason
