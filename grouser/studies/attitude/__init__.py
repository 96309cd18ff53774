"""Attitude dynamics of rigid bodies: integrators that keep their structure, and those that they are compared with."""
