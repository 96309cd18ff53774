"""The operator node: joystick messages to commands."""
