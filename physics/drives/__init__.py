"""Servo drives of joints: controllers, motors, gears, and their springs in a step."""
