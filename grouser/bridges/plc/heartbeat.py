"""Heartbeats: a number that a controller's program changes from message to message."""


class Heartbeats:
    """The last heartbeat of each message."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def changed(self, message: str, heartbeat: int | None) -> bool:
        """Takes the heartbeat of a message; returns whether it is another one than before.

        Args:
            message: name of the message.
            heartbeat: its heartbeat; None: the message has none, and counts as changed.
        """
        if heartbeat is None:
            return True
        last = self._last.get(message)
        self._last[message] = heartbeat
        return last is None or last != heartbeat
