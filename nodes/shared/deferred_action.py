"""Action servers without a callback that waits for the end of a goal."""

from rclpy.action import ActionServer


class DeferredActionServer(ActionServer):
    """An action server whose goals are executing from `execute` on, without a callback that waits for their end.

    To end a goal, pass the callback that sets its result to `notify_execute`, from any thread.
    """

    def notify_execute(self, goal_handle, execute_callback):
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)
