"""Actions whose goals take long: nobody waits for their end."""

from rclpy.action import ActionServer


class DeferredActionServer(ActionServer):
    """An action server whose goals are under way from their `execute` on, without a callback that waits for their end.

    Whoever ends a goal hands the callback that says so to `notify_execute`, from any thread.
    """

    def notify_execute(self, goal_handle, execute_callback):
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)
